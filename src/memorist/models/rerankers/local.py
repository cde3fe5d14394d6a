"""Local rerankers: cross-encoders in ONNX folders, and late interaction over token vectors."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memorist.errors import ModelUnavailable
from memorist.models.embedders.local import cores, equal_length_batches
from memorist.models.folder import CHARACTERS_PER_TOKEN, INPUTS, ModelFolder, OnnxGraph
from memorist.text.patterns import lazy
from memorist.text.words import LETTER, STOP_WORDS, UNSPACED, language, words

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

    from memorist.ports import Vector


QUERY_TOKENS = 62
"""As many tokens of a query as in training; of a longer one the last, because a question ends a query."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    graph: OnnxGraph
    tokenizer: Tokenizer
    output: str


class CrossReranker:
    """Reads `[CLS] query [SEP] text [SEP]` and returns a logit: Nogueira and Cho, arXiv:1901.04085.

    The model is in a folder and is loaded on first use; thread-safe. Only pairs with the same number of tokens run in
    one batch, without padding, so the logit of a pair does not depend on the other texts. Queries in an `unread`
    language raise ModelUnavailable, so that the order does not change.
    """

    def __init__(self, folder: ModelFolder, *, unread: Collection[str] = ()) -> None:
        self._folder = folder
        self._unread = unread
        self._lock = Lock()
        self._loaded: _Loaded | None = None

    @classmethod
    def from_folder(cls, path: str | Path, *, unread: Collection[str] = ()) -> CrossReranker:
        """The model in a folder with `model.onnx`, `tokenizer.json` and `model.json`."""
        return cls(ModelFolder(Path(path)), unread=unread)

    @property
    def generation(self) -> str:
        """Model name and checksum prefix."""
        return f"{self._folder.manifest.name}:{self._folder.checksum[:8]}"

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """A logit per text."""
        if not texts:
            return []
        end = query[-QUERY_TOKENS * CHARACTERS_PER_TOKEN :]
        _refuse_unread(language(words(end)), self._unread)
        asked = self._ending(end)
        pairs = [self._load().tokenizer.encode(asked, self._folder.cut(text)) for text in texts]
        logits = [0.0] * len(texts)
        batches = equal_length_batches([len(one.ids) for one in pairs], self._folder.manifest.tokens_per_batch)
        with ThreadPoolExecutor(min(cores(), len(batches))) as pool:
            for places, read in zip(batches, pool.map(partial(self._read, pairs), batches), strict=True):
                for place, logit in zip(places, read, strict=True):
                    logits[place] = logit
        return logits

    def _read(self, pairs: Sequence[Encoding], places: Sequence[int]) -> list[float]:
        loaded = self._load()
        ids = np.array([pairs[place].ids for place in places], dtype=np.int64)
        types = np.array([pairs[place].type_ids for place in places], dtype=np.int64)
        scores = loaded.graph.run(loaded.output, dict(zip(INPUTS, (ids, np.ones_like(ids), types), strict=True)))
        return [float(one) for one in scores]

    def _ending(self, query: str) -> str:
        """The end of a query that the model reads."""
        end = self._folder.cut(query)
        read = self._load().tokenizer.encode(end, add_special_tokens=False)
        offsets = [place for part in (read, *read.overflowing) for place in part.offsets]
        return end[offsets[-QUERY_TOKENS][0] :] if len(offsets) > QUERY_TOKENS else end

    def _load(self) -> _Loaded:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = _load(self._folder)
        return self._loaded


def _load(folder: ModelFolder) -> _Loaded:
    graph = folder.open_graph()
    output = folder.manifest.outputs.get("score", "score")
    if output not in graph.outputs:
        raise folder.unusable(f"it has no output {output}, only {', '.join(graph.outputs)}")
    return _Loaded(graph, folder.open_tokenizer(), output)


def _refuse_unread(language: str, unread: Collection[str]) -> None:
    if language in unread:
        raise ModelUnavailable(
            "The local reranker does not read the script of this question",
            remedy="Configure a service such as jina as the reranker, or none.",
        )


States = NDArray[np.floating[Any]]
"""One unit vector per token."""

SLOPE, EVEN = 10.5, 0.89
"""logit = SLOPE · (similarity − EVEN); its σ approximates the probability that a candidate among 30 is an answer.

Fitted by logistic regression on 59,460 candidates from LoCoMo with the packaged model; one in 36 was an answer.
"""


TEXT_CACHE, QUERY_CACHE = 32 * 2**20, 2**20
ENTRY = 200  # bytes of a key and its entry, so that texts without tokens also count
MOST_PIECES = 256

