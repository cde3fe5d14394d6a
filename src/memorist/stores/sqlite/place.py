"""The place of a file: what lies at its path, and whether that is still the file that was opened.

SQLite knows a file by its open descriptor, and its log by name. If the file is deleted, moved or replaced while it is
open, SQLite goes on writing where nobody reads, and may remove the log of whatever has taken its place.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from memorist.errors import InvalidInput, NotFound, StoreError, StoreMoved
from memorist.files import make_folder

SIDE_FILES = ("-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite keeps next to a database that is open or was not closed."""
INDEX_FILE = "-index"
"""Suffix of the file with the index of a database."""
LOG_FILES = SIDE_FILES[:2]
Identity = tuple[int, int] | None
"""The device and number of a file; None if there is none."""
SQLITE_HEADER = b"SQLite format 3\0"
_KINDS = ((stat.S_ISDIR, "folder"), (stat.S_ISFIFO, "pipe"), (stat.S_ISSOCK, "socket"))


def locate(path: str | os.PathLike[str], *, create: bool) -> Path:
    """The file of a path, links followed; with `create` its folder is made, without it the file must exist."""
    text = os.fspath(path)
    if text in ("", ":memory:"):
        raise InvalidInput(
            f"{text!r} is not the path of a file",
            remedy="Give a file path, or use memorist.stores.MemoryStore to keep nothing on disk.",
        )
    if "\0" in text:
        raise InvalidInput("a path cannot contain a NUL character", remedy="Give the path of a file.")
    file = _followed(Path(text))
    if create:
        make_folder(file.parent)
    elif not file.exists():
        raise NotFound(f"there is no store at {file}", remedy="Check the path, or let it be created.")
    _check_kind(file)
    return file


def _followed(path: Path) -> Path:
    """The real path, so that two names of a file are one database."""
    try:
        real = path.resolve()
        dangling = path.is_symlink() and not real.exists()
    except (OSError, RuntimeError) as error:  # a loop of links, or a folder that may not be entered
        raise StoreError(f"{path} cannot be followed ({error})", remedy="Check the path and its links.") from error
    if dangling:
        raise StoreError(
            f"{path} is a link to {real}, which does not exist",
            remedy="Mount or restore what it points at, or remove the link to start a new memory.",
        )
    return real


def _check_kind(file: Path) -> None:
    """Refuse what is there but can hold no store."""
    try:
        found = file.stat()
        beginning = _beginning(file) if stat.S_ISREG(found.st_mode) else b""
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(
            f"{file} may not be used by this user ({error.strerror})",
            remedy="Give this user permission to read and write the file and its folder.",
        ) from error
    if not stat.S_ISREG(found.st_mode):
        kind = next((name for test, name in _KINDS if test(found.st_mode)), "device")
        raise StoreError(f"{file} is a {kind}, not a file", remedy="Give the path of a file.")
    if not beginning:
        raise StoreError(
            f"{file} is empty: if it was a memory, its content is lost",
            remedy="Restore a backup, or remove the file to start a new memory.",
        )
    if beginning != SQLITE_HEADER:
        raise StoreError(
            f"{file} is not a Memorist store",
            remedy="Give the path of a store, or of a file that does not exist yet.",
        )


def _beginning(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(len(SQLITE_HEADER))


def identity(path: Path, suffix: str = "") -> Identity:
    """The file that a path leads to now."""
    try:
        found = os.stat(f"{path}{suffix}")
    except OSError:
        return None
    return found.st_dev, found.st_ino


def log_identity(path: Path) -> tuple[Identity, ...]:
    """The files of a database's log."""
    return tuple(identity(path, suffix) for suffix in LOG_FILES)


def moved(path: Path, what: str) -> StoreMoved:
    """The error for a file that is no longer the one that was opened."""
    return StoreMoved(
        f"{what} {path} was deleted, moved or replaced while it was open. Nothing was written",
        remedy="Close this memory and open it again; restore a backup if the file is gone.",
    )
