"""Replacing a file by a backup, without losing the old content."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import apsw

from memorist.errors import NotFound, SpaceMismatch, StoreBusy
from memorist.files import cache_folder, make_folder, make_private, mode_of, refusing, scratch, sync
from memorist.stores.sqlite.connection import PATIENCE, SqliteDatabase
from memorist.stores.sqlite.failures import translate_failures
from memorist.stores.sqlite.opening import damaged_file
from memorist.stores.sqlite.place import CACHE_FILES, SIDE_FILES, names_before
from memorist.stores.sqlite.store import SqliteStore

NOTES = ".notes"
"""Suffix of the folder of notes that belongs to a file."""


def restore(
    backup: Path, to: Path, *, space: str | None = None, now: datetime | None = None, notes: Path | None = None
) -> list[Path]:
    """Replace a file by a backup; the old files are moved aside, and their new paths are returned.

    The backup is copied and checked first; nothing is changed until the copy has passed the checks. Its notes are
    copied next to the file, or into the folder `notes`, where only notes that the backup also has are moved aside.
    """
    _refuse_missing(backup)
    to = to.resolve()
    make_folder(to.parent)
    moment = now or datetime.now(UTC)
    with refusing(to), scratch(to, home=to) as folder:
        part = folder / to.name
        _copy(backup, part)
        _check(part, backup, space)
        part.chmod(mode_of(to))
        sync(part)
        aside = _replace(to, part, moment)
        sync(to.parent)
        aside += copy_notes(backup, notes or to.with_name(to.name + NOTES), moment)
    return aside


@contextmanager
def check_copy(backup: Path) -> Generator[SqliteStore]:
    """A private copy of a backup that has passed the checks, migrated and open; it is gone afterwards."""
    _refuse_missing(backup)
    place = cache_folder() / "restore"
    make_folder(place.parent)
    with refusing(place), scratch(place) as folder:
        part = folder / backup.name
        _copy(backup, part)
        _check(part, backup, None)
        with closing(SqliteStore.open(part, create=False)) as store:
            yield store


def _refuse_missing(backup: Path) -> None:
    if not backup.is_file():
        raise NotFound(f"there is no backup at {backup}", remedy="Check the path.")


def _copy(backup: Path, part: Path) -> None:
    with translate_failures(backup), closing(SqliteDatabase(backup, create=False)) as source:
        source.copy_to(part)


def _replace(file: Path, part: Path, now: datetime) -> list[Path]:
    """Put a part in the place of a file, which gets a second name first: there is a whole file at any moment."""
    with _released(file):
        kept, moved = _names_aside(file, now)
        if file.exists():
            _second_name(file, kept)
        for one, place in moved.items():  # the log of a damaged file must not be applied to the new one
            one.rename(place)
        for suffix in CACHE_FILES:
            file.with_name(file.name + suffix).unlink(missing_ok=True)
        os.replace(part, file)
    return [kept, *moved.values()] if kept.exists() else list(moved.values())


def _second_name(file: Path, name: Path) -> None:
    try:
        name.hardlink_to(file)
    except OSError:  # a disk without hard links
        shutil.copy2(file, name)
        sync(name)


def _names_aside(file: Path, now: datetime) -> tuple[Path, dict[Path, Path]]:
    """A free name with the time for a file, and those for what belongs to it; nothing is overwritten."""
    names = map(file.with_name, names_before(file, now))
    kept = next(name for name in names if not any(path.exists() for path in _family(name)))
    present = [path for path in _family(file)[1:] if path.exists()]
    return kept, {path: path.with_name(kept.name + path.name.removeprefix(file.name)) for path in present}


def _family(file: Path) -> list[Path]:
    return [file.with_name(file.name + ending) for ending in ("", *SIDE_FILES, NOTES)]


@contextmanager
def _released(file: Path) -> Generator[None]:
    """Keep everyone else out of a file, which SQLite grants only if no one has it open; a damaged file has no lock."""
    if not file.exists():
        yield
        return
    with closing(SqliteDatabase(file, create=False)) as db:
        db.wait_for(PATIENCE)
        try:
            db.execute("PRAGMA journal_mode = DELETE")
            db.execute("BEGIN EXCLUSIVE")
        except (apsw.BusyError, apsw.LockedError) as error:
            raise StoreBusy(
                f"{file} is in use by another process", remedy="Close whatever has it open, then restore again."
            ) from error
        except apsw.Error:
            pass
        yield


def _check(part: Path, backup: Path, space: str | None) -> None:
    """Open the copy, which also migrates it, and check all of it."""
    store = SqliteStore.open(part, create=False)
    try:
        problems, found = store.integrity(), store.space
    finally:
        store.close()
    if problems:
        raise damaged_file(backup, problems)
    if space is not None and space != found:
        raise SpaceMismatch(
            f"{backup} holds the space {found!r}, not {space!r}", remedy=f"Restore it to a file named {found}.db."
        )


def copy_notes(backup: Path, folder: Path, now: datetime | None = None) -> list[Path]:
    """Copy the notes of a backup into a folder; returns the new paths of the notes that were moved aside."""
    saved, now, moved = backup.with_name(backup.name + NOTES), now or datetime.now(UTC), list[Path]()
    for path in sorted(saved.iterdir()) if saved.is_dir() else ():
        place = folder / path.name
        if place.exists():
            moved.append(next(to for name in names_before(place, now) if not (to := place.with_name(name)).exists()))
            place.rename(moved[-1])
        make_folder(folder)
        shutil.copytree(path, place)
        make_private(place)
    return moved
