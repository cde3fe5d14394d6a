"""The statements that write a memory's row and read it, and a vector as bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memorist.stores.rows import COLUMNS, USAGE_COLUMNS

UPDATE = (
    f"UPDATE memories SET seq = ?, {', '.join(f'{name} = ?' for name in COLUMNS)}, "  # noqa: S608 - names of our own
    "words = ?, original_words = ? WHERE row = ?"
)
INSERT = (
    f"INSERT INTO memories (row, seq, {', '.join(COLUMNS)}, words, original_words) "  # noqa: S608 - names of our own
    f"VALUES ({', '.join('?' * (len(COLUMNS) + 4))})"
)
SELECT = (
    f"SELECT row, {', '.join(f'm.{name}' for name in COLUMNS)}, u.id, {', '.join(USAGE_COLUMNS)} "  # noqa: S608
    "FROM memories AS m LEFT JOIN usage AS u ON u.id = m.id"
)
"""Rows for `read`; a caller adds WHERE and ORDER BY, with columns of `memories` named `m.…`."""


def packed(vector: NDArray[np.float16]) -> bytes:
    """A vector as it is kept."""
    return vector.astype("<f2", copy=False).tobytes()
