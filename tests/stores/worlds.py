"""Random small worlds for the index, and a way to make it work with small numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from hypothesis import strategies as st

from memorist.model import Filter
from memorist.stores.index import Index, IndexEntry, IndexView, bm25, columns, index, lexicon, postings
from memorist.stores.index.arrays import map_parts, read_about, write_parts
from tests.stores.naive import World

WORDS = [
    "alice", "moved", "moves", "moving", "movement", "stockholm", "stokholm", "stock", "user_id", "user", "id",
    "banana", "an", "ananas", "haus", "hauses", "katze", "katzen", "the", "of", "order-abc-1234", "abc", "1234",
    "東京", "京都", "我", "😂", "c++", "c",
]  # fmt: skip
_ALL = Filter()
QUERIES = (
    "alice moves", "moving moved", "Stokholm", "stock", "user_id", "ana", "hauses katzen", "the of", "東京都", "我",
    "😂", "C++", "1234", "order-abc-1234 banana", "", "?!", "\0", "nowhere", "alice " * 50, "\ud800 alice",
)  # fmt: skip

analysed = st.builds(
    lambda code, words: " ".join((code, *words)),
    st.sampled_from(("en", "en", "de", "cjk")),
    st.lists(st.sampled_from(WORDS), max_size=8),
)
entries = st.builds(
    IndexEntry,
    id=st.sampled_from("abcdefghij"),
    kind=st.just("episodic"),
    scope=st.just("global"),
    tier=st.just("working"),
    topic=st.none(),
    classification=st.just(1),
    valid_from=st.just(0),
    ingested_at=st.just(0),
    valid_to=st.none(),
    expired_at=st.none(),
    expires_at=st.none(),
    retracted_at=st.none(),
    words=analysed,
    original=st.none() | analysed,
    vectors=st.just({}),
    mentions=st.just(()),
    pairs=st.just(()),
)


class Step(NamedTuple):
    """One call of `apply`, whether somebody searches after it, and whether the next index begins with its file."""

    entries: list[IndexEntry]
    removed: list[str]
    searched: bool
    reopened: bool


steps = st.lists(
    st.builds(
        Step,
        st.lists(entries, max_size=5),
        st.lists(st.sampled_from("abcdefghij"), max_size=3),
        searched=st.booleans(),
        reopened=st.booleans(),
    ),
    min_size=1,
    max_size=6,
)


def played(story: Sequence[Step]) -> Iterator[tuple[IndexView, World]]:
    """The view after each step, and what it should hold."""
    made, world = Index(), dict[str, IndexEntry]()
    for number, step in enumerate(story, 1):
        made.apply(step.entries, step.removed, generation=number)
        kept = {id: entry for id, entry in world.items() if id not in step.removed}
        world = {**kept, **{entry.id: entry for entry in step.entries}}
        if step.searched:
            view = made.view()
            for search in (view.search_text, view.search_trigram, view.search_substring):
                search("alice", _ALL, 5)
        yield made.view(), world
        if step.reopened:
            made = reopened(made.view())


def reopened(view: IndexView) -> Index:
    """An index that begins with the file of a view."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        write_parts(path, {}, view.parts())
        with path.open("rb") as file:
            return Index(kept=map_parts(file.fileno(), read_about(file.fileno())["parts"]))


@contextmanager
def small_numbers() -> Iterator[None]:
    """Every threshold low, so that small worlds cross it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "_RECENT_ROWS", 3)
        patch.setattr(index, "_FEW_DEAD", 4)
        patch.setattr(lexicon, "_SMALL", 6)
        patch.setattr(bm25, "_DENSE", 2)
        patch.setattr(columns, "_SAMPLED_FROM", 4)
        patch.setattr(columns, "_STRIDE", 2)
        yield