# Splits a text as tokenizers do: at spaces and punctuation, unspaced scripts by character; don't stays whole.
_PIECE = lazy(rf"[{UNSPACED}]|['’](?:s|ll|re|ve|m|d)\b|(?:(?![{UNSPACED}])[{LETTER}])+(?:['’]t\b)?|\S", re.IGNORECASE)


class TokenEmbedder(Protocol):
    """An embedder that supports late interaction."""

    def token_states(self, texts: Sequence[str]) -> list[Vector]:
        """Per text one unit vector for each token."""
        ...


class MaxSimReranker:
    """Late interaction: similarity = mean over the query's tokens of their largest cosine with a token of the text.

    Khattab and Zaharia, ColBERT, SIGIR 2020, but with a mean instead of a sum, so that questions of any length have the
    same scale. Punctuation and stop words in the query do not count. Queries in an `unread` language raise
    ModelUnavailable, so that the order does not change. Caches the token states of recent texts; thread-safe.
    """

    def __init__(self, embedder: TokenEmbedder, *, unread: Collection[str] = (), cache_bytes: int = TEXT_CACHE) -> None:
        self._embedder = embedder
        self._unread = unread
        self._texts = StatesCache(cache_bytes)
        self._queries = StatesCache(QUERY_CACHE)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """A logit per text; 0 for each if no token of the query counts."""
        if not texts:
            return []
        wanted = self._query_states(query)
        if not len(wanted):
            return [0.0] * len(texts)
        return [SLOPE * (max_sim(wanted, states) - EVEN) for states in self._text_states(texts)]

    def _query_states(self, query: str) -> States:
        key = _key(query)
        known = self._queries.known([key])
        if key not in known:
            known[key] = self._read_query(query)
            self._queries.keep(known)
        return known[key]

    def _read_query(self, query: str) -> States:
        pieces = [piece[0] for piece in islice(_PIECE.finditer(query), MOST_PIECES)]
        inside = [_words(piece) for piece in pieces]
        spoken = language(list(chain.from_iterable(inside)))
        _refuse_unread(spoken, self._unread)
        (whole,) = self._embedder.token_states([query])
        # A piece normally has the same number of tokens alone and within the query. If not, because the query was cut
        # or the tokenizer splits it differently, all tokens count.
        counts = counting(inside, STOP_WORDS.get(spoken, frozenset()))
        kept = [count for count, states in zip(counts, self._text_states(pieces), strict=True) for _ in states]
        return whole[np.array(kept, dtype=bool)] if len(kept) == len(whole) else whole

    def _text_states(self, texts: Sequence[str]) -> list[States]:
        by_key = {_key(text): text for text in texts}
        known = self._texts.known(by_key)
        new = {key: text for key, text in by_key.items() if key not in known}
        read = self._embedder.token_states(list(new.values()))
        fresh = {key: states.astype(np.float16) for key, states in zip(new, read, strict=True)}
        self._texts.keep(fresh)
        known.update(fresh)
        return [known[_key(text)] for text in texts]


def max_sim(query: States, text: States) -> float:
    """The mean over the query's rows of the largest product with a row of the text; 0 for a text without rows."""
    if not len(text):
        return 0.0
    return float((query @ text.astype(np.float32).T).max(axis=1).mean())


def counting(pieces: Sequence[Sequence[str]], common: Collection[str]) -> list[bool]:
    """Which pieces of a query, given as words, count: not punctuation; common words only if there are no others."""
    content = [any(word not in common for word in piece) for piece in pieces]
    return content if any(content) else [bool(piece) for piece in pieces]


class StatesCache:
    """An LRU cache of token states, limited by bytes; thread-safe."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = 0
        self._lock = Lock()
        self._states: OrderedDict[bytes, States] = OrderedDict()

    def known(self, keys: Iterable[bytes]) -> dict[bytes, States]:
        """The cached states of these keys."""
        with self._lock:
            found = {key: self._states[key] for key in keys if key in self._states}
            for key in found:
                self._states.move_to_end(key)
            return found

    def keep(self, states: Mapping[bytes, States]) -> None:
        """Add states, and drop the least recently used ones above the limit."""
        with self._lock:
            for key, rows in states.items():
                if key not in self._states:
                    self._states[key] = rows
                    self._bytes += rows.nbytes + ENTRY
            while self._bytes > self._limit:
                self._bytes -= self._states.popitem(last=False)[1].nbytes + ENTRY


def _words(piece: str) -> list[str]:
    return [] if piece[0] in "'’" else words(piece)


def _key(text: str) -> bytes:
    # A digest, so that the cache does not keep long texts alive.
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
