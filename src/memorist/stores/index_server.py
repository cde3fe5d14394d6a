"""The index in the server: the bytes of an index file as pages in the database, for machines without the file.

A process that wrote the index file of a large space publishes its pages. One without a file maps a sparse file of the
same layout, fetches what its searches touch, and meanwhile the rest; then that is the index file of its machine. When
something is erased, the same transaction removes the lists of pages; the pages go right after.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from weakref import WeakSet

from memorist.errors import Error
from memorist.files import PRIVATE, make_folder, refusing, sync
from memorist.ports.notices import Notice, log
from memorist.stores.index.arrays import Damaged, Listed, finish, read_about
from memorist.stores.index.paging import CAN_MAP, Layout, PagedFile, digest_of
from memorist.stores.index_file import Counters, IndexFile, made_by

if TYPE_CHECKING:
    from memorist.stores.index import Index

FEWEST = 50_000
"""The memories from which the index of a space is published."""
SPARSE = ".pages"
"""The end of the name of a sparse file."""
PACE = 3
"""After each batch, fetching the rest of a file rests for this many times as long."""


class IndexManifest(NamedTuple):
    """A published index: the token, counters and rows of its file, the file's list of arrays, the pages' digests."""

    token: str
    at: Counters
    rows: int
    listing: bytes
    digests: bytes


class PageStore(Protocol):
    """Where pages are kept."""

    def newest(self) -> IndexManifest | None:
        """The index that was published last, unless something was erased since."""
        ...

    def get(self, digests: Sequence[bytes]) -> Iterable[tuple[bytes, bytes]]:
        """Pages by their digests; those that are gone are left out."""
        ...

    def publish(self, manifest: IndexManifest, read: Callable[[int], bytes]) -> bool:
        """Keep the pages that are missing, and then the manifest; False if something was erased meanwhile.

        `read` gives the bytes of a page by its number.
        """
        ...

    def clear(self) -> None:
        """Remove all that was published."""
        ...


class Served(NamedTuple):
    """A published index, and the sparse file that it is fetched into."""

    manifest: IndexManifest
    file: PagedFile

    @property
    def at(self) -> Counters:
        """The counters of its state."""
        return self.manifest.at


class ServerIndex:
    """The index of a space in the server, and its sparse file beside the index file of this machine.

    It is published once the space has `fewest` memories.
    """

    def __init__(self, file: IndexFile, store: PageStore, space: str, fewest: int = FEWEST) -> None:
        self._file = file
        self._space = space
        self._in_use = WeakSet[PagedFile]()
        self._store = store
        self.fewest = fewest

    def open(self, epoch: int) -> tuple[Index, Served] | None:
        """The newest published index of an epoch; None if there is none that this version can read, or no room."""
        from memorist.stores.index import Index

        manifest = self._store.newest() if CAN_MAP else None
        if manifest is None or manifest.at.epoch != epoch:
            with suppress(Error):
                self.remove_sparse()
            return None
        try:
            about = json.loads(manifest.listing)
            if about["made_by"] != made_by():
                return None
            paged = self._sparse(manifest, _listed(about))
            if paged is None:
                return None
            self._in_use.add(paged)
            return Index(paged.map()), Served(manifest, paged)
        except (Damaged, ValueError, LookupError, TypeError, AttributeError):
            self._store.clear()
            return None

    def fill(self, served: Served, stop: Event) -> None:
        """Fetch the rest at an easy pace, and make it the index file of this machine; `stop` ends it early."""
        began = time.monotonic()
        for _ in served.file.fill():
            if stop.wait(PACE * (time.monotonic() - began)):
                return
            began = time.monotonic()
        newest = self._store.newest()
        if newest is None or newest.token != served.manifest.token:
            return
        listing, path = served.manifest.listing, served.file.path
        with suppress(OSError, Error):  # another process was faster, or something was erased
            with path.open("r+b") as file:
                finish(file, listing, os.fstat(file.fileno()).st_size - len(listing))
            sync(path)
            self._file.put(path, served.manifest.token, served.at)

    def fetch_all(self) -> None:
        """Fetch what the views of this process lack, because it is about to be removed."""
        for file in list(self._in_use):
            for _ in file.fill():
                pass

    def publish(self, is_stale: Callable[[int, int], bool]) -> None:
        """Publish the index file of this machine, unless what is published lacks few of its rows."""
        with self._file.opened() as file, suppress(Damaged):
            if file is None:
                return
            about, known = read_about(file), self._store.newest()
            layout, rows = Layout(_listed(about)), int(about["parts"]["ids/order"][1][0])
            lacking = rows if known is None or not _is_current(known, about) else rows - known.rows
            if rows < self.fewest or not is_stale(rows, lacking):
                return
            digests = b"".join(digest_of(layout.read(file, page)) for page in range(len(layout)))
            listing = json.dumps(about).encode()
            manifest = IndexManifest(about["token"], Counters(*about["at"]), rows, listing, digests)
            self._store.publish(manifest, lambda page: layout.read(file, page))

    def note_load(self, rows: int) -> None:
        """Note that a large space had to be loaded, because nothing was published."""
        if rows >= self.fewest:
            log(Notice("space_loaded", datetime.now(UTC), (self._space,), {"memories": rows}))

    def remove_sparse(self) -> None:
        """Remove the sparse files of this machine."""
        remove_sparse(self._file.path)

    def _sparse(self, manifest: IndexManifest, listed: dict[str, Listed]) -> PagedFile | None:
        path = self._file.path.with_name(f"{self._file.path.name}.{manifest.token}{SPARSE}")
        size = max(segment.end for segment in listed.values()) + len(manifest.listing)
        with suppress(OSError, Error):  # there is no cache folder
            make_folder(path.parent)
            remove_sparse(self._file.path, but=path)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
            if self._file.is_ours(file) and shutil.disk_usage(path.parent).free > size:
                os.truncate(file, size)
                return PagedFile(path, file, listed, manifest.digests, self._store.get, self._store.clear)
            os.close(file)
        return None


def remove_sparse(index_file: Path, but: Path | None = None) -> None:
    """Remove the sparse files beside the place of an index file, but one."""
    for path in index_file.parent.glob(f"{index_file.name}.*{SPARSE}"):
        if path != but:
            with refusing(path, "Give this user permission to write the folder."):
                path.unlink(missing_ok=True)


def _listed(about: dict[str, Any]) -> dict[str, Listed]:
    return {name: Listed(*one) for name, one in about["parts"].items()}


def _is_current(known: IndexManifest, about: dict[str, Any]) -> bool:
    """Whether a published index is of the version and epoch of a file."""
    with suppress(ValueError, LookupError, TypeError):
        return json.loads(known.listing)["made_by"] == about["made_by"] and known.at.epoch == about["at"][0]
    return False
