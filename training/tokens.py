"""Token ids in flat arrays, and padded rows of them on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor

START, END = 101, 102
QUERY_TOKENS = 64
TEXT_TOKENS = 224  # with both special tokens; the finished models read 256
PAIR_TOKENS = 254
MULTIPLE = 16  # a padded length: few shapes, whole tensor-core tiles
TOKENS = 64_000  # padded, in a batch that is learnt from: enough to fill a GPU


@dataclass(frozen=True, slots=True)
class Ragged:
    """Rows of different lengths, one after the other; `seconds` says where a pair's second text begins."""

    flat: NDArray[np.uint16]
    lengths: NDArray[np.int32]
    seconds: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.lengths)


def open_tokenizer(file: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    return tokenizer


def tokenise(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Ids without special tokens."""
    cut = [text[: 20 * PAIR_TOKENS] for text in texts]
    return [encoding.ids for encoding in tokenizer.encode_batch_fast(cut, add_special_tokens=False)]


def singles(rows: Sequence[Sequence[int]], most: int = TEXT_TOKENS) -> Ragged:
    """`[CLS] text [SEP]`."""
    return _ragged([[START, *row[: most - 2], END] for row in rows])


def joined(queries: Sequence[Sequence[int]], texts: Sequence[Sequence[int]], most: int = PAIR_TOKENS) -> Ragged:
    """`[CLS] query [SEP] text [SEP]`; a long query keeps its beginning, a long text too."""
    rows: list[list[int]] = []
    seconds: list[int] = []
    for query, text in zip(queries, texts, strict=True):
        first = [START, *query[: QUERY_TOKENS - 2], END]
        rows.append([*first, *text[: most - len(first) - 1], END])
        seconds.append(len(first))
    return _ragged(rows, np.array(seconds, dtype=np.int32))


def _ragged(rows: Sequence[Sequence[int]], seconds: NDArray[np.int32] | None = None) -> Ragged:
    lengths = np.array([len(row) for row in rows], dtype=np.int32)
    flat = np.fromiter((number for row in rows for number in row), dtype=np.uint16, count=int(lengths.sum()))
    return Ragged(flat, lengths, seconds)


def run_rows(
    run: Callable[[Tensor, Tensor, Tensor], Tensor],
    rows: Ragged,
    device: torch.device,
    *,
    tokens: int = TOKENS,
) -> Tensor:
    """`run(ids, mask, types)` over all rows, in batches of similar length; results in the order of the rows.

    A batch has at most so many padded tokens.
    """
    order = np.argsort(rows.lengths, kind="stable")
    parts = list(_by_tokens(rows.lengths, order, tokens))
    offsets = np.cumsum(rows.lengths, dtype=np.int64) - rows.lengths
    # All that the device needs, at once: it must not wait for us between batches.
    flat, starts, lengths = (
        torch.from_numpy(array.astype(np.int64)).to(device, non_blocking=True)
        for array in (rows.flat, offsets[order], rows.lengths[order])
    )
    seconds = None if rows.seconds is None else torch.from_numpy(rows.seconds[order].astype(np.int64)).to(device)
    results, begin = [], 0
    for part in parts:
        here = slice(begin, begin + len(part))
        places = torch.arange(_rounded(int(rows.lengths[part].max())), device=device)[None]
        mask = places < lengths[here, None]
        ids = torch.where(mask, flat[(starts[here, None] + places).clamp(max=len(flat) - 1)], 0)
        types = torch.zeros_like(ids) if seconds is None else (mask & (places >= seconds[here, None])).long()
        results.append(run(ids, mask, types))
        begin += len(part)
    back = torch.from_numpy(np.argsort(order, kind="stable")).to(device)
    return torch.cat(results)[back]


def _by_tokens(lengths: NDArray[np.int32], order: NDArray[np.int64], most: int) -> Iterator[NDArray[np.int64]]:
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and _rounded(int(lengths[order[stop]])) * (stop + 1 - start) <= most:
            stop += 1
        yield order[start:stop]
        start = stop


def _rounded(length: int) -> int:
    return -(-length // MULTIPLE) * MULTIPLE
