"""The part of a local reranker that reads a question and several texts together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from memorist.models.batched import BatchedModel
from memorist.models.folder import ModelFolder
from memorist.ports import ListReading, ReadInList

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from memorist.models.batched import Inputs

MOST_TEXTS, MOST_TOKENS = 8, 512
"""What the model was trained to read at once; of too many tokens, the longest texts lose the last ones."""
OUTPUTS = ("score", "answers", "outdated", "known")


@dataclass(frozen=True, slots=True)
class ListModel:
    """Reads `[CLS] question [SEP] text [SEP] text …`, the texts oldest first, and judges each beside the others."""

    model: BatchedModel
    tokenizer: Tokenizer
    folder: ModelFolder

    @classmethod
    def of(cls, folder: ModelFolder, tokenizer: Tokenizer) -> ListModel | None:
        """The list model of a reranker's folder; None if it has none."""
        graph = folder.open_lists()
        if graph is None:
            return None
        # One list a run: others of the same length would change nothing, but seldom wait.
        return cls(BatchedModel(lambda inputs: graph.run_all(OUTPUTS, inputs), 0, "reranker"), tokenizer, folder)

    def read(self, query: str, texts: Sequence[str]) -> ListReading:
        """A reading of at most `MOST_TEXTS` texts; `query` has been cut to what the model reads."""
        asked, *told = (self._ids(text) for text in (query, *texts[:MOST_TEXTS]))
        [made] = self.model([inputs(asked, told, *self._marks())], question=True)
        *columns, known = (output.tolist() for output in made)
        return ListReading([ReadInList(*row) for row in zip(*(column[0] for column in columns), strict=True)], known[0])

    def _ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(self.folder.cut(text), add_special_tokens=False).ids

    def _marks(self) -> tuple[int, int]:
        """The tokens that begin a list and end each of its parts."""
        first, last = self.tokenizer.encode("").ids
        return first, last


def inputs(asked: Sequence[int], told: Sequence[Sequence[int]], first: int, last: int) -> Inputs:
    """A list as the model takes it: its tokens, whose part they are in, and where the parts of the texts end."""
    ids = [first, *asked, last]
    begins = [len(ids)]
    for text, length in zip(told, fitting([len(tokens) + 1 for tokens in told], MOST_TOKENS - len(ids)), strict=True):
        ids += [*text[: length - 1], last]
        begins.append(len(ids))
    types = [0] * begins[0] + [1] * (len(ids) - begins[0])
    ends, means = (np.zeros((1, len(told), len(ids)), np.float32) for _ in range(2))
    for place, (start, stop) in enumerate(pairwise(begins)):
        ends[0, place, stop - 1] = 1.0
        means[0, place, start:stop] = 1 / (stop - start)
    return {"input_ids": _row(ids), "token_type_ids": _row(types), "ends": ends, "means": means}


def _row(numbers: Sequence[int]) -> NDArray[np.int64]:
    return np.array([numbers], dtype=np.int64)


def fitting(lengths: Sequence[int], room: int) -> list[int]:
    """The lengths, with the longest ones cut to one length if the sum is more than `room`."""
    most, left = room, len(lengths)
    for length in sorted(lengths):
        if length * left > most:
            break
        most, left = most - length, left - 1
    else:
        return list(lengths)
    return [min(length, most // left) for length in lengths]
