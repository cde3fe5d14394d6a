"""A database as the shared code uses it: a connection, its statements, its migrations, its errors.

Each database writes its own SQL. The parameters and results of a statement are named in the comment next to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from memorist.errors import Error, NewerStore, StoreMoved
from memorist.model import Filter, Kind
from memorist.model.filter import FELT, ORIGIN
from memorist.stores.index import micros
from memorist.stores.index.entries import IndexEntry
from memorist.stores.rows import COLUMNS, DERIVED_COLUMNS, USAGE_COLUMNS, WORD_COLUMNS, Row

Values = Mapping[str, Any]
"""Parameters of a statement by name; a list is a parameter that `IN` or `ANY` can search."""
NO_VALUES: Values = {}


class Database(Protocol):
    """A connection inside or outside a transaction."""

    def execute(self, sql: str, values: Values = NO_VALUES) -> Iterable[Row]:
        """Run a statement and return its rows."""
        ...

    def each(self, sql: str, values: Values = NO_VALUES) -> Iterator[Row]:
        """Run a statement and return its rows a few at a time; within one transaction."""
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


def own_row(db: Database, sql: str) -> Row:
    """The row of the space, which it has until it is deleted."""
    if (row := db.first(sql)) is not None:
        return row
    raise StoreMoved(
        "The space was deleted while it was open. Nothing was written",
        remedy="Open it again; restore a backup if nobody deleted it.",
    )


class Migration(NamedTuple):
    """A step in the history of the tables: the name it is recorded by, its statements, and what fills new columns."""

    name: str
    sql: str
    fill: Callable[[Any], None] | None = None


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


MEMORY_COLUMNS = (*COLUMNS, *DERIVED_COLUMNS)
"""The columns that a write fills, apart from the row number and its stamp."""
SELECTED = ", ".join(["m.row", *(f"m.{name}" for name in COLUMNS), "u.id", *(f"u.{name}" for name in USAGE_COLUMNS)])
"""The columns of a row for `read_memory`."""
_SEARCHED = IndexEntry._fields[: IndexEntry._fields.index("words")]
ENTRY_COLUMNS = ", ".join(f"m.{name}" for name in (*_SEARCHED, *WORD_COLUMNS, "mentions"))
"""The columns of a memory for `entries_of`."""
CHECKED = ", ".join(f"m.{name}" for name in (*ORIGIN, *FELT, "ingested_at", "metadata", *WORD_COLUMNS))
"""The columns that conditions look at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadStatements:
    """The questions to a database."""

    counters: str  # → epoch, seq, and id, name, dim of the active generation or NULL
    index_files: str  # → a seq and tokens
    active_generation: str  # → id, name, dim
    named_generation: str  # name → id, name, dim
    by_ids: str  # ids → SELECTED
    history: str  # id → SELECTED, newest version first
    by_keys: str  # keys → SELECTED, in the order of rows
    by_text: str  # said → SELECTED, in the order of rows
    by_position: str  # session, first, last → SELECTED
    last_position: str  # session → position
    scan: str  # after, limit, with a {condition} → SELECTED, in the order of rows
    checked: str  # after, limit, with a {condition} → row, id, CHECKED, in the order of rows
    around: str  # ids, before, after → id, neighbour's id
    vectors: str  # ids, generation → id, view, data
    embedded: str  # ids, generation → id
    jobs: str  # task or NULL, limit → task, subject, due, attempts, error
    jobs_about: str  # ids → the same columns, by task and subject
    jobs_about_no_memory: str  # → the same columns, by task and subject
    journal: str  # verb or NULL, subject or NULL, limit → row, id, at, verb, data
    journal_subjects: str  # entries → entry, subject
    links: str  # ids, relations or NULL → source, relation, target, weight
    all_links: str  # → source, relation, target, weight
    entities_named: str  # names → id, name, kind, alias or NULL; a row per alias, by id and place
    entities_prefixed: str  # names → the same columns
    entity_ids: str  # → id
    entities: str  # ids → the same columns
    shown: str  # session, since → id
    all_shown: str  # → session, id, at
    noise: str  # → row, text
    count: str  # → memories in every form
    counts: str  # → memories in every form, versions, links, entities
    held: str  # seen → memories in every form, bytes of their texts
    labels: str  # → kind, scope, count of current memories
    changed: str  # seen, generation or NO_GENERATION → row, ENTRY_COLUMNS, view, data
    entity_links: str  # relations → source, relation, target
    changed_links: str  # seen, relations → source, relation, target
    deleted: str  # seen → id
    without_vectors: str  # generation, limit → SELECTED
    any_without_vectors: str  # generation → 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteStatements:
    """The changes to a database; `seq` stamps what a write changed."""

    lock: str  # → seq, epoch, last row number
    raise_counters: str  # seq, epoch, last
    list_index_files: str  # listed: a seq and tokens
    drop_published: tuple[str, ...]
    insert_memory: str  # row, seq, MEMORY_COLUMNS
    update_memory: str  # row, seq, MEMORY_COLUMNS
    archive_memory: str  # row, seq, id, version_of, superseded_by, valid_to, expired_at
    drop_rows: str  # rows
    stamp_ids: str  # seq, ids
    stamp_rows: str  # seq, rows
    with_versions: str  # ids → row, id
    erase: tuple[str, ...]  # ids
    insert_deletion: str  # id, seq
    count_deletions: str
    clear_deletions: str
    links_from: str  # sources → source, relation, target, weight
    put_link: str  # source, relation, target, weight
    delete_link: str  # source, relation, target
    move_links: str  # past, id, relations
    insert_entity: str  # id, name, kind
    insert_alias: str  # entity, place, alias, folded
    drop_entities: tuple[str, ...]  # ids
    insert_vector: str  # row, generation, view, data
    views: str  # rows, generation → row, view
    drop_vectors: str  # rows
    drop_vector: str  # row, generation, view
    insert_generation: str  # id, name, dim, active
    activate_generation: tuple[str, ...]  # id
    drop_other_generations: tuple[str, ...]  # id
    usages: str  # ids → id, usage id, USAGE_COLUMNS
    put_usage: str  # id, USAGE_COLUMNS
    drop_job: str  # task, subject
    insert_job: str  # task, subject, due, attempts, error
    entry_row: str  # id → row
    entries_about: str  # ids → row
    drop_entries: tuple[str, ...]  # rows
    insert_entry: str  # row, id, at, verb, data
    insert_entry_subject: str  # row, place, subject
    drop_shown: str  # session, ids, old
    insert_shown: str  # session, id, at
    drop_noise: str  # rows
    insert_noise: str  # row, text


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A database's SQL, and how it writes a parameter and a column that is one of a list."""

    read: ReadStatements
    write: WriteStatements
    parameter: Callable[[str], str]
    among: Callable[[str, str], str]
    unpack: Callable[[Any], Any]
    """Makes a float16 array of a kept vector."""

    def condition(self, where: Filter) -> tuple[str, dict[str, Any]]:
        """What a filter admits, as SQL on `memories`, and its parameters; of its conditions only the session."""
        return " AND ".join(_conditions(where, self)), dict(_parameters(where))


