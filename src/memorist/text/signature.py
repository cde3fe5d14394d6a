"""Signatures: a text's words as a few hundred bits, alike where the words are alike. No model needed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memorist.errors import InvalidInput
from memorist.text.words import STOP_WORDS, language, stem_all

BITS = 256
_WORD_WEIGHT = 2
"""How much a whole word counts beside each of its trigrams."""


def content_stems(words: Sequence[str]) -> list[str]:
    """The words that a signature is made of: stop words dropped (unless all are), stemmed, repeats kept."""
    spoken = language(words)
    common = STOP_WORDS.get(spoken, frozenset())
    return stem_all([word for word in words if word not in common] or words, spoken)


def signature(words: Sequence[str], bits: int = BITS) -> bytes:
    """SimHash (Charikar 2002): the signs of the sum of all words' vectors. Give it `content_stems`.

    The share of equal bits is 1 − θ/π for an angle θ between the sums: 0.5 for texts with nothing in common,
    0.65 for a cosine of 0.45. On LoCoMo (256 bits, turns with their speaker's name) questions agree with the turns
    that answer them in 0.595 of the bits on average, 16 % of them in 0.65 or more; with other turns of the
    conversation in 0.541, 0.9 % in 0.65 or more. Plain counts of all words: 0.567, 5.9 %, 0.539 and 0.7 %.
    """
    matrix = bit_matrix(words, bits)
    return packed(matrix.sum(axis=0, dtype=np.int32)).tobytes()


def bit_matrix(words: Sequence[str], bits: int = BITS) -> NDArray[np.int8]:
    """One vector per word: pseudo-random signs of the word, twice, plus those of its trigrams.

    Fixed for all time by BLAKE2b. Spellings of one word share trigrams, so their vectors are alike.
    A text's signature is `packed(counts @ matrix)`.
    """
    if bits not in range(64, 513, 64):
        raise InvalidInput(f"a signature cannot have {bits} bits", remedy="Use a multiple of 64 up to 512.")
    rows = np.empty((len(words), bits), np.int8)
    for row, word in zip(rows, words, strict=True):
        row[:] = _word_vector(word, bits)
    return rows


def packed(sums: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
    """Sums of word vectors as signatures: a bit where a sum is positive, eight to a byte."""
    return np.packbits(sums > 0, axis=-1)


def hamming_similarity(a: bytes, b: bytes) -> float:
    """The share of equal bits of two signatures of the same length."""
    return float(similarities(a, np.frombuffer(b, np.uint8)[np.newaxis])[0])


def similarities(signature: bytes, matrix: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The share of bits that a signature has in common with each row of packed ones."""
    bits = 8 * len(signature)
    if not bits or bits % 64 or matrix.shape[1:] != (len(signature),):
        raise InvalidInput("signatures differ in length", remedy="Compare signatures of the same number of bits.")
    words = np.ascontiguousarray(matrix).view(np.uint64)
    differing = np.bitwise_count(words ^ np.frombuffer(signature, np.uint64)).sum(axis=1, dtype=np.int32)
    return (1 - differing / np.float32(bits)).astype(np.float32)


def _word_vector(word: str, bits: int) -> NDArray[np.int8]:
    edged = f"#{word}#"
    vector = _WORD_WEIGHT * _signs(f"word {word}", bits)
    # At most 124 trigrams: `words` cuts at 64 characters, and a sum of more would not fit eight bits.
    for start in range(min(len(word), 124)):
        vector += _signs(edged[start : start + 3], bits)
    return vector


@lru_cache(maxsize=16384)
def _signs(feature: str, bits: int) -> NDArray[np.int8]:
    digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=bits // 8).digest()
    signs = np.unpackbits(np.frombuffer(digest, np.uint8)).view(np.int8) * np.int8(2) - np.int8(1)
    signs.flags.writeable = False
    return signs
