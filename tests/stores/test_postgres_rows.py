"""Any memory survives the way to the server and back, and any filter admits there what it should."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorist.model import Filter, Memory
from memorist.ports import Batch
from memorist_server.postgres import PostgresStore
from memorist_server.postgres.database import escape_nul, unescape_nul
from tests.stores import test_sqlite_filters as filters
from tests.stores.test_sqlite_rows import MEMORIES

fewer = settings(max_examples=30)  # the same strategies run in full on SQLite
NASTY = st.text(st.sampled_from("\0\1\2a\x7f\U0010ffff"), max_size=6)


@pytest.fixture(scope="module")
def store(postgres: str) -> Iterator[PostgresStore]:
    store = PostgresStore.open(postgres, space="rows")
    yield store
    store.close()


@pytest.fixture(scope="module")
def grid(postgres: str) -> Iterator[PostgresStore]:
    store = PostgresStore.open(postgres, space="filters")
    store.put(Batch(filters.MEMORIES))
    yield store
    store.close()


@fewer
@given(memory=MEMORIES)
def test_a_memory_is_read_as_it_was_written(store: PostgresStore, memory: Memory) -> None:
    assert store.put(Batch([memory])) == [memory]
    assert store.get([memory.id]) == {memory.id: memory}


@fewer
@given(where=filters.FILTERS)
def test_sql_admits_what_the_filter_does(grid: PostgresStore, where: Filter) -> None:
    admitted = [memory.id for memory in filters.MEMORIES if where.admits(memory)]
    assert [memory.id for memory in grid.scan(where, len(filters.MEMORIES)).items] == admitted


@given(texts=st.lists(NASTY, max_size=5))
def test_escaped_texts_come_back_differ_and_sort_as_before(texts: list[str]) -> None:
    kept = [escape_nul(text) for text in texts]
    assert [unescape_nul(text) for text in kept] == texts
    assert "\0" not in "".join(kept)
    assert sorted(kept) == [escape_nul(text) for text in sorted(texts)]


def test_a_name_that_no_server_can_have_is_nowhere(store: PostgresStore) -> None:
    lone = "\ud800"
    assert store.get([lone]) == {}
    assert (
        store.entities([lone]) == store.entities_by_prefix([lone]) == store.links([lone]) == store.by_key([lone]) == []
    )
