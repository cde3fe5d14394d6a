"""Arrays that grow, and those of an index in one file, which is written once, and checked and mapped by every process.

The first page says where the list of the arrays lies; each array begins at a page of its own. Behind an array that
grows there is a hole with room for more, which takes no space on the disk. A map is private to its process, so what is
appended there reaches no file. The file holds numbers and bytes only, and nothing in it is executed.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from memorist.errors import StoreBusy

S = TypeVar("S", bound=np.generic)
MAGIC = b"MemoristIndex\n\0\1"
PAGE = 4096
LONGEST_LIST = 1 << 20
"""Bytes of the list of arrays; a longer one is damaged."""
_PIECE = 1 << 24
_DTYPES = ("|u1", "<i4", "<i8", "<u8", "<f4")
_SPARE, _LEAST_SPARE = 8, 1024
"""The room of an array that grows: an eighth of its rows, and at least this many."""


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
            self._fetch([values._name for values in (self, *others)], begins, ends)

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
        every = self.slice(0, self._size)
        self._fetch = None  # there is nothing left to fetch
        return every


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


class Unfetched(StoreBusy):
    """Pages of an index are gone or damaged: it was replaced, or something was erased."""


class AccessPattern(IntEnum):
    """How an array is read: as a whole by nearly every search, in long runs, or some rows here and there."""

    WHOLE = 0
    RUNS = 1
    SCATTERED = 2


class Chosen(NamedTuple):
    """The rows of an array which are to be written, all of them if no places are given; and how they will be read."""

    array: NDArray[Any]
    places: NDArray[np.intp] | None = None
    read: AccessPattern = AccessPattern.WHOLE
    grows: bool = True


Written = dict[str, NDArray[Any] | Chosen]
"""Arrays to write, by name; one without more does not grow, and is read as a whole."""


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
            chosen = part if isinstance(part, Chosen) else Chosen(part, grows=False)
            count = len(chosen.array) if chosen.places is None else len(chosen.places)
            room = count + max(count // _SPARE, _LEAST_SPARE) if chosen.grows else count
            file.seek(end)
            shape = [count, *chosen.array.shape[1:]]
            one = Listed(chosen.array.dtype.str, shape, room, end, _copy(chosen, file), chosen.read)
            listed[name], end = one, one.end
        finish(file, json.dumps({**about, "parts": listed}).encode(), end)


def finish(file: BinaryIO, listing: bytes, end: int) -> None:
    """Write the list of the arrays, which end there, and then what makes the file one of ours."""
    file.seek(end)
    file.write(listing)
    file.seek(0)
    numbers = np.array([end, len(listing)], "<u8").tobytes()
    file.write(MAGIC + numbers + blake2b(numbers + listing, digest_size=32).digest())


class Listed(NamedTuple):
    """What a file lists of an array: its type and shape, its room in rows, its place, its digest, how it is read."""

    kind: str
    shape: Sequence[int]
    room: int
    place: int
    digest: str
    read: int

    @property
    def row_bytes(self) -> int:
        """The bytes of a row."""
        if self.kind not in _DTYPES:
            raise Damaged
        return np.dtype(self.kind).itemsize * int(np.prod(self.shape[1:]))

    @property
    def nbytes(self) -> int:
        """The bytes of all its rows."""
        return self.shape[0] * self.row_bytes

    @property
    def end(self) -> int:
        """The place behind its room."""
        return self.place + _pages(self.room * self.row_bytes)


def _copy(chosen: Chosen, file: BinaryIO) -> str:
    """Write the rows of an array, piece by piece; returns their digest."""
    array, places, *_ = chosen
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
    """The arrays of a file, mapped; `under` gives those of one of its things.

    With `fetch`, the file lies on a server: arrays that are not read as a whole have to be fetched.
    """

    def __init__(
        self, parts: Mapping[str, tuple[NDArray[Any], Listed]], fetch: Fetch | None = None, at: str = ""
    ) -> None:
        self._parts = parts
        self._fetch = fetch
        self._at = at

    def array(self, name: str) -> NDArray[Any]:
        """An array that is read as a whole."""
        room, listed = self._parts[self._at + name]
        return room[: listed.shape[0]]

    def values(self, name: str) -> Values[Any]:
        """An array of which some is read at a time."""
        return Values(self.array(name), *self._fetched(name))

    def growing(self, name: str) -> GrowingArray[Any]:
        """An array with room for more."""
        room, listed = self._parts[self._at + name]
        return GrowingArray[Any].over(room, listed.shape[0], *self._fetched(name))

    def under(self, name: str) -> Mapped:
        """The arrays that belong to something."""
        return Mapped(self._parts, self._fetch, f"{self._at}{name}/")

    def names(self) -> list[str]:
        """The names of the things that arrays belong to."""
        own = (name.removeprefix(self._at) for name in self._parts if name.startswith(self._at))
        return list(dict.fromkeys(name.partition("/")[0] for name in own))

    def _fetched(self, name: str) -> tuple[Fetch | None, str]:
        whole = self._parts[self._at + name][1].read == AccessPattern.WHOLE
        return None if whole else self._fetch, self._at + name


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
    memory, parts = map_file(file), {name: Listed(*one) for name, one in listed.items()}
    for part in parts.values():
        data = np.frombuffer(memory, np.uint64, _pages(part.nbytes) // 8, part.place)
        if blake2b(_sums(data), digest_size=16).hexdigest() != part.digest:
            raise Damaged
    return arrays_in(memory, parts)


def map_file(file: int) -> mmap.mmap:
    """An open file in memory; what is changed there reaches no file."""
    flags = mmap.MAP_PRIVATE | getattr(mmap, "MAP_NORESERVE", 0)
    return mmap.mmap(file, 0, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)


def arrays_in(memory: mmap.mmap, listed: Mapping[str, Listed], fetch: Fetch | None = None) -> Mapped:
    """The arrays of a file in memory."""

    def array(one: Listed) -> NDArray[Any]:
        width = one.row_bytes // np.dtype(one.kind).itemsize
        return np.frombuffer(memory, one.kind, one.room * width, one.place).reshape(one.room, *one.shape[1:])

    return Mapped({name: (array(one), one) for name, one in listed.items()}, fetch)
