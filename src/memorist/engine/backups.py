"""Backups of spaces that are not files: records are copied into a file, and from it into an empty space."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import cast

from memorist.errors import InvalidInput, StoreError
from memorist.ports import Record, Store
from memorist.upkeep.export_format import record_to_data, to_line
from memorist.upkeep.transfer import move


def file_copy(store: Store) -> Callable[[Path], object]:
    """Writes a store as of one moment to a new file, and verifies it: as its own file, or record by record."""
    return getattr(store, "backup", None) or partial(_copy_records, store)


def _copy_records(store: Store, path: Path) -> None:
    from memorist.stores.sqlite import SqliteStore

    with closing(SqliteStore.open(path, space=store.space)) as made:
        move(store, made)
        problems = made.integrity()
    if problems:
        raise StoreError(f"The backup is damaged. {problems[0]}", remedy="Free some space, and back up again.")


def fill_from(saved: Store, store: Store) -> None:
    """Copy a backup into a space that is empty, or that holds a part of this backup, and verify that both agree."""
    there = set(_digests(store))
    if there and not there <= set(_digests(saved)):
        raise InvalidInput(
            f"The space {store.space!r} has memories of its own",
            remedy="Restore to another space, or delete this one first with `memorist db delete`.",
        )
    move(saved, store)


def _digests(store: Store) -> Iterator[bytes]:
    """A digest of every record."""
    with closing(store.records()) as records:
        next(records)
        for record in cast("Iterator[Record]", records):
            yield hashlib.blake2b(to_line(record_to_data(record)), digest_size=16).digest()
