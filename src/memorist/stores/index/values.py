"""Arrays that are read a few rows at a time, and those that grow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

S = TypeVar("S", bound=np.generic)
Places = NDArray[np.intp]
Fetch = Callable[[Sequence[str], Places, Places], None]
"""Brings rows of some arrays of a file from where it lies in pages: those from each place to the one after it."""


class Values(Generic[S]):
    """Numbers, or rows of fixed width, that are read a few at a time.

    Those of a file that lies on a server are fetched before they are read: `fetch` brings rows of the array `name`.
    """

    def __init__(self, array: NDArray[S], fetch: Fetch | None = None, name: str = "") -> None:
        self._array = array
        self._size = len(array)
        self._fetch = fetch
        self._name = name

    def __len__(self) -> int:
        return self._size

    @property
    def nbytes(self) -> int:
        """The bytes of its values."""
        return self._array[: self._size].nbytes

    def need(self, begins: Places, ends: Places, *others: Values[Any]) -> None:
        """Fetch some rows, from each beginning to its end, and the same rows of others, all at once."""
        if self._fetch is not None:
            self._fetch([one._name for one in (self, *others)], begins, ends)

    def at(self, places: slice | Places) -> NDArray[S]:
        """Rows that were fetched before, if they had to be."""
        return self._array[places]

    def slice(self, start: int, end: int) -> NDArray[S]:
        """The rows from one to another, without a copy."""
        if self._fetch is not None:
            self.need(np.array([start]), np.array([end]))
        return self._array[start:end]

    def take(self, places: Places) -> NDArray[S]:
        """Some rows."""
        if self._fetch is not None:
            self.need(places, places + 1)
        return self._array.take(places, axis=0)  # twice as fast as an index

    def all(self) -> NDArray[S]:
        """All rows, without a copy."""
        return self.slice(0, self._size)


class GrowingArray(Values[S]):
    """An append-only array of numbers or of rows of fixed width; values never change once appended."""

    def __init__(self, dtype: type[S], width: int | None = None) -> None:
        super().__init__(np.empty((0,) if width is None else (0, width), dtype))

    def reserve(self, size: int) -> None:
        """Make room for so many values in all; what is not used takes no memory."""
        if size > len(self._array):
            larger = np.empty((size, *self._array.shape[1:]), self._array.dtype)
            larger[: self._size] = self.all()
            self._array, self._fetch = larger, None

    def extend(self, values: NDArray[S]) -> None:
        """Append values in amortized constant time: the capacity doubles when it runs out.

        The first allocation has an eighth of spare capacity, because a bulk load is often followed by a few writes.
        """
        size = self._size + len(values)
        if size > len(self._array):
            self.reserve(max(size + size // 8, 2 * len(self._array)))
        self._array[self._size : size] = values
        self._size = size

    def head(self, count: int) -> NDArray[S]:
        """The first `count` values, without a copy; callers must not change them."""
        return self._array[:count] if self._fetch is None else self.slice(0, count)

    def copy(self) -> GrowingArray[S]:
        """An independent copy."""
        copy = GrowingArray(self._array.dtype.type, *self._array.shape[1:])
        copy._array, copy._size = self._array.copy(), self._size
        return copy

    @classmethod
    def over(cls, array: NDArray[S], size: int, fetch: Fetch | None = None, name: str = "") -> GrowingArray[S]:
        """The first values of an array, which has room for more."""
        made = cls(array.dtype.type, *array.shape[1:])
        made._array, made._size, made._fetch, made._name = array, size, fetch, name
        return made

    def select(self, rows: NDArray[np.intp]) -> GrowingArray[S]:
        """A new array with the values of these rows."""
        copy = GrowingArray(self._array.dtype.type, *self._array.shape[1:])
        copy.extend(self.take(rows))
        return copy
