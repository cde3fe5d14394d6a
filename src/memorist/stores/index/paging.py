"""An index file that lies elsewhere in pages: a sparse file of the same layout, filled with what searches touch.

Each page is known by its digest, and is used only after this process has compared it: what another process wrote to the
file, what a crash left of it and what a server sent are all the same. So any number of processes may fill one file.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from memorist.errors import StoreError
from memorist.stores.index.arrays import (
    PAGE,
    AccessPattern,
    Damaged,
    Listed,
    Mapped,
    Places,
    Unfetched,
    arrays_in,
    map_file,
)

DIGEST = 16
"""Bytes of a digest."""
LARGE, SMALL = 1 << 17, 7_680
"""Bytes of a page: of arrays that are read in runs, and of those read here and there. A block of PostgreSQL holds a
small one, so that it is one read. With other sizes, the format of index files is another."""
BATCH = 1 << 22
"""Bytes that are fetched together."""
AT_ONCE = 3
"""Batches that are fetched at once: the server reads one while another is checked and written here."""
CAN_MAP = sys.platform == "linux" and mmap.PAGESIZE == PAGE
"""Elsewhere, a private map need not see what is written to its file later; with larger pages, arrays share some."""
Get = Callable[[Sequence[bytes]], Iterable[tuple[bytes, bytes]]]
"""Fetches pages by their digests; those that are gone are left out."""


def digest_of(data: bytes) -> bytes:
    """The name of a page."""
    return sha256(data).digest()[:DIGEST]  # processors have instructions for it


class Layout:
    """The pages of a file: the arrays one after the other, each from a page of its own."""

    def __init__(self, listed: Mapping[str, Listed]) -> None:
        self.listed = listed
        self.steps = {name: _step(one) for name, one in listed.items()}
        self.firsts: dict[str, int] = {}
        places, sizes = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        count = 0
        for name, one in listed.items():
            starts = np.arange(0, one.nbytes, self.steps[name])
            self.firsts[name], count = count, count + len(starts)
            places.append(one.place + starts)
            sizes.append(np.minimum(self.steps[name], one.nbytes - starts))
        self.places, self.sizes = np.concatenate(places), np.concatenate(sizes)

    def __len__(self) -> int:
        return len(self.places)

    def pages_of(self, name: str, begins: Places, ends: Places) -> NDArray[np.int64]:
        """The pages with some rows of an array, from each beginning to its end; rows beyond its end are not there."""
        one, step = self.listed[name], self.steps[name]
        ends = np.minimum(ends, one.shape[0])
        some = begins < ends
        firsts = begins[some] * one.row_bytes // step
        counts = (ends[some] * one.row_bytes - 1) // step + 1 - firsts
        runs = np.repeat(firsts - (np.cumsum(counts) - counts), counts)
        return self.firsts[name] + runs + np.arange(len(runs))

    def read(self, file: int, page: int) -> bytes:
        """The bytes of a page of an open file."""
        return os.pread(file, int(self.sizes[page]), int(self.places[page]))


def _step(one: Listed) -> int:
    """The bytes of an array's pages: whole rows if it is read here and there."""
    if one.read != AccessPattern.SCATTERED:
        return LARGE
    return max(SMALL // max(one.row_bytes, 1), 1) * max(one.row_bytes, 1)


def _at_first(one: Listed) -> int:
    """The row from which on an array is fetched before anything is searched."""
    if one.read == AccessPattern.WHOLE:
        return 0
    return one.nbytes // PAGE * PAGE // one.row_bytes if one.room > one.shape[0] else one.shape[0]


class PagedFile:
    """A sparse file of pages. `get` fetches those that are not there; `damaged` is called if it gives others."""

    def __init__(
        self,
        path: Path,
        file: int,
        listed: Mapping[str, Listed],
        digests: bytes,
        get: Get,
        damaged: Callable[[], object],
    ) -> None:
        self.path = path
        self.is_gone = False
        self.fetched = 0
        """Bytes that were fetched."""
        self._file = file
        finalize(self, os.close, file)  # an index goes when its last view does
        self._layout = Layout(listed)
        if len(digests) != DIGEST * len(self._layout):
            raise Damaged
        self._digests = digests
        self._get = get
        self._damaged = damaged
        self._present = np.zeros(len(self._layout), np.bool_)
        self._was_empty = os.fstat(file).st_blocks == 0
        self.is_complete = False
        """Whether nothing has to be fetched any more."""

    def map(self) -> Mapped:
        """The arrays, after fetching those that every search reads as a whole, and the last page of those that grow.

        A map is private: appending copies the last page, and what is fetched later does not reach the copy.
        """
        at_first = {name: _at_first(one) for name, one in self._layout.listed.items()}
        wanted = [self._layout.pages_of(name, np.array([begin]), np.array([2**62])) for name, begin in at_first.items()]
        self._bring(np.concatenate([np.empty(0, np.int64), *wanted]))
        return arrays_in(map_file(self._file), self._layout.listed, self.fetch)

    def fetch(self, names: Sequence[str], begins: Places, ends: Places) -> None:
        """Make sure that some rows of some arrays are there."""
        if self.is_complete:
            return
        pages = np.concatenate([self._layout.pages_of(name, begins, ends) for name in names])
        missing = pages[~self._present[pages]]
        if len(missing):
            self._bring(np.unique(missing))

    def fill(self) -> Iterator[None]:
        """Fetch everything, batch by batch."""
        for batch in self._batches(np.flatnonzero(~self._present)):
            self._bring_batch(batch)
            yield
        self.is_complete = True

    def _bring(self, pages: NDArray[np.int64]) -> None:
        first, *others = self._batches(pages)
        if not others:
            return self._bring_batch(first)
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for _ in threads.map(self._bring_batch, (first, *others)):
                pass

    def _batches(self, pages: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        ends = np.cumsum(self._layout.sizes[pages])
        return np.split(pages, np.flatnonzero(np.diff(ends // BATCH)) + 1)

    def _bring_batch(self, pages: NDArray[np.int64]) -> None:
        wanted: dict[bytes, list[int]] = {}
        for page in pages.tolist():
            digest = self._digests[DIGEST * page : DIGEST * (page + 1)]
            if self._was_empty or digest_of(self._layout.read(self._file, page)) != digest:
                wanted.setdefault(digest, []).append(page)
        if wanted:
            self._take(wanted)
        self._present[pages] = True

    def _take(self, wanted: dict[bytes, list[int]]) -> None:
        """Fetch pages by their digests and write them to their places."""
        for digest, data in self._get(list(wanted)):
            if digest_of(data) == digest:
                self.fetched += len(data)
                for page in wanted.pop(digest):
                    self._write(data, int(self._layout.places[page]))
            elif not self.is_gone:
                self.is_gone = True
                self._damaged()
        if wanted:
            self.is_gone = True
            raise Unfetched(
                "The index of the space was replaced while it was searched",
                remedy="Try again: the next search uses the newest one.",
            )

    def _write(self, data: bytes, place: int) -> None:
        try:
            while data:
                written = os.pwrite(self._file, data, place)
                data, place = data[written:], place + written
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be written ({error.strerror})",
                remedy="Free some space in the cache folder, or set XDG_CACHE_HOME to another.",
            ) from error
