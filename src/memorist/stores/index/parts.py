"""Arrays that grow, and those of an index in one file, which is written once, and checked and mapped by every process.

The first page says where the list of the arrays lies; each array begins at a page of its own. Behind an array that
grows there is a hole with room for more, which takes no space on the disk. A map is private to its process, so what is
appended there reaches no file. The file holds numbers and bytes only, and nothing in it is executed.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

S = TypeVar("S", bound=np.generic)
MAGIC = b"MemoristIndex\n\0\1"
PAGE = 4096
LONGEST_LIST = 1 << 20
"""Bytes of the list of arrays; a longer one is damaged."""
_PIECE = 1 << 24
_DTYPES = ("|u1", "<i4", "<i8", "<u8", "<f4")
_SPARE, _LEAST_SPARE = 8, 1024
"""The room of an array that grows: an eighth of its rows, and at least this many."""


class GrowingArray(Generic[S]):
    """An append-only array of numbers or of rows of fixed width; values never change once appended."""

    def __init__(self, dtype: type[S], width: int | None = None) -> None:
        self._array: NDArray[S] = np.empty((0,) if width is None else (0, width), dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def nbytes(self) -> int:
        """The bytes of its values."""
        return self._array[: self._size].nbytes

    def reserve(self, size: int) -> None:
        """Make room for so many values in all; what is not used takes no memory."""
        if size > len(self._array):
            larger = np.empty((size, *self._array.shape[1:]), self._array.dtype)
            larger[: self._size] = self._array[: self._size]
            self._array = larger

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
        return self._array[:count]

    def copy(self) -> GrowingArray[S]:
        """An independent copy."""
        copy = GrowingArray(self._array.dtype.type, *self._array.shape[1:])
        copy._array, copy._size = self._array.copy(), self._size
        return copy

    @classmethod
    def over(cls, array: NDArray[S], size: int) -> GrowingArray[S]:
        """The first values of an array, which has room for more."""
        made = cls(array.dtype.type, *array.shape[1:])
        made._array, made._size = array, size
        return made

    def select(self, rows: NDArray[np.intp]) -> GrowingArray[S]:
        """A new array with the values of these rows."""
        copy = GrowingArray(self._array.dtype.type, *self._array.shape[1:])
        copy.extend(self._array[rows])
        return copy


class Chosen(NamedTuple):
    """The rows of an array that grows which are to be written; all of them if no places are given."""

    array: NDArray[Any]
    places: NDArray[np.intp] | None = None


Written = dict[str, NDArray[Any] | Chosen]
"""Arrays to write, by name."""


class Damaged(Exception):
    """A file that is not, or no longer, what was written."""


def under(name: str, parts: Mapping[str, NDArray[Any] | Chosen]) -> Written:
    """Arrays that belong to something with a name."""
    return {f"{name}/{own}": part for own, part in parts.items()}


def write_parts(path: Path, about: Mapping[str, Any], parts: Mapping[str, NDArray[Any] | Chosen]) -> None:
    """Write a new file: what it says about itself, and its arrays."""
    with path.open("xb") as file:
        listed: dict[str, object] = {}
        end = PAGE
        for name, part in parts.items():
            chosen = part if isinstance(part, Chosen) else Chosen(part)
            count = len(chosen.array) if chosen.places is None else len(chosen.places)
            room = count + max(count // _SPARE, _LEAST_SPARE) if isinstance(part, Chosen) else count
            file.seek(end)
            listed[name] = [chosen.array.dtype.str, [count, *chosen.array.shape[1:]], room, end, _copy(chosen, file)]
            end += _pages(room * chosen.array.dtype.itemsize * int(np.prod(chosen.array.shape[1:])))
        listing = json.dumps({**about, "parts": listed}).encode()
        file.seek(end)
        file.write(listing)
        file.seek(0)
        numbers = np.array([end, len(listing)], "<u8").tobytes()
        file.write(MAGIC + numbers + blake2b(numbers + listing, digest_size=32).digest())


def _copy(chosen: Chosen, file: BinaryIO) -> str:
    """Write the rows of an array, piece by piece; returns their digest."""
    array, places = chosen
    count = len(array) if places is None else len(places)
    step = max(_PIECE // max(array.itemsize * int(np.prod(array.shape[1:])), 1) // PAGE, 1) * PAGE
    digest = blake2b(digest_size=16)
    for start in range(0, count, step):
        piece = array[start : start + step] if places is None else array[places[start : start + step]]
        data = np.ascontiguousarray(piece).reshape(-1).view(np.uint8)
        file.write(data.data)
        digest.update(_sums(np.pad(data, (0, -len(data) % PAGE)).view(np.uint64)))
    return digest.hexdigest()


def _sums(words: NDArray[np.uint64]) -> bytes:
    """The sum of each page. Summing is ten times faster than hashing, and finds what a disk damages."""
    return words.reshape(-1, PAGE // 8).sum(axis=1, dtype=np.uint64).tobytes()


def _pages(size: int) -> int:
    return -(-size // PAGE) * PAGE


class Mapped:
    """The arrays of a file, mapped; `under` gives those of one of its things."""

    def __init__(self, parts: Mapping[str, tuple[NDArray[Any], int]]) -> None:
        self._parts = parts

    def array(self, name: str) -> NDArray[Any]:
        """An array."""
        room, size = self._parts[name]
        return room[:size]

    def growing(self, name: str) -> GrowingArray[Any]:
        """An array with room for more."""
        room, size = self._parts[name]
        return GrowingArray[Any].over(room, size)

    def under(self, name: str) -> Mapped:
        """The arrays that belong to something."""
        start = f"{name}/"
        return Mapped({own.removeprefix(start): part for own, part in self._parts.items() if own.startswith(start)})

    def names(self) -> list[str]:
        """The names of the things that arrays belong to."""
        return list(dict.fromkeys(name.partition("/")[0] for name in self._parts))


def read_about(file: int) -> dict[str, Any]:
    """What an open file says about itself; raises `Damaged` if that is not whole."""
    head = os.pread(file, PAGE, 0)
    numbers, digest = head[len(MAGIC) :][:16], head[len(MAGIC) + 16 :][:32]
    if not head.startswith(MAGIC) or len(digest) < 32:
        raise Damaged
    place, length = map(int, np.frombuffer(numbers, "<u8"))
    if length > LONGEST_LIST or place + length != os.fstat(file).st_size:
        raise Damaged
    listing = os.pread(file, length, place)
    if blake2b(numbers + listing, digest_size=32).digest() != digest:
        raise Damaged
    return json.loads(listing)


def map_parts(file: int, listed: Mapping[str, Sequence[Any]]) -> Mapped:
    """Map the arrays of an open file after checking every byte of them; raises `Damaged` if one differs."""
    flags = mmap.MAP_PRIVATE | getattr(mmap, "MAP_NORESERVE", 0)
    memory = mmap.mmap(file, 0, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    return Mapped(dict(_mapped(memory, listed)))


def _mapped(memory: mmap.mmap, listed: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, tuple[NDArray[Any], int]]]:
    for name, (kind, shape, room, place, digest) in listed.items():
        if kind not in _DTYPES:
            raise Damaged
        count, *width = shape
        size = count * np.dtype(kind).itemsize * int(np.prod(width))
        data = np.frombuffer(memory, np.uint64, _pages(size) // 8, place)
        if blake2b(_sums(data), digest_size=16).hexdigest() != digest:
            raise Damaged
        yield name, (np.frombuffer(memory, kind, room * int(np.prod(width)), place).reshape(room, *width), count)
