"""Filters: every search and the listing admit what `Filter.admits` admits, on both sides of each bound."""

from __future__ import annotations

from datetime import timedelta

from memorist.model import Filter, Kind, Memory, Tier, Times, Worth, instant
from memorist.ports import Store
from memorist.testing.store_suite.base import Search, StoreCase, every_search, ids, put_embedded
from memorist.testing.world import memory

BOUND = instant("2024-06-01T12:00:00Z")
TICK = timedelta(microseconds=1)
BEFORE, AFTER = BOUND - TICK, BOUND + TICK
AROUND = (BEFORE, BOUND, AFTER)
LONG_AGO = instant("2020-01-01")


def _times() -> list[Times]:
    """Each clock's moments just before, at and just after the bound."""
    return [
        *(Times(at, LONG_AGO) for at in AROUND),
        *(Times(LONG_AGO, at) for at in AROUND),
        *(Times(LONG_AGO, LONG_AGO, valid_to=at) for at in AROUND),
        *(Times(LONG_AGO, LONG_AGO, valid_to=BEFORE, expired_at=at) for at in AROUND),
        *(Times(LONG_AGO, LONG_AGO, expires_at=at) for at in AROUND),
        *(Times(LONG_AGO, LONG_AGO, retracted_at=at) for at in AROUND),
        Times(LONG_AGO, LONG_AGO, expired_at=BEFORE),
    ]


def _labelled() -> list[Memory]:
    return [
        *(memory("a lantern", id=f"scope {scope}", scope=scope) for scope in ("user:a", "user:ab", "user:A")),
        *(memory("a lantern", id=f"kind {kind}", kind=kind) for kind in Kind),
        *(memory("a lantern", id=f"tier {tier}", tier=tier) for tier in Tier),
        *(memory("a lantern", id=f"topic {topic}", topic=topic) for topic in ("home", "work", "")),
        *(
            memory("a lantern", id=f"classification {number}", worth=Worth(classification=number))
            for number in range(4)
        ),
    ]


def _timed() -> list[Memory]:
    return [memory("a lantern", id=f"time {number:02}", times=times) for number, times in enumerate(_times())]


FILTERS = {
    "all": Filter(),
    "one scope": Filter(scopes=("user:a",)),
    "two scopes": Filter(scopes=("user:ab", "nobody")),
    "no scope": Filter(scopes=()),
    "many scopes": Filter(scopes=(*(f"user:{number}" for number in range(40_000)), "user:a")),
    "one kind": Filter(kinds=(Kind.SEMANTIC,)),
    "two kinds": Filter(kinds=(Kind.SEMANTIC, Kind.TAG)),
    "no kind": Filter(kinds=()),
    "topic": Filter(topic="home"),
    "empty topic": Filter(topic=""),
    "tier": Filter(tier=Tier.CORE),
    "since": Filter(since=BOUND),
    "until": Filter(until=BOUND),
    "between": Filter(since=BOUND, until=BOUND),
    "as of": Filter(as_of=BOUND),
    "known at": Filter(known_at=BOUND),
    "both clocks": Filter(as_of=BOUND, known_at=BOUND),
    "expired too": Filter(as_of=BOUND, include_expired=True),
    "expired too, both clocks": Filter(as_of=BOUND, known_at=BOUND, include_expired=True),
    "all at once": Filter(("global",), (Kind.EPISODIC,), None, Tier.WORKING, LONG_AGO, AFTER, 1, AFTER, BOUND),
    **{f"classification {number}": Filter(max_classification=number) for number in range(4)},
}


class Filtering(StoreCase):
    """The pushed-down filter against its definition."""

    def test_a_listing_admits_what_the_filter_does(self, store: Store) -> None:
        """`scan` agrees with `Filter.admits`."""
        memories = put_embedded(store, *_labelled(), *_timed())
        for name, where in FILTERS.items():
            expected = [one for one in memories if where.admits(one)]
            assert list(store.scan(where, 1000).items) == expected, name

    @every_search
    def test_a_search_admits_what_the_filter_does(self, store: Store, search: Search) -> None:
        """Every search agrees with `Filter.admits`."""
        memories = put_embedded(store, *_labelled(), *_timed())
        view = store.view()
        for name, where in FILTERS.items():
            expected = [one for one in memories if where.admits(one)]
            assert sorted(ids(search.run(view, "lantern", where, 1000))) == sorted(ids(expected)), name

    @every_search
    def test_the_limit_counts_what_is_admitted(self, store: Store, search: Search) -> None:
        """The filter works inside the search: a crowd outside it takes no places."""
        put_embedded(store, *(memory("a lantern", id=f"crowd {number}", topic="crowd") for number in range(50)))
        put_embedded(store, *(memory("an old lantern", id=f"own {number}", topic="own") for number in range(3)))
        found = search.run(store.view(), "lantern", Filter(topic="own"), 2)
        assert ids(found) == ["own 0", "own 1"]
