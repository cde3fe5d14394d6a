"""The place of a file: what lies at its path, and whether that is still the file that was opened.

SQLite knows a file by its open descriptor, and its log by name. If the file is deleted, moved or replaced while it is
open, SQLite goes on writing where nobody reads, and may remove the log of whatever has taken its place.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from secrets import token_hex

from memorist.errors import InvalidInput, NotFound, Remedy, StoreError, StoreMoved, VerbCall
from memorist.files import make_folder
from memorist.ports.notices import logger
from memorist.stores.index_file import COUNTING_FILE, USAGE_FILE

SIDE_FILES = ("-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite keeps next to a database that is open or was not closed."""
INDEX_FILE = "-index"
"""Suffix of the file with the index of a database."""
CACHE_FILES = (SIDE_FILES[1], INDEX_FILE, USAGE_FILE, COUNTING_FILE)
"""Suffixes of the files without which nothing is lost but time and a few counts."""
LOG_FILES = SIDE_FILES[:2]
FILE_MARK, LOG_MARK = "user.memorist.file", "user.memorist.log"
"""Extended attributes: a token of a file, and on its log the same token with the log's own number."""
Identity = tuple[int, int] | None
"""The device and number of a file; None if there is none."""
SQLITE_HEADER = b"SQLite format 3\0"
APPLICATION_ID = 0x5EC011EC
"""Marks a file as ours in its header, where `file` and SQLite's own tools read it."""
MOST_LOOKED_AT = 50
"""Files that are looked at for the one that was meant."""
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
        raise missing_database(file)
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


def _beginning(file: Path, length: int = len(SQLITE_HEADER)) -> bytes:
    with file.open("rb") as opened:
        return opened.read(length)


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


def mark_log(path: Path) -> None:
    """Note on a log whose it is, where the disk keeps such notes."""
    if hasattr(os, "setxattr"):
        with suppress(OSError):
            with suppress(FileExistsError):
                os.setxattr(path, FILE_MARK, token_hex(8).encode(), os.XATTR_CREATE)
            log = f"{path}{SIDE_FILES[0]}"
            os.setxattr(log, LOG_MARK, b"%d %s" % (os.stat(log).st_ino, os.getxattr(path, FILE_MARK)))


def has_log_of_another(path: Path) -> bool:
    """Whether the log that lies beside a file was left by another one, which this file has replaced.

    A log that was copied together with its file has another number than is noted on it; it belongs to the copy.
    """
    log = f"{path}{SIDE_FILES[0]}"
    if hasattr(os, "getxattr"):
        with suppress(OSError, ValueError):
            number, _, token = os.getxattr(log, LOG_MARK).partition(b" ")
            return int(number) == os.stat(log).st_ino and token != _token_of(path)
    return False


def _token_of(path: Path) -> bytes | None:
    try:
        return os.getxattr(path, FILE_MARK)
    except OSError as error:
        if error.errno != errno.ENODATA:
            raise
        return None


def file_moved(path: Path, what: str) -> StoreMoved:
    """The error for a file that is no longer the one that was opened."""
    return StoreMoved(
        f"{what} {path} was deleted, moved or replaced while it was open. Nothing was written",
        remedy="Close this memory and open it again; restore a backup if the file is gone.",
    )


def missing_database(file: Path) -> NotFound:
    """The error for a database that does not exist; its remedy names the file of the most similar name."""
    near = _nearest(file)
    hint = f"Did you mean {near}? " if near else "Check the path; "
    return NotFound(f"There is no memory at {file}", remedy=Remedy(hint, VerbCall("remember"), " begins a new one."))


def _nearest(file: Path) -> Path | None:
    """The database beside a path whose name is most similar; None if none is."""
    try:
        names = [path.name for path in file.parent.iterdir()]
        alike = map(file.with_name, get_close_matches(file.name, names, n=MOST_LOOKED_AT, cutoff=0))
        return next((path for path in alike if path.is_file() and _is_ours(path)), None)
    except OSError:
        return None


def _is_ours(file: Path) -> bool:
    """Whether the header of a file says that it is a store."""
    head = _beginning(file, 72)
    return head.startswith(SQLITE_HEADER) and head[68:] == APPLICATION_ID.to_bytes(4)


def names_before(path: Path, now: datetime) -> Iterator[str]:
    """Candidate names with the time for a path that is moved aside, in order of preference."""
    return (f"{path.name}.before-{now:%Y%m%dT%H%M%SZ}{again}" for again in ("", *(f"-{n}" for n in range(2, 1000))))


def clear(path: Path, now: datetime | None = None) -> None:
    """Take away what a database that is gone left behind; another one has its name, or is about to get it.

    SQLite would apply the log to the new file. A log may hold the only copy of what was written last, so it is moved
    aside and named in a warning; the other files are removed.
    """
    for suffix in CACHE_FILES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    for log in (path.with_name(path.name + suffix) for suffix in SIDE_FILES if suffix not in CACHE_FILES):
        if not os.path.lexists(log) or not log.lstat().st_size:
            log.unlink(missing_ok=True)
            continue
        names = (name + log.name.removeprefix(path.name) for name in names_before(path, now or datetime.now(UTC)))
        aside = next(one for name in names if not os.path.lexists(one := path.with_name(name)))
        log.rename(aside)
        logger.warning(
            "%s is the log of a database that is gone, and was not applied to the one in its place. It is now %s: "
            "remove it if you deleted the database, since it may hold what you deleted.",
            log,
            aside.name,
        )
