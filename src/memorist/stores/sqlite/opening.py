"""Opening a file: finding it, bringing its tables up to date, and reading whose space it is."""

from __future__ import annotations

import os
from pathlib import Path

from memorist.errors import InvalidInput, NotFound, SpaceMismatch, StoreError
from memorist.stores.sqlite.connection import Connections, use_write_ahead_log
from memorist.stores.sqlite.database import Database
from memorist.stores.sqlite.migrations import migrate, pending


def located(path: str | os.PathLike[str], *, create: bool) -> Path:
    """The file a path names; with `create` its folder is made, without it the file must be there."""
    text = os.fspath(path)
    if text in ("", ":memory:"):
        raise InvalidInput(
            f"{text!r} is not a path of a file",
            remedy="Give a file path, or use memorist.stores.memory.MemoryStore to keep nothing on disk.",
        )
    if "\0" in text:
        raise InvalidInput("a path cannot contain a NUL character", remedy="Give the path of a file.")
    file = Path(text).resolve()
    if create:
        _make_folder(file.parent)
    elif not file.exists():
        raise NotFound(f"there is no store at {file}", remedy="Check the path, or let it be created.")
    return file


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder {folder} cannot be created ({error.strerror})",
            remedy="Choose another folder, or give this user permission to write there.",
        ) from error


def prepare(connections: Connections, *, asked: str | None) -> str:
    """Bring the file up to date and return the name of its space."""
    connections.create()
    with connections.reading() as db:
        if pending(db, connections.path):
            use_write_ahead_log(db)
            with connections.writing():
                migrate(db, connections.path)
                _name(db, asked or connections.path.stem)
        found = str(db.value("SELECT name FROM space"))
    if asked is not None and asked != found:
        raise SpaceMismatch(
            f"{connections.path} holds the space {found!r}, not {asked!r}",
            remedy=f"Open it as {found!r}, or keep {asked!r} in a file of its own.",
        )
    return found


def _name(db: Database, space: str) -> None:
    db.execute("INSERT INTO space SELECT ?, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM space)", (space,))
