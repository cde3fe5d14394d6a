"""The filter as SQL against its definition, on a grid of memories and any filter over that grid."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import cycle, product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.model import Filter, Kind, Memory, Tier, Times, Worth, instant
from memorist.ports import Batch
from memorist.stores.sqlite import SqliteStore
from memorist.testing import memory

MOMENTS = [instant("2024-06-01") + timedelta(microseconds=step) for step in range(3)]
MAYBE = [None, *MOMENTS]
SCOPES = ["global", "user:a", "user:b"]
TOPICS = [None, "home", "work"]


def grid() -> Iterator[Memory]:
    """Every combination of the five times, with labels that go round at different speeds."""
    labels = zip(cycle(SCOPES), cycle(Kind), cycle(Tier), cycle(TOPICS * 2 + [None]), cycle(range(4)))
    for number, times in enumerate(product(MOMENTS, MOMENTS, MAYBE, MAYBE, MAYBE)):
        scope, kind, tier, topic, level = next(labels)
        yield memory(
            "x",
            id=str(number),
            times=Times(*times),
            scope=scope,
            kind=kind,
            tier=tier,
            topic=topic,
            worth=Worth(classification=level),
        )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    store = SqliteStore.open(tmp_path_factory.mktemp("filters") / "a.db")
    store.put(Batch(list(grid())))
    yield store
    store.close()


def some(values: object) -> st.SearchStrategy[tuple[str, ...] | None]:
    return st.none() | st.lists(st.sampled_from(values), max_size=4).map(tuple)


FILTERS = st.builds(
    Filter,
    scopes=some([*SCOPES, "'", "nobody"]),
    kinds=some(list(Kind)),
    topic=st.sampled_from([*TOPICS, "' OR 1=1 --"]),
    tier=st.none() | st.sampled_from(Tier),
    since=st.sampled_from(MAYBE),
    until=st.sampled_from(MAYBE),
    max_classification=st.integers(-1, 4),
    as_of=st.sampled_from(MAYBE),
    known_at=st.sampled_from(MAYBE),
    include_expired=st.booleans(),
)
MEMORIES = list(grid())


@given(where=FILTERS)
def test_sql_admits_what_the_filter_does(store: SqliteStore, where: Filter) -> None:
    admitted = [memory.id for memory in MEMORIES if where.admits(memory)]
    assert [memory.id for memory in store.scan(where, len(MEMORIES)).items] == admitted


@given(where=FILTERS, limit=st.integers(1, 200))
def test_pages_join_to_the_whole(store: SqliteStore, where: Filter, limit: int) -> None:
    page = store.scan(where, limit)
    items = list(page.items)
    while page.cursor is not None:
        page = store.scan(where, limit, page.cursor)
        items.extend(page.items)
    assert items == list(store.scan(where, len(MEMORIES)).items)


def test_ten_thousand_scopes_are_no_matter(store: SqliteStore, tmp_path: Path) -> None:
    where = Filter(scopes=(*(f"user:{number}" for number in range(10_000)), "user:a"))
    assert len(store.scan(where, 10_000).items) == sum(memory.scope == "user:a" for memory in MEMORIES)
