"""What the workers of a server share: where spaces are found, who may use them, and what was answered.

Each is a port with two implementations: in files of a folder, and in tables of a PostgreSQL database.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from memorist.config import default_db
from memorist.engine.open import locate, needs_postgres, on_server
from memorist.errors import InvalidInput
from memorist.ports import Clock
from memorist_server.access.files import KEYS_FILE, FileAnswers, FileCatalogue, FolderCatalogue
from memorist_server.access.idempotency import Answers
from memorist_server.access.keys import KeyRing


class Catalogue(Protocol):
    """Where spaces are found. Safe for several threads."""

    @property
    def url(self) -> str:
        """The URL that opens a space, given its name."""
        ...

    @property
    def kind(self) -> str:
        """What it is called: a folder or a database."""
        ...

    @property
    def shown(self) -> str:
        """The place as people may read it, without a password."""
        ...

    @property
    def transit(self) -> Path:
        """A folder for files that are received or sent."""
        ...

    def prepare(self) -> list[str]:
        """Create or migrate what is missing, one process at a time; returns the migrations that were applied."""
        ...

    def names(self) -> list[str]:
        """The names of all spaces, sorted."""
        ...

    def has(self, name: str) -> bool:
        """Whether a space exists; an invalid name is refused."""
        ...

    def check(self) -> None:
        """Raise an error if spaces cannot be reached."""
        ...

    def close(self) -> None:
        """Release files and connections; safe to call twice."""
        ...


@dataclass(frozen=True, slots=True)
class Home:
    """All that the workers of a server share."""

    catalogue: Catalogue
    keys: KeyRing
    answers: Answers

    def close(self) -> None:
        """Release files and connections."""
        for part in (self.answers, self.keys, self.catalogue):
            part.close()


def catalogue_of(db: str | None, only: str | None = None) -> Catalogue:
    """Where the spaces of a folder or a database are; a single file needs the name of its `only` space."""
    if db is not None and on_server(db):
        with needs_postgres():
            from memorist_server.access.database import DatabaseCatalogue, SharedTables

        return DatabaseCatalogue(db, SharedTables(db))
    path, in_folder = (Path(), False) if db == ":memory:" else locate(db, None)
    if not in_folder and only is not None and db != ":memory:":
        return FileCatalogue(path, only)
    if not in_folder:
        raise InvalidInput(
            "The database to serve is not a folder of spaces",
            remedy="Name a folder, with a slash at the end, such as memories/, or a PostgreSQL URL.",
        )
    return FolderCatalogue(path.parent)


def home_of(db: str | None, only: str | None = None) -> Home:
    """Everything that is shared at a folder, a database or a file; `prepare` comes before its use."""
    catalogue = catalogue_of(db, only)
    if db is not None and on_server(db):
        from memorist_server.access.database import DatabaseAnswers, SharedTables

        return Home(catalogue, key_ring(db), DatabaseAnswers(SharedTables(db)))
    return Home(catalogue, key_ring(db), FileAnswers(catalogue.transit))


def key_ring(db: str | None, *, clock: Clock | None = None) -> KeyRing:
    """The keys for a database URL: in that database, or in a file beside the spaces."""
    if db is not None and on_server(db):
        with needs_postgres():
            from memorist_server.access.database import DatabaseKeys, SharedTables

        return KeyRing(DatabaseKeys(db, SharedTables(db)), clock=clock)
    return KeyRing(keys_file(db), clock=clock)


def keys_file(db: str | None) -> Path:
    """The file with the keys: beside the spaces, or in the user's folder if those are in memory.

    A path without a suffix that does not exist yet counts as a folder, as it does for `memorist serve`.
    """
    if db == ":memory:":
        return default_db() / KEYS_FILE
    path, in_folder = locate(db, None)
    to_be_folder = not (in_folder or path.suffix or path.exists())
    return (path if to_be_folder else path.parent) / KEYS_FILE
