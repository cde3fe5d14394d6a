"""Binary codes: the sign bits of vectors, which preselect candidates, and the signatures of words."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.arrays import Chosen, GrowingArray, Mapped, Written
from memorist.text.signature import checked_bits, content_stems, signature, similarities

Vectors = NDArray[np.float32]
_BLOCK = 16_384
"""Rows that are compared together: what is made on the way stays near the processor."""


class BinaryCodes:
    """The sign bits of each vector, 64 per integer, with one column per integer."""

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._columns = [GrowingArray(np.uint64) for _ in range(-(-dim // 64))]

    def extend(self, vectors: Vectors) -> None:
        """Append the sign bits of vectors."""
        for column, words in zip(self._columns, _packed(vectors).T, strict=True):
            column.extend(words)

    def __len__(self) -> int:
        return len(self._columns[0])

    def parts(self, places: NDArray[np.intp]) -> Written:
        """The arrays of some of the vectors, to write."""
        return {str(number): Chosen(column.head(len(column)), places) for number, column in enumerate(self._columns)}

    @classmethod
    def of(cls, dim: int, parts: Mapped) -> BinaryCodes:
        """The sign bits of mapped arrays."""
        made = cls(dim)
        made._columns = [parts.growing(str(number)) for number in range(len(made._columns))]
        return made

    def agreement(self, probes: Vectors, count: int) -> NDArray[np.int32]:
        """The number of dimensions in which each of the first vectors has the sign of its nearest probe."""
        first, *others = _packed(probes)
        fewest = self._differing(first, count)
        for probe in others:
            np.minimum(fewest, self._differing(probe, count), out=fewest)
        return np.subtract(self._dim, fewest, dtype=np.int32)

    def _differing(self, probe: NDArray[np.uint64], count: int) -> NDArray[np.uint16]:
        differing = np.zeros(count, np.uint16)
        bits, counts = np.empty(_BLOCK, np.uint64), np.empty(_BLOCK, np.uint8)
        for start in range(0, count, _BLOCK):
            own = differing[start : start + _BLOCK]
            for column, word in zip(self._columns, probe, strict=True):
                np.bitwise_xor(column.head(count)[start : start + _BLOCK], word, out=bits[: len(own)])
                own += np.bitwise_count(bits[: len(own)], out=counts[: len(own)])
        return differing


def _packed(vectors: Vectors) -> NDArray[np.uint64]:
    octets = np.packbits(vectors > 0, axis=1)
    return np.pad(octets, ((0, 0), (0, -octets.shape[1] % 8))).view(np.uint64)


class SignaturesByBits(dict[int, "Signatures"]):
    """Signatures by their number of bits, each computed when it is first searched."""

    def __missing__(self, bits: int) -> Signatures:
        return self.setdefault(checked_bits(bits), Signatures(bits))


class Signatures:
    """One word signature per row, made from its analysed text."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._packed = GrowingArray(np.uint8, bits // 8)
        self._lock = Lock()

    def similarity(self, words: Sequence[str], texts: Sequence[str | None], count: int) -> NDArray[np.float32]:
        """The share of equal bits with the signature of each of the first `count` rows."""
        with self._lock:
            new = texts[len(self._packed) : count]
            made = [signature(content_stems((text or "").split(" ")[1:]), self._bits) for text in new]
            if made:
                self._packed.extend(np.frombuffer(b"".join(made), np.uint8).reshape(len(made), -1))
        return similarities(signature(content_stems(words), self._bits), self._packed.head(count))
