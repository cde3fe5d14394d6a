"""The index file: the arrays of an index as of one moment, kept beside the database for every process to map.

It is a cache that can always be built again. The database lists the tokens of the files that were made from it, so a
file is used only if it belongs to this database and to its present history: a restored backup lists others. What is
erased takes the file with it, inside the same transaction.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from memorist.errors import Error
from memorist.files import PRIVATE, make_folder, refusing, scratch, sweep_folder, sync
from memorist.stores.index.arrays import Chosen, Damaged, Written, map_parts, read_about, write_parts

if TYPE_CHECKING:
    from memorist.stores.index import Index, IndexView

FORMAT = 5
"""Raised whenever the arrays, or the way in which texts are analysed, change."""
USAGE_FILE = "-usage"
"""Suffix of the file in which uses wait to be counted, beside the database, or beside the index file if it is alone."""
COUNTING_FILE = "-counting"
"""Suffix of that file from when its uses are counted until this is committed."""
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
TOKENS_KEPT = 8
"""Several machines may each have a file of the same space."""


class Counters(NamedTuple):
    """The content counters of a space: a higher `seq` adds to a cache, a new `epoch` invalidates it."""

    epoch: int
    seq: int


Publish = Callable[[str, Counters, Callable[[], object]], bool]
"""Puts a file in place and lists its token, in one write; False if something was erased since these counters."""


class IndexFile:
    """The place of the file. `home` is the database beside it, whose mode it takes over; without one it is private.

    `tokens` are those that the database lists.
    """

    def __init__(
        self, path: Path, *, tokens: Callable[[], Collection[str]], publish: Publish, home: Path | None = None
    ) -> None:
        self.path = path
        self._tokens = tokens
        self._publish = publish
        self._home = home

    def open(self) -> tuple[Index, Counters] | None:
        """The index in the file and the counters of its state; a file that is damaged or not listed is removed."""
        from memorist.stores.index import Index

        with self.opened() as file:
            try:
                if file is None:
                    return None
                about = read_about(file)
                if about["made_by"] != made_by() or about["token"] not in self._tokens():
                    raise Damaged
                return Index(map_parts(file, about["parts"])), Counters(*about["at"])
            except (Damaged, ValueError, LookupError, TypeError, AttributeError):
                self._discard()
                return None
            except OSError:  # it cannot be read or mapped
                return None

    @contextmanager
    def opened(self) -> Generator[int | None]:
        """The open file; None if there is none, or others may have written it."""
        try:
            file = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            yield None
            return
        try:
            yield file if self.is_ours(file) else None
        finally:
            os.close(file)

    def take(self, view: IndexView, at: Counters) -> bool:
        """Write the index of a view and put it in place; False if it cannot be written, or was overtaken."""
        token = os.urandom(16).hex()
        about: dict[str, Any] = {"made_by": made_by(), "token": token, "at": at}
        with suppress(OSError, Error):
            make_folder(self.path.parent)
            parts = view.parts()
            if shutil.disk_usage(self.path.parent).free < 2 * _size(parts):
                return False
            with scratch(self.path, home=self._home) as folder:
                part = folder / self.path.name
                write_parts(part, about, parts)
                part.chmod(self.mode())
                sync(part)
                return self.put(part, token, at)
        return False

    def put(self, part: Path, token: str, at: Counters) -> bool:
        """Put a file in place; False if something was erased since it was read."""
        return self._publish(token, at, lambda: part.replace(self.path))

    def remove(self) -> None:
        """Remove the file, and what a killed process left of one, because they may hold what is erased."""
        if self._home is None:  # beside a database, `scrub` sweeps
            sweep_folder(self.path.parent)
        if self.exists():
            with refusing(self.path, "Give this user permission to write the folder."):
                self.path.unlink(missing_ok=True)

    def drop_unlisted(self) -> None:
        """Remove the file if the database does not list it: something was erased elsewhere."""
        with suppress(OSError, Damaged), self.path.open("rb") as file:
            if read_about(file.fileno()).get("token") not in self._tokens():
                self._discard()

    @property
    def is_beside_database(self) -> bool:
        """Whether everybody who opens the database finds the file."""
        return self._home is not None

    @property
    def usage(self) -> tuple[Path, Path]:
        """The places of the file in which uses wait, and of the one whose uses are being counted."""
        return usage_files(self._home or self.path)

    def exists(self) -> bool:
        """Whether there is a file; a folder that cannot be read has none."""
        return os.path.lexists(self.path)

    def _discard(self) -> None:
        with suppress(OSError):
            self.path.unlink(missing_ok=True)

    def is_ours(self, file: int) -> bool:
        """Whether only those who may write the database could have written an open file."""
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_mode & OTHERS_MAY_WRITE & ~self.mode():
            return False
        if found.st_uid == os.getuid() or self._home is None:
            return found.st_uid == os.getuid()
        home = self._home.stat()
        return found.st_uid == home.st_uid or bool(home.st_mode & stat.S_IWGRP and found.st_gid == home.st_gid)

    def mode(self) -> int:
        """The mode of the file: that of the database beside it."""
        return PRIVATE if self._home is None else stat.S_IMODE(self._home.stat().st_mode)


def usage_files(beside: Path) -> tuple[Path, Path]:
    """The places of the files with uses, beside a database or an index file."""
    return beside.with_name(beside.name + USAGE_FILE), beside.with_name(beside.name + COUNTING_FILE)


def made_by() -> list[object]:
    """Everything but the rows that the arrays depend on."""
    import Stemmer

    import memorist

    return [FORMAT, memorist.__version__, cast("Any", Stemmer).version()]


def _size(parts: Written) -> int:
    """At most this many bytes."""
    return sum(part.array.nbytes if isinstance(part, Chosen) else part.nbytes for part in parts.values())
