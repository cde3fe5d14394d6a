"""Arrays that only grow, so that earlier readers and one writer never disturb each other."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

S = TypeVar("S", bound=np.generic)


class Growing(Generic[S]):
    """An append-only array of numbers, or of rows of a fixed width; what it once held never changes."""

    def __init__(self, dtype: type[S], width: int | None = None) -> None:
        self._array: NDArray[S] = np.empty((0,) if width is None else (0, width), dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def extend(self, values: NDArray[S]) -> None:
        """Append values; the room doubles when it runs out, so each costs constant time on average.

        The first ones get an eighth more than they need: what is loaded at once is often added to soon after.
        """
        size = self._size + len(values)
        if size > len(self._array):
            room = max(size + size // 8, 2 * len(self._array))
            larger = np.empty((room, *self._array.shape[1:]), self._array.dtype)
            larger[: self._size] = self._array[: self._size]
            self._array = larger
        self._array[self._size : size] = values
        self._size = size

    def first(self, count: int) -> NDArray[S]:
        """The first so many values, without a copy; the caller only reads them."""
        return self._array[:count]

    def copy(self) -> Growing[S]:
        """The same values, to be changed apart."""
        copy = Growing(self._array.dtype.type, *self._array.shape[1:])
        copy._array, copy._size = self._array.copy(), self._size
        return copy

    def taken(self, places: NDArray[np.intp]) -> Growing[S]:
        """A new array of the values at these places."""
        copy = Growing(self._array.dtype.type, *self._array.shape[1:])
        copy.extend(self._array[places])
        return copy
