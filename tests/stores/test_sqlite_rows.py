"""Any memory survives the way to the file and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.model import Fact, Kind, Memory, Mention, Origin, Tier, Times, Usage, Worth, fingerprint
from memorist.ports import Batch
from memorist.stores.sqlite import SqliteStore

TEXTS = st.text(max_size=20)
MAYBE_TEXT = st.none() | TEXTS
TUPLES = st.lists(TEXTS, max_size=3).map(tuple)
MOMENTS = st.datetimes(timezones=st.just(UTC))
MAYBE_MOMENT = st.none() | MOMENTS
NUMBERS = st.floats(allow_nan=False)
SHARES = st.floats(0, 1)
COUNTS = st.integers(0, 2**63 - 1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
WORTHS = st.builds(
    Worth,
    importance=SHARES,
    confidence=SHARES,
    salience=SHARES,
    trust=st.integers(0, 3),
    credibility=st.integers(1, 6),
    classification=st.integers(0, 3),
    emotion=st.floats(-5, 5),
    emotion_tags=TUPLES,
    flags=TUPLES,
    relevance=NUMBERS,
)
USAGES = st.builds(
    Usage,
    recalls=COUNTS,
    last_recall=MAYBE_MOMENT,
    recall_times=st.lists(MOMENTS, max_size=3).map(tuple),
    reward_count=COUNTS,
    reward_total=NUMBERS,
)
MEMORIES = st.builds(
    Memory,
    id=st.just(""),
    text=TEXTS,
    times=st.builds(Times, MOMENTS, MOMENTS, MAYBE_MOMENT, MAYBE_MOMENT, MAYBE_MOMENT),
    kind=st.sampled_from(Kind),
    scope=TEXTS,
    tier=st.sampled_from(Tier),
    topic=MAYBE_TEXT,
    original=MAYBE_TEXT,
    keywords=TUPLES,
    worth=WORTHS,
    usage=st.none() | USAGES,
    origin=st.builds(
        Origin,
        MAYBE_TEXT,
        MAYBE_TEXT,
        st.none() | st.integers(-(2**63), 2**63 - 1),
        MAYBE_TEXT,
        MAYBE_TEXT,
    ),
    mentions=st.lists(st.builds(Mention, TEXTS, MOMENTS, MOMENTS), max_size=2).map(tuple),
    fact=st.none() | st.builds(Fact, TEXTS, TEXTS, TEXTS),
    metadata=st.dictionaries(TEXTS, JSON, max_size=3),
    version=st.integers(1, 2**31),
    version_of=MAYBE_TEXT,
    superseded_by=MAYBE_TEXT,
).map(lambda memory: replace(memory, id=fingerprint(repr(memory))))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    store = SqliteStore.open(tmp_path_factory.mktemp("rows") / "a.db")
    yield store
    store.close()


@given(memory=MEMORIES)
def test_a_memory_is_read_as_it_was_written(store: SqliteStore, memory: Memory) -> None:
    assert store.put(Batch([memory])) == [memory]
    assert store.get([memory.id]) == {memory.id: memory}


def test_what_any_memory_left_behind_is_sound(store: SqliteStore) -> None:
    assert store.integrity() == []
