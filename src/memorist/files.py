"""Writing files: for this user only, complete or not at all, and swept up after a kill.

A file that is being written lies in a folder of its own, which its writer locks. The lock ends with the process, so
whoever gets it may remove the folder. A database's unfinished files lie in one hidden folder beside it, or on another
disk, with a note in that hidden folder of where they are.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from memorist.errors import InvalidInput, StoreError

PRIVATE, PRIVATE_FOLDER = 0o600, 0o700
PART = ".part-"
"""Precedes the random end of the name of a folder with an unfinished file."""


def make_folder(folder: Path) -> None:
    """Create a folder for this user only, if it does not exist; its parents are created as usual."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder {folder} cannot be created ({error.strerror})",
            remedy="Choose another folder, or give this user permission to write there.",
        ) from error


def cache_folder() -> Path:
    """The user's folder for what can be made again."""
    from platformdirs import user_cache_path

    return user_cache_path("memorist", appauthor=False)


def make_file(path: Path) -> None:
    """Create an empty file for this user only, with its folder, if it does not exist."""
    make_folder(path.parent)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
    except FileExistsError:
        return
    except OSError as error:
        raise StoreError(
            f"{path} cannot be created ({error.strerror})", remedy="Give this user permission to write its folder."
        ) from error


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """Refuse a path that is a folder, or an existing file unless `overwrite` is set."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder", remedy="Pass the path of a file in it.")
    if os.path.lexists(path) and not overwrite:
        raise InvalidInput(f"{path} exists already", remedy="Choose another name, or allow it to be overwritten.")


@contextmanager
def replacing(
    path: Path, *, home: Path | None = None, remedy: str = "Choose another folder, or free some space."
) -> Generator[Path]:
    """Yield the name of a temporary file, which replaces `path` atomically and durably if the block succeeds.

    The file is private, unless it replaces one: then it takes over its mode. `home` is the database that it belongs to.
    """
    make_folder(path.parent)
    with refusing(path, remedy), scratch(path, home=home) as folder:
        part = folder / path.name
        yield part
        part.chmod(mode_of(path))
        sync(part)
        part.replace(path)
        sync(path.parent)


@contextmanager
def refusing(path: Path, remedy: str = "Choose another folder, or free some space.") -> Generator[None]:
    """Raise our error for a system error that keeps a file from being written."""
    try:
        yield
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror})", remedy=remedy) from error


def write_text(path: Path, text: str, *, home: Path | None = None, remedy: str = "Free some space.") -> None:
    """Write a text file atomically and durably, replacing an existing one."""
    with replacing(path, home=home, remedy=remedy) as part:
        part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def scratch(near: Path, *, home: Path | None = None) -> Generator[Path]:
    """A private folder on the disk of `near`, which is removed afterwards."""
    made = Scratch(near, home=home)
    try:
        yield made.folder
    finally:
        made.close()


@contextmanager
def alone(folder: Path) -> Generator[None]:
    """Let no other process that asks for the same be in its block meanwhile; some network file systems cannot."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class Scratch:
    """A private folder on the disk of `near`, until it is closed.

    After a kill, `sweep(home)` removes it; without a home, the next one in the same place does.
    """

    def __init__(self, near: Path, *, home: Path | None = None) -> None:
        if home is None:
            sweep_folder(near.parent)
        shop = None if home is None else _workshop(home)
        local = shop is not None and near.parent.stat().st_dev == shop.parent.stat().st_dev
        parent, prefix = (shop, "") if shop and local else (near.parent, f".{near.name}{PART}")
        self.folder, self._lock = _locked_folder(parent, prefix)
        self._shop = shop
        self._note = None if shop is None or local else _noted(shop, self.folder)

    def close(self) -> None:
        """Remove it with everything in it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)
        if self._note is not None:
            self._note.unlink(missing_ok=True)
        if self._shop is not None:
            _close_workshop(self._shop)


def sweep(home: Path) -> None:
    """Remove the unfinished files of a database whose writers were killed; those of living writers stay."""
    shop = _workshop(home)
    with suppress(OSError):
        for path in shop.iterdir() if shop.is_dir() else ():
            if path.is_dir():
                _remove_abandoned(path)
            elif _remove_abandoned(_noted_place(path)):
                path.unlink(missing_ok=True)
        _close_workshop(shop)


def sweep_folder(folder: Path) -> None:
    """Remove the unfinished files that killed processes left in a folder, also those of earlier versions."""
    with suppress(OSError):
        for path in folder.iterdir():
            name, _, end = path.name.rpartition(PART)
            if name.startswith(".") and (path.is_dir() or not _runs(end.partition("-")[0])):
                _remove_abandoned(path)


def _workshop(home: Path) -> Path:
    return home.with_name(f".{home.name}.parts")


def _close_workshop(shop: Path) -> None:
    with suppress(OSError):  # it is not empty, or another process was faster
        shop.rmdir()


def _locked_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """A new private folder, and the descriptor that holds its lock."""
    while True:
        try:
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        except FileNotFoundError:  # another process closed the workshop
            make_folder(parent)
            continue
        if (lock := _lock(folder)) is not None:
            return folder, lock


def _lock(place: Path, *, needed: bool = False) -> int | None:
    """A descriptor with the lock of a folder or file; None if another process has it, or removed the folder.

    Some network file systems have no locks: there a writer goes on without, and `needed` refuses.
    """
    with suppress(FileNotFoundError):
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            free = True
        except BlockingIOError:
            free = False
        except OSError:
            free = not needed
        if free and place.exists() and os.path.samestat(place.stat(), os.fstat(descriptor)):
            return descriptor
        os.close(descriptor)
    return None


def _noted(shop: Path, folder: Path) -> Path:
    """Note in the workshop where a folder on another disk is."""
    while True:
        try:
            descriptor, name = tempfile.mkstemp(dir=shop)
        except FileNotFoundError:
            make_folder(shop)
            continue
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.fsencode(folder.absolute()))
        return Path(name)


def _noted_place(note: Path) -> Path | None:
    """The folder that a note of ours names; None if it names anything else."""
    place = Path(os.fsdecode(note.read_bytes()))
    return place if place.name.startswith(".") and PART in place.name and note.stat().st_uid == os.getuid() else None


def _remove_abandoned(place: Path | None) -> bool:
    """Remove a folder or file of ours unless its writer lives; returns whether it is gone."""
    if place is None or not os.path.lexists(place):
        return True
    if place.is_symlink() or place.stat().st_uid != os.getuid() or (lock := _lock(place, needed=True)) is None:
        return False
    try:
        if place.is_dir():
            shutil.rmtree(place, ignore_errors=True)
        else:
            place.unlink(missing_ok=True)
    finally:
        os.close(lock)
    return not place.exists()


def _runs(pid: str) -> bool:
    """Whether a process with this number runs; True if the text is no number."""
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except (ValueError, PermissionError):
        return True
    return True


def mode_of(path: Path) -> int:
    """The mode that a file at this path gets: that of the file it replaces, or private."""
    try:
        there = path.lstat()
    except FileNotFoundError:
        return PRIVATE
    return stat.S_IMODE(there.st_mode) if stat.S_ISREG(there.st_mode) else PRIVATE


def make_private(folder: Path) -> None:
    """Withdraw a folder and everything in it from other users."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(PRIVATE_FOLDER if path.is_dir() else PRIVATE)