def _conditions(where: Filter, dialect: Dialect) -> Iterator[str]:
    at = dialect.parameter
    yield f"m.classification <= {at('max_classification')}"
    if where.scopes is not None:
        below = (f"substr(m.scope, 1, {len(prefix)}) = {at(name)}" for name, prefix in _prefixes(where))
        yield f"({' OR '.join((dialect.among('m.scope', 'scopes'), *below))})"
    if where.kinds is not None:
        yield dialect.among("m.kind", "kinds")
    for name in ("topic", "tier", "session"):
        if getattr(where, name) is not None:
            yield f"m.{name} = {at(name)}"
    if where.since is not None:
        yield f"m.valid_from >= {at('since')}"
    if where.until is not None:
        yield f"m.valid_from <= {at('until')}"
    if where.known_at is not None:
        yield f"m.ingested_at <= {at('known_at')}"
        yield f"(m.retracted_at IS NULL OR m.retracted_at > {at('known_at')})"
    if where.as_of is not None:
        begun = f"m.valid_from <= {at('as_of')}"
        yield f"({begun} OR m.kind = '{Kind.EPISODIC}')" if where.planned else begun
        if not where.include_expired:
            yield f"(m.expires_at IS NULL OR m.expires_at > {at('as_of')})"
            end_unknown = "" if where.known_at is None else f" OR m.expired_at > {at('known_at')}"
            yield f"(m.valid_to IS NULL OR m.valid_to > {at('as_of')}{end_unknown})"


def _prefixes(where: Filter) -> list[tuple[str, str]]:
    return [(f"scope_prefix_{number}", prefix) for number, prefix in enumerate(where.scope_prefixes)]


def _parameters(where: Filter) -> Iterator[tuple[str, Any]]:
    yield "max_classification", where.max_classification
    yield from _prefixes(where) if where.scopes is not None else ()
    for name in ("scopes", "kinds"):
        labels: tuple[str, ...] | None = getattr(where, name)
        if labels is not None:
            yield name, [str(label) for label in labels]
    for name in ("topic", "tier", "session"):
        label: str | None = getattr(where, name)
        if label is not None:
            yield name, str(label)
    for name in ("since", "until", "known_at", "as_of"):
        at: datetime | None = getattr(where, name)
        if at is not None:
            yield name, micros(at)
