"""Replacing a file by a backup, without losing the old content."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import apsw

from memorist.errors import NotFound, SpaceMismatch, StoreBusy
from memorist.stores.sqlite.connection import PATIENCE, Database, translated
from memorist.stores.sqlite.opening import damaged, make_folder
from memorist.stores.sqlite.store import SqliteStore

SIDE_FILES = ("-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite keeps next to a database that is open or was not closed."""
NOTES = ".notes"
"""Suffix of the folder of notes that belongs to a file."""


def restore(
    backup: Path, to: Path, *, space: str | None = None, now: datetime | None = None, notes: Path | None = None
) -> list[Path]:
    """Replace a file by a backup; the old files are moved aside, and their new paths are returned.

    The backup is copied and checked first; nothing is changed until the copy has passed the checks. Its notes are
    copied next to the file, or into the folder `notes`, where only notes that the backup also has are moved aside.
    """
    if not backup.is_file():
        raise NotFound(f"there is no backup at {backup}", remedy="Check the path.")
    to = to.resolve()
    part = to.with_name(f".{to.name}.restoring")
    make_folder(to.parent)
    _discard(part)
    try:
        with translated(backup), closing(Database(backup, create=False)) as source:
            source.copy_to(part)
        _check(part, backup, space)
        moment = now or datetime.now(UTC)
        aside = set_aside(to, moment)
        os.replace(part, to)
        aside += _copy_notes(backup.with_name(backup.name + NOTES), notes or to.with_name(to.name + NOTES), moment)
    finally:
        _discard(part)
    return aside


def set_aside(file: Path, now: datetime) -> list[Path]:
    """Rename a file, its SQLite side files and its notes to names with the time; nothing is overwritten."""
    if file.exists():
        _release(file)
    present = [one for one in _family(file) if one.exists()]
    names = _names_before(file, now)
    base = next(name for name in names if not any(one.exists() for one in _family(file.with_name(name))))
    moved = [one.with_name(base + one.name.removeprefix(file.name)) for one in present]
    for one, place in zip(present, moved, strict=True):
        one.rename(place)
    return moved


def _names_before(path: Path, now: datetime) -> Iterator[str]:
    """Candidate names with the time for a path that is moved aside, in order of preference."""
    return (f"{path.name}.before-{now:%Y%m%dT%H%M%SZ}{again}" for again in ("", *(f"-{n}" for n in range(2, 1000))))


def _family(file: Path) -> list[Path]:
    return [file.with_name(file.name + ending) for ending in ("", *SIDE_FILES, NOTES)]


def _release(file: Path) -> None:
    """Check that no one has the file open: only then does SQLite remove its log. Unreadable files are left alone."""
    try:
        with closing(Database(file, create=False)) as db:
            db.wait_for(PATIENCE)
            db.execute("PRAGMA journal_mode = DELETE")
    except (apsw.BusyError, apsw.LockedError) as error:
        raise StoreBusy(
            f"{file} is in use by another process", remedy="Close whatever has it open, then restore again."
        ) from error
    except apsw.Error:
        return


def _check(part: Path, backup: Path, space: str | None) -> None:
    """Open the copy, which also migrates it, and check all of it."""
    store = SqliteStore.open(part, create=False)
    try:
        problems, found = store.integrity(), store.space
    finally:
        store.close()
    if problems:
        raise damaged(backup, problems)
    if space is not None and space != found:
        raise SpaceMismatch(
            f"{backup} holds the space {found!r}, not {space!r}", remedy=f"Restore it to a file named {found}.db."
        )


def _discard(part: Path) -> None:
    for ending in ("", *SIDE_FILES):
        part.with_name(part.name + ending).unlink(missing_ok=True)


def _copy_notes(saved: Path, folder: Path, now: datetime) -> list[Path]:
    """Copy notes into a folder; returns the new paths of the notes that were moved aside."""
    moved: list[Path] = []
    for one in sorted(saved.iterdir()) if saved.is_dir() else ():
        place = folder / one.name
        if place.exists():
            moved.append(next(to for name in _names_before(place, now) if not (to := place.with_name(name)).exists()))
            place.rename(moved[-1])
        shutil.copytree(one, place)
    return moved
