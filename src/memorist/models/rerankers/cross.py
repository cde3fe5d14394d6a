"""A cross-encoder on this machine: ONNX Runtime, tokenizers and numpy, no network."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from memorist.errors import ModelUnavailable
from memorist.models.embedders.local import CHARACTERS_PER_TOKEN, INPUTS, cores, equal_length_batches
from memorist.models.folder import ModelFolder
from memorist.models.graph import Graph
from memorist.text.languages import language
from memorist.text.words import words

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

QUERY_TOKENS = 62
"""Of a longer query the beginning is read, as in training."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    graph: Graph
    tokenizer: Tokenizer
    output: str


class CrossReranker:
    """Reads `[CLS] query [SEP] text [SEP]` and gives a logit: Nogueira and Cho, arXiv:1901.04085.

    The model in a folder, loaded at its first use; safe to share between threads. Pairs of equal token count run
    together and are never padded, so a pair's logit does not depend on the other texts. A query in an `unread`
    language is refused, so that the order before it stands.
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

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """A logit per text."""
        if not texts:
            return []
        if language(words(query)) in self._unread:
            raise ModelUnavailable(
                "The local reranker does not read the script of this question",
                remedy="Name a service as the reranker, such as jina, or none.",
            )
        asked = self._beginning(query)
        pairs = [self._load().tokenizer.encode(asked, self._cut(text)) for text in texts]
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

    def _beginning(self, query: str) -> str:
        cut = self._cut(query)
        offsets = self._load().tokenizer.encode(cut, add_special_tokens=False).offsets[:QUERY_TOKENS]
        return cut[: offsets[-1][1]] if offsets else ""

    def _cut(self, text: str) -> str:
        beginning = text[: self._folder.manifest.max_tokens * CHARACTERS_PER_TOKEN]
        return beginning.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

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
    if unknown := sorted(set(graph.inputs) - set(INPUTS)):
        raise folder.unusable(f"it wants the input {unknown[0]}, we give {', '.join(INPUTS)}")
    tokenizer = folder.open_tokenizer()
    cast("Any", tokenizer).enable_truncation(folder.manifest.max_tokens, strategy="only_second")
    return _Loaded(graph, tokenizer, output)
