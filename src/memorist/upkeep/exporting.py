"""Everything a memory holds as lines of JSON: to look at, to keep, to move to another store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from memorist.errors import InvalidInput, StoreError
from memorist.ports import Kept, Progress, Record, Store, StoreStats
from memorist.upkeep.lines import Head, head_of, head_to_data, record_to_data, to_line

PROGRESS_EVERY = 256


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export holds: its first line, and how many lines there are."""

    head: Head
    lines: int


def export(
    store: Store, to: str | os.PathLike[str] | IO[bytes], *, overwrite: bool = False, progress: Progress | None = None
) -> Exported:
    """Write all of a store as of one moment; a file appears whole or not at all."""
    if not isinstance(to, str | os.PathLike):
        return _write(store, to, progress)
    path = Path(to)
    refuse_existing(path, overwrite=overwrite)
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        with part.open("wb") as file:
            exported = _write(store, file, progress)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror})", remedy="Choose another place, or free some space."
        ) from error
    finally:
        part.unlink(missing_ok=True)
    return exported


def refuse_existing(path: Path, *, overwrite: bool) -> None:
    """Refuse a path that is a folder, or a file that may not be overwritten."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder", remedy="Give the path of a file in it.")
    if path.exists() and not overwrite:
        raise InvalidInput(f"{path} is there already", remedy="Choose another name, or allow it to be overwritten.")


def _write(store: Store, to: IO[bytes], progress: Progress | None) -> Exported:
    with closing(store.records()) as records:
        head = head_of(cast("StoreStats", next(records)))
        to.write(to_line(head_to_data(head)))
        lines, told = 1, 0
        for record in cast("Iterator[Record]", records):
            to.write(to_line(record_to_data(record)))
            lines += 1
            told += isinstance(record, Kept)
            if told == PROGRESS_EVERY:
                told = _tell(progress, told)
        _tell(progress, told)
    return Exported(head, lines)


def _tell(progress: Progress | None, count: int) -> int:
    if progress is not None and count:
        progress(count)
    return 0
