"""Conditions inside each store against their definition, on random memories and any condition over them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorist.model import Filter, Memory, Origin, Worth, condition_of
from memorist.ports import Batch, Store
from memorist.testing import memory
from tests.stores.kinds import STORES, opener

VALUES: list[Any] = [
    True,
    False,
    0,
    1,
    1.0,
    -2.5,
    10**20,
    "",
    "1",
    "Atlas",
    "at",
    "2024-06-03",
    "2024-06-03T00:00Z",
    "é",
]
KEYS = ["k", "k.l", "priority"]
NAMES = ["Ann", "Ben", "notes.md", "2024-06-03"]
WORDS = ["lamp", "Lampe", "user_id", "東京都", "Café", "the"]


def world() -> list[Memory]:
    random = Random(7)

    def one(number: int) -> Memory:
        several = random.sample(VALUES, 2)
        values = [None, several, {"k": 1}, *random.sample(VALUES, 3)]
        kept = {key: random.choice(values) for key in KEYS if random.random() < 0.7}
        names = [random.choice([None, *NAMES]) for _ in range(3)]
        return memory(
            f"row {' '.join(random.sample(WORDS, 2))}",
            id=f"{number:03}",
            scope=random.choice(["team", "team/a", "team/a/b", "teams", "Team/a"]),
            metadata=kept,
            keywords=tuple(random.sample(WORDS, number % 2)),
            original=random.choice([None, "une lampe"]),
            origin=Origin(source=names[0], session=names[1], speaker=names[2]),
            worth=Worth(
                classification=random.randrange(4),
                emotion=random.choice([0, -2.5, 1, 3.3]),
                emotion_tags=random.choice([(), ("1",), ("Atlas", "é")]),
            ),
        )

    return [one(number) for number in range(120)]


MEMORIES = world()
scalars = st.sampled_from(VALUES)
texts = st.sampled_from(["", "t", "2024-06", *NAMES])
operators = st.one_of(
    st.fixed_dictionaries({}, optional={"eq": scalars, "ne": scalars}).filter(bool),
    st.dictionaries(st.sampled_from(["gt", "gte", "lt", "lte"]), st.sampled_from(VALUES[2:]), min_size=1, max_size=2),
    st.lists(scalars, max_size=3).map(lambda some: {"in": some}),
    (texts | scalars).map(lambda part: {"contains": part}),
    st.booleans().map(lambda there: {"exists": there}),
)
metadata = st.sampled_from(["metadata.none", *(f"metadata.{key}" for key in KEYS)])
there = st.booleans().map(lambda there: {"exists": there})


def comparing(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Operators that compare with these values."""
    compared = st.dictionaries(st.sampled_from(["eq", "ne", "gt", "gte", "lt", "lte"]), values, min_size=1, max_size=2)
    return st.one_of(values, compared, st.lists(values, max_size=3).map(lambda some: {"in": some}), there)


contained = texts.map(lambda part: {"contains": part})
leaves = st.one_of(
    st.dictionaries(metadata, operators | scalars, min_size=1, max_size=2),
    st.dictionaries(st.sampled_from(["speaker", "session", "source"]), comparing(texts) | contained, min_size=1),
    comparing(st.sampled_from([-2.5, 0, 1, 2])).map(lambda stated: {"emotion": stated}),
    (contained | there).map(lambda stated: {"emotion_tags": stated}),
    st.sampled_from([*WORDS, "lamp the", "京都 LAMP", "une", "nowhere"]).map(lambda said: {"text": {"contains": said}}),
)
wheres = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda some: {"and": some}),
        st.lists(inner, min_size=1, max_size=3).map(lambda some: {"or": some}),
        inner.map(lambda one: {"not": one}),
    ),
    max_leaves=5,
)
FILTERS = st.builds(
    lambda where, without, scopes, most: Filter(
        conditions=condition_of(where), max_classification=most, scopes=scopes and (), scope_prefixes=scopes or ()
    ).without(without),
    wheres | st.just({}),
    st.sets(st.sampled_from([*(memory.id for memory in MEMORIES), "unknown"])),
    st.sampled_from([None, None, ("team/",), ("team/a/", "Te"), ("te%",), ("_",)]),
    st.integers(1, 3),
)


@pytest.fixture(scope="module", params=STORES)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    open_store = opener(tmp_path_factory.mktemp("conditions"), lambda: request.getfixturevalue("postgres"))
    store = open_store(request.param, "conditions")
    store.put(Batch(MEMORIES[:80]))
    store.view()
    store.put(Batch(MEMORIES[80:]))  # the index reads these rows later
    yield store
    store.close()


@settings(max_examples=40)
@given(where=FILTERS, limit=st.integers(1, 150))
def test_a_store_admits_what_the_filter_does(store: Store, where: Filter, limit: int) -> None:
    admitted = [memory.id for memory in MEMORIES if where.admits(memory)]
    assert {hit.id for hit in store.view().search_text("row", where, 1000)} == set(admitted)
    page, listed = store.scan(where, limit), list[str]()
    while page.cursor is not None:
        assert len(page.items) == limit
        listed += [memory.id for memory in page.items]
        page = store.scan(where, limit, page.cursor)
    assert [*listed, *(memory.id for memory in page.items)] == admitted


@settings(max_examples=20)
@given(where=FILTERS, most=st.integers(0, 3))
def test_a_part_of_a_store_admits_what_the_filter_does_within_it(store: Store, where: Filter, most: int) -> None:
    admitted = {memory.id for memory in MEMORIES if where.admits(memory) and memory.worth.classification <= most}
    assert {hit.id for hit in store.view().part(0, most).search_text("row", where, 1000)} == admitted
