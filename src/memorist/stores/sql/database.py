"""A database as the shared code uses it, its migrations, and its errors in our words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from memorist.errors import Error, NewerStore
from memorist.stores.rows import Row

Values = Mapping[str, Any]
"""Parameters of a statement by name; a list is a parameter that `IN` or `ANY` can search."""
NO_VALUES: Values = {}


class Database(Protocol):
    """A connection inside or outside a transaction."""

    def execute(self, sql: str, values: Values = NO_VALUES) -> Iterable[Row]:
        """Run a statement and return its rows."""
        ...

    def execute_many(self, sql: str, rows: Iterable[Values]) -> None:
        """Run a statement once per row of values."""
        ...

    def change(self, sql: str, values: Values = NO_VALUES) -> int:
        """Run a statement and return the number of rows that it changed."""
        ...

    def first(self, sql: str, values: Values = NO_VALUES) -> Row | None:
        """The first row, if there is one."""
        ...

    def value(self, sql: str, values: Values = NO_VALUES) -> Any:
        """The only value of the only row."""
        ...


class Migration(NamedTuple):
    """A step in the history of the tables: the name it is recorded by, and its statements."""

    name: str
    sql: str


def missing_migrations(recorded: set[str], known: Sequence[Migration], place: str) -> list[Migration]:
    """The migrations that are not recorded yet; refuses tables with migrations that we do not know."""
    newer = sorted(recorded - {migration.name for migration in known})
    if newer:
        raise NewerStore(
            f"{place} was written by a newer version of Memorist (it has {', '.join(newer)})",
            remedy="Upgrade Memorist to open it; nothing was changed.",
        )
    return [migration for migration in known if migration.name not in recorded]


class Failure(NamedTuple):
    """Errors of a database driver, and the error that we raise for them."""

    causes: tuple[type[Exception], ...]
    raises: type[Error]
    problem: str
    remedy: str


def failure_for(error: Exception, failures: Sequence[Failure]) -> Failure | None:
    """The failure that an error of the driver belongs to; None for an unexpected error, which is a bug of ours."""
    return next((failure for failure in failures if isinstance(error, failure.causes)), None)
