"""Signatures of all rows, made when one is first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.growing import Growing
from memorist.text.signature import BITS, content_stems, signature, similarities


class Signatures:
    """One signature a row, of the words that the row's text was analysed into."""

    def __init__(self) -> None:
        self._packed = Growing(np.uint8, BITS // 8)
        self._lock = Lock()

    def likeness(self, words: Sequence[str], texts: Sequence[str | None], count: int) -> NDArray[np.float32]:
        """The share of equal bits with each of the first `count` rows."""
        with self._lock:
            made = [signature(content_stems((text or "").split(" ")[1:])) for text in texts[len(self._packed) : count]]
            if made:
                self._packed.extend(np.frombuffer(b"".join(made), np.uint8).reshape(len(made), -1))
        return similarities(signature(content_stems(words)), self._packed.first(count))
