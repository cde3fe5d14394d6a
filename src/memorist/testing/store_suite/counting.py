"""Tests of counts, and of the newest memories."""

from __future__ import annotations

from datetime import date, timedelta

from memorist.model import Filter, Kind, Tier, Worth
from memorist.ports import Store
from memorist.testing.store_suite.base import ALL, StoreCase, put
from memorist.testing.world import NOON, memory


class Counting(StoreCase):
    """What a view counts, and in which order it gives the newest."""

    def test_memories_are_counted_by_label_and_day(self, store: Store) -> None:
        """Most first; a filter chooses what is counted."""
        put(
            store,
            memory("a", id="a", scope="x", at=NOON),
            memory("b", id="b", scope="x", kind=Kind.NOTE, at=NOON + timedelta(days=2)),
            memory("c", id="c", scope="y", tier=Tier.CORE, at=NOON + timedelta(days=2, hours=11)),
            memory("d", id="d", scope="x", worth=Worth(classification=3), at=NOON + timedelta(days=9)),
        )
        told = store.view().tally(ALL)
        assert told.memories == 4
        assert list(told.scopes.items()) == [("x", 3), ("y", 1)]
        assert told.kinds == {"episodic": 3, "note": 1}
        assert told.tiers == {"working": 3, "core": 1}
        assert told.classifications == {1: 3, 3: 1}
        assert told.days == {date(2024, 6, 1): 1, date(2024, 6, 3): 2, date(2024, 6, 10): 1}
        assert store.view().tally(Filter(scopes=("y",))).kinds == {"episodic": 1}

    def test_a_part_counts_nothing_above_it(self, store: Store) -> None:
        """Neither in sums nor as a label."""
        put(store, memory("a", id="a"), memory("b", id="b", scope="vault", worth=Worth(classification=3)))
        told = store.view().part(0, 2).tally(ALL)
        assert (told.memories, told.scopes, told.classifications) == (1, {"global": 1}, {1: 1})

    def test_an_empty_store_counts_nothing(self, store: Store) -> None:
        """No label, no day."""
        told = store.view().tally(ALL)
        assert (told.memories, told.kinds, told.days) == (0, {}, {})
        assert store.view().newest(ALL, 3) == []

    def test_days_that_are_ages_apart_are_counted_too(self, store: Store) -> None:
        """From the first year to the last."""
        put(store, memory("a", id="a", at="0001-01-01"), memory("b", id="b", at="9999-12-31"))
        assert store.view().tally(ALL).days == {date(1, 1, 1): 1, date(9999, 12, 31): 1}

    def test_the_newest_come_first_page_by_page(self, store: Store) -> None:
        """By the time that they became known, ties by id; each once."""
        days = {"e": 0, "a": 2, "b": 2, "c": 2, "d": 5}
        put(store, *(memory(name, id=name, at=NOON + timedelta(days=day)) for name, day in days.items()))
        view, pages = store.view(), list[str]()
        hits = view.newest(ALL, 2)
        while hits:
            pages.append("".join(hit.id for hit in hits))
            hits = view.newest(ALL, 2, hits[-1])
        assert pages == ["da", "bc", "e"]

    def test_a_followed_memory_is_found_alone_with_its_rank(self, store: Store) -> None:
        """Its rank among all that the search finds, ties by id; not what is not found or not admitted."""
        texts = {"c": "a blue lamp", "a": "a blue lamp", "b": "blue", "d": "a red lamp", "e": "blue lamp lamp"}
        put(store, *(memory(text, id=id, kind=Kind.NOTE if id == "d" else Kind.EPISODIC) for id, text in texts.items()))
        view = store.view()
        for where in (ALL, Filter(kinds=(Kind.EPISODIC,))):
            every = view.search_text("lamp", where, 10)
            assert len(every) == (4 if where == ALL else 3)
            for id in texts:
                found = [
                    (hit.id, hit.score, dict(hit.parts)["rank"])
                    for hit in view.following(id).search_text("lamp", where, 1)
                ]
                assert found == [(hit.id, hit.score, rank) for rank, hit in enumerate(every, 1) if hit.id == id]
        assert view.following("nothing").search_text("lamp", ALL, 1) == []
