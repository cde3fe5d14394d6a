"""Local rerankers: cross-encoders in ONNX folders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from memorist.errors import ModelUnavailable
from memorist.models.batched import BatchedModel
from memorist.models.embedders.local import equal_length_batches
from memorist.models.folder import CHARACTERS_PER_TOKEN, INPUTS, ModelFolder, OnnxGraph
from memorist.models.rerankers.lists import ListModel
from memorist.ports import ListReading, Reading
from memorist.text.words import language, words

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

    from memorist.ports import Vector

QUERY_TOKENS = 62
"""As many tokens of a query as in training; of a longer one the last, because a question ends a query."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A graph whose runs are shared, what makes logits of its outputs, and the tokenizer."""

    model: BatchedModel
    logits: Callable[[Sequence[Vector]], Sequence[Vector]]
    tokenizer: Tokenizer
    lists: ListModel | None


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
        return [reading.score for reading in self.read(query, texts)]

    def read(self, query: str, texts: Sequence[str]) -> list[Reading]:
        """A logit per text, and one that it answers if the model judges that."""
        if not texts:
            return []
        end = query[-QUERY_TOKENS * CHARACTERS_PER_TOKEN :]
        _refuse_unread(language(words(end)), self._unread)
        asked = self._ending(end)
        loaded = self._load()
        pairs = [loaded.tokenizer.encode(asked, self._folder.cut(text)) for text in texts]
        batches = equal_length_batches([len(pair.ids) for pair in pairs], self._folder.manifest.tokens_per_batch)
        made = loaded.model([_inputs([pairs[place] for place in places]) for places in batches], question=True)
        places = np.argsort(list(chain.from_iterable(batches)))
        columns = [np.concatenate(column)[places] for column in zip(*made, strict=True)]
        logits = [vector.tolist() for vector in loaded.logits(columns)]
        return [Reading(*row) for row in zip(*logits, strict=True)]

    def read_list(self, query: str, texts: Sequence[str]) -> ListReading | None:
        """A reading of each text beside the others, oldest first; None if the folder has no model for lists."""
        end = query[-QUERY_TOKENS * CHARACTERS_PER_TOKEN :]
        _refuse_unread(language(words(end)), self._unread)
        lists = self._load().lists
        return lists.read(self._ending(end), texts) if lists is not None and texts else None

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
    tokenizer, tokens = folder.open_tokenizer(), folder.manifest.tokens_per_batch
    lists = ListModel.of(folder, tokenizer)
    if end is None:
        return _Loaded(
            BatchedModel(partial(graph.run_all, outputs), tokens, "reranker"), lambda logits: logits, tokenizer, lists
        )
    model = BatchedModel(partial(graph.run_all, graph.outputs), tokens, "reranker")
    return _Loaded(model, partial(_ended, graph.outputs, end, outputs), tokenizer, lists)


def _ended(given: Sequence[str], end: OnnxGraph, outputs: Sequence[str], states: Sequence[Vector]) -> Sequence[Vector]:
    """What the second graph makes of the outputs of the first, for pairs of all lengths at once."""
    return end.run_all(outputs, dict(zip(given, states, strict=True)))


def _inputs(pairs: Sequence[Encoding]) -> dict[str, NDArray[np.int64]]:
    ids = np.array([pair.ids for pair in pairs], dtype=np.int64)
    types = np.array([pair.type_ids for pair in pairs], dtype=np.int64)
    return dict(zip(INPUTS, (ids, np.ones_like(ids), types), strict=True))


def _refuse_unread(language: str, unread: Collection[str]) -> None:
    if language in unread:
        raise ModelUnavailable(
            "The local reranker does not read the language of this question",
            remedy="Configure a service such as jina as the reranker, or none.",
        )
