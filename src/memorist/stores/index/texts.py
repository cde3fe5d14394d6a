"""Columns of texts: packed bytes that a file can hold and a process can map, and the few that came later."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar, cast, overload

import numpy as np
from numpy.typing import NDArray

from memorist.stores.index.arrays import AccessPattern, Chosen, Mapped, Values, Written

SEPARATOR = b"\n"
_NONE = b"\xff"
"""Stands for None; no text is encoded so."""


def encode_text(text: str) -> bytes:
    """A text as bytes; they sort like their texts."""
    return text.encode("utf-8", "surrogatepass")


def decode_text(data: bytes) -> str | None:
    """The text of some bytes."""
    return None if data == _NONE else data.decode("utf-8", "surrogatepass")


class Packed(NamedTuple):
    """Texts in one array of bytes, each followed by a line feed, and the end of each."""

    blob: Values[np.uint8]
    ends: Values[np.int64]

    def raw(self, number: int) -> bytes:
        """The bytes of a text."""
        return self.raws(number, number + 1)[0]

    def raws(self, start: int, end: int) -> list[bytes]:
        """The bytes of the texts from one number to another."""
        if start >= end:
            return []
        before: list[int] = self.ends.slice(max(start - 1, 0), end).tolist()
        ends = before if not start else before[1:]
        first = before[0] if start else 0
        whole = self.blob.slice(first, ends[-1]).tobytes()
        return [whole[a - first : b - first - 1] for a, b in zip([first, *ends[:-1]], ends, strict=True)]

    def chosen(self, numbers: NDArray[np.intp]) -> Iterator[bytes]:
        """The bytes of some texts."""
        self.ends.need(np.maximum(numbers - 1, 0), numbers + 1)
        begins, ends = np.where(numbers > 0, self.ends.at(numbers - 1), 0), self.ends.at(numbers)
        self.blob.need(begins, ends)
        data = self.blob.at(slice(None)).data
        return (data[begin : end - 1].tobytes() for begin, end in zip(begins.tolist(), ends.tolist(), strict=True))

    def parts(self, read: AccessPattern = AccessPattern.WHOLE) -> Written:
        """The arrays to write, and how they will be read."""
        return {name: Chosen(one.all(), read=read, grows=False) for name, one in self._asdict().items()}

    @classmethod
    def of(cls, parts: Mapped) -> Packed:
        """The texts of mapped arrays."""
        return cls(parts.values("blob"), parts.values("ends"))


def pack_texts(texts: Iterable[str | None]) -> Packed:
    """Texts as one array of bytes."""
    pieces = [_NONE if text is None else encode_text(text) for text in texts]
    ends = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)) + 1)
    pieces.append(b"")
    return _packed(np.frombuffer(SEPARATOR.join(pieces), np.uint8), ends)


def _packed(blob: NDArray[np.uint8], ends: NDArray[np.int64]) -> Packed:
    return Packed(Values(blob), Values(ends))


NO_TEXTS = pack_texts(())


T = TypeVar("T", bound=str | None)


class Texts(Sequence[T], Generic[T]):
    """A growing column of texts, of which the first may be packed."""

    def __init__(self, kept: Packed = NO_TEXTS) -> None:
        self._kept = kept
        self._size = len(kept.ends)
        self._new: list[T] = []
        self._new_bytes = 0

    @property
    def nbytes(self) -> int:
        """The bytes of its texts."""
        return self._kept.blob.nbytes + self._new_bytes

    def __len__(self) -> int:
        return self._size + len(self._new)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> list[T]: ...
    def __getitem__(self, place: int | slice) -> T | list[T]:
        if isinstance(place, slice):
            start, end, _ = place.indices(len(self))
            kept = cast("list[T]", list(map(decode_text, self._kept.raws(start, min(end, self._size)))))
            return kept + self._new[max(start - self._size, 0) : max(end - self._size, 0)]
        if place >= self._size:
            return self._new[place - self._size]
        return cast("T", decode_text(self._kept.raw(place)))

    def chosen(self, places: NDArray[np.intp]) -> list[T]:
        """The texts at some places: faster than one after the other."""
        kept = places < self._size
        if not kept.all():
            old = iter(self.chosen(places[kept]))
            return [next(old) if place < self._size else self._new[place - self._size] for place in places.tolist()]
        return cast("list[T]", list(map(decode_text, self._kept.chosen(places)))) if len(places) else []

    def extend(self, texts: Iterable[T]) -> None:
        """Append texts."""
        texts = list(texts)
        self._new.extend(texts)
        self._new_bytes += sum(map(sys.getsizeof, texts))

    def packed(self, rows: NDArray[np.intp]) -> Packed:
        """Some of the texts, in ascending order of rows."""
        chosen: list[int] = rows[rows >= self._size].tolist()
        later = pack_texts(self._new[row - self._size] for row in chosen)
        kept = _selected(self._kept, rows[rows < self._size])
        ends = np.concatenate((kept.ends.all(), later.ends.all() + len(kept.blob)))
        return _packed(np.concatenate((kept.blob.all(), later.blob.all())), ends)


def _selected(texts: Packed, rows: NDArray[np.intp]) -> Packed:
    if len(rows) == len(texts.ends):
        return texts
    every, blob = texts.ends.all(), texts.blob.all()
    starts, ends = np.concatenate((np.zeros(1, np.int64), every))[rows], every[rows]
    keep = np.zeros(len(blob) + 1, np.int8)
    keep[starts] += 1
    keep[ends] -= 1
    return _packed(blob[np.cumsum(keep[:-1], dtype=np.int8).view(np.bool_)], np.cumsum(ends - starts))


class SortedTexts(NamedTuple):
    """Packed texts, and their numbers in the order of their bytes, in which they are found."""

    texts: Packed
    order: NDArray[np.int32]

    def find(self, text: str) -> int | None:
        """The lowest number of a text."""
        return next(self.find_all(text), None)

    def find_all(self, text: str) -> Iterator[int]:
        """The numbers of a text, ascending."""
        wanted = encode_text(text)
        # Views of the memory, because numpy takes three times as long for one element.
        blob, ends, order = self.texts.blob.all().data, self.texts.ends.all().data, self.order.data

        def raw(number: int) -> bytes:
            return bytes(blob[ends[number - 1] if number else 0 : ends[number] - 1])

        place = bisect_left(order, wanted, key=raw)
        while place < len(order) and raw(number := order[place]) == wanted:
            yield number
            place += 1

    def up_to(self, text: str) -> NDArray[np.int32]:
        """The numbers of the texts up to one, in their order; few texts are read for it."""
        return self.order[: bisect_right(self.order, encode_text(text), key=self.texts.raw)]

    def parts(self, read: AccessPattern = AccessPattern.WHOLE) -> Written:
        """The arrays to write, and how the texts will be read."""
        return {**self.texts.parts(read), "order": self.order}

    @classmethod
    def of(cls, parts: Mapped) -> SortedTexts:
        """The texts of mapped arrays."""
        return cls(Packed.of(parts), parts.array("order"))


def in_order(texts: Packed) -> SortedTexts:
    """Packed texts with their order."""
    pieces = texts.raws(0, len(texts.ends))
    order = sorted(range(len(pieces)), key=pieces.__getitem__)
    return SortedTexts(texts, np.array(order, np.int32))


NONE_SORTED = in_order(NO_TEXTS)


class Numbering:
    """Distinct texts, numbered in the order in which they come; the first may be packed."""

    def __init__(self, kept: SortedTexts = NONE_SORTED) -> None:
        self._kept = kept
        self._new: dict[str, int] = {}
        self._names = Texts[str](kept.texts)

    def __len__(self) -> int:
        return len(self._names)

    def get(self, text: str) -> int | None:
        """The number of a text."""
        number = self._new.get(text)
        return self._kept.find(text) if number is None and len(self._kept.order) else number

    def number(self, text: str) -> int:
        """The number of a text, which a new one gets now."""
        number = self.get(text)
        if number is None:
            number = self._new[text] = len(self._names)
            self._names.extend((text,))
        return number

    def first(self, count: int) -> Numbers:
        """The first texts with their numbers, whatever comes later."""
        return Numbers(self, count)

    def name(self, number: int) -> str:
        """The text with a number."""
        return self._names[number]

    @property
    def names(self) -> Sequence[str]:
        """All texts, by their numbers."""
        return self._names

    def prepare(self) -> None:
        """Fetch what a text is looked up in, if it lies on a server."""
        self._kept.texts.ends.all()
        self._kept.texts.blob.all()


class Numbers(Mapping[str, int]):
    """The first texts of a numbering, with their numbers."""

    def __init__(self, numbering: Numbering, count: int) -> None:
        self._numbering = numbering
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        return map(self._numbering.name, range(self._count))

    def __getitem__(self, text: str) -> int:
        number = self._numbering.get(text)
        if number is None or number >= self._count:
            raise KeyError(text)
        return number
