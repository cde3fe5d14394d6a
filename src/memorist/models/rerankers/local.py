"""Local rerankers: cross-encoders in ONNX folders."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from memorist.errors import ModelUnavailable
from memorist.models.embedders.local import cores, equal_length_batches
from memorist.models.folder import CHARACTERS_PER_TOKEN, INPUTS, ModelFolder, OnnxGraph
from memorist.ports import Reading
from memorist.text.words import language, words

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

    from memorist.ports import Vector

QUERY_TOKENS = 62
"""As many tokens of a query as in training; of a longer one the last, because a question ends a query."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A graph, or two, with the tokenizer and the outputs to read."""

    graph: OnnxGraph
    end: OnnxGraph | None
    tokenizer: Tokenizer
    outputs: tuple[str, ...]

    def batch(self, pairs: Sequence[Encoding]) -> list[tuple[Vector, ...]]:
        """What the graph gives for each of some pairs of one length."""
        ids = np.array([one.ids for one in pairs], dtype=np.int64)
        types = np.array([one.type_ids for one in pairs], dtype=np.int64)
        inputs: dict[str, NDArray[np.int64]] = dict(zip(INPUTS, (ids, np.ones_like(ids), types), strict=True))
        outputs = self.outputs if self.end is None else self.graph.outputs
        return list(zip(*self.graph.run_all(outputs, inputs), strict=True))

    def logits(self, rows: Sequence[tuple[Vector, ...]]) -> Sequence[Vector]:
        """The logits of all pairs, output by output, from what the graph gave for each."""
        columns = [np.array(one) for one in zip(*rows, strict=True)]
        if self.end is None:
            return columns
        given = dict(zip(self.graph.outputs, columns, strict=True))
        return self.end.run_all(self.outputs, given)


class CrossReranker:
    """Reads `[CLS] query [SEP] text [SEP]` and gives a logit: Nogueira and Cho, arXiv:1901.04085.

    A model with a second output also says whether the text answers the question.

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

    def load(self) -> None:
        """Load the model, which the first question would do otherwise."""
        self._load()

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """A logit per text."""
        return [one.score for one in self.read(query, texts)]

    def read(self, query: str, texts: Sequence[str]) -> list[Reading]:
        """A logit per text, and one that it answers if the model judges that."""
        if not texts:
            return []
        end = query[-QUERY_TOKENS * CHARACTERS_PER_TOKEN :]
        _refuse_unread(language(words(end)), self._unread)
        asked = self._ending(end)
        loaded = self._load()
        pairs = [loaded.tokenizer.encode(asked, self._folder.cut(text)) for text in texts]
        batches = equal_length_batches([len(one.ids) for one in pairs], self._folder.manifest.tokens_per_batch)
        parts = [[pairs[place] for place in places] for places in batches]
        with ThreadPoolExecutor(min(cores(), len(batches))) as pool:
            read = [row for rows in pool.map(loaded.batch, parts) for row in rows]
        at = dict(zip(chain.from_iterable(batches), read, strict=True))
        columns = [one.tolist() for one in loaded.logits([at[place] for place in range(len(pairs))])]
        return [Reading(*row) for row in zip(*columns, strict=True)]

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
    end = folder.open_end(graph)
    there = (end or graph).outputs
    score, answers = (folder.manifest.outputs.get(name, name) for name in ("score", "answers"))
    if score not in there:
        raise folder.unusable(f"it has no output {score}, only {', '.join(there)}")
    outputs = (score, answers) if answers in there else (score,)
    return _Loaded(graph, end, folder.open_tokenizer(), outputs)


def _refuse_unread(language: str, unread: Collection[str]) -> None:
    if language in unread:
        raise ModelUnavailable(
            "The local reranker does not read the language of this question",
            remedy="Configure a service such as jina as the reranker, or none.",
        )
