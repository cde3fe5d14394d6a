"""A copy of a memory while it is in use: its file, and the notes that belong to it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from memorist.errors import InvalidInput, StoreError
from memorist.ports import Store
from memorist.upkeep.consolidate.notes import PERIODS
from memorist.upkeep.transfer import refuse_existing

NOTES = ".notes"
"""Ending of the folder of notes that belongs to a file."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made and checked."""

    path: Path
    bytes: int
    notes: int


def backup(
    store: Store,
    to: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    source: Path | None = None,
    notes: Path | None = None,
) -> Backup:
    """Copy a store as of one moment; the copy appears whole and checked, or not at all.

    `source` is its file, `notes` the folder of its notes if not beside it; the copy's notes lie beside the copy.
    """
    path = Path(to).absolute()
    refuse_existing(path, overwrite=overwrite)
    if path.with_name(f"{path.name}-wal").exists() or (source is not None and path.exists() and path.samefile(source)):
        raise InvalidInput(f"{path} is a memory in use", remedy="Choose another name for the backup.")
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        store.backup(part)
        _flush(part)
        part.replace(path)
        folder = notes or (source and _notes_beside(source))
        copied = 0 if folder is None else _copy_notes(folder, _notes_beside(path))
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror})", remedy="Choose another place, or free some space."
        ) from error
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            part.with_name(part.name + ending).unlink(missing_ok=True)
    return Backup(path, path.stat().st_size, copied)


def _flush(file: Path) -> None:
    with file.open("rb") as opened:
        os.fsync(opened.fileno())


def _notes_beside(file: Path) -> Path:
    return file.with_name(file.name + NOTES)


def _copy_notes(notes: Path, target: Path) -> int:
    """Copy notes in place of those of an earlier backup; returns how many files there are.

    Only the folders of periods are ours: a folder that somebody chose may hold anything else.
    """
    ours = [notes / kind for kind in PERIODS if (notes / kind).is_dir()]
    if not ours:
        return 0
    part = target.with_name(f".{target.name}.part-{os.getpid()}")
    for one in ours:
        shutil.copytree(one, part / one.name)
    if target.exists():
        shutil.rmtree(target)
    part.rename(target)
    return sum(one.is_file() for one in target.rglob("*"))
