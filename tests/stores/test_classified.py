"""A part of a store is a store in which nothing of another classification exists, at every bound and page."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from memorist.errors import TooClassified
from memorist.model import Entity, Filter, Link, Memory, Origin, Times, Worth, mark_name
from memorist.ports import Batch, Entry, Job
from memorist.stores import classified
from memorist.stores.classified import ClassifiedStore, counted_page
from memorist.stores.memory import MemoryStore

DAY = datetime(2024, 6, 1, tzinfo=UTC)
EVERYTHING = Filter(max_classification=3)


def row(id: str, classification: int = 1, text: str = "", **fields: Any) -> Memory:
    worth = Worth(classification=classification)
    return Memory(id=id, text=text or f"row {id}", times=Times(valid_from=DAY, ingested_at=DAY), worth=worth, **fields)


def turn(position: int, classification: int = 1) -> Memory:
    origin = Origin(session="s", position=position)
    return row(f"{classification}-{position:03}", classification, origin=origin)


def store(*memories: Memory, **fields: Any) -> MemoryStore:
    opened = MemoryStore("kept")
    opened.put(Batch(memories=memories, **fields))
    return opened


def ids(memories: Any) -> list[str]:
    return [memory.id for memory in memories]


def test_a_part_has_both_its_bounds_and_nothing_outside() -> None:
    whole = store(*(row(str(level), level) for level in range(4)))
    middle = ClassifiedStore(whole, 1, 2)
    assert [middle.holds(level) for level in range(4)] == [False, True, True, False]
    assert list(middle.get(["0", "1", "2", "3"])) == ["1", "2"]
    assert ids(middle.scan(EVERYTHING, 9).items) == ["1", "2"]
    assert ids(middle.scan(Filter(max_classification=1), 9).items) == ["1"]
    assert middle.history("3") == [] and ids(middle.history("2")) == ["2"]
    assert ids(middle.by_text(["row 0", "row 2"])) == ["2"]
    assert middle.space == "kept" and middle.path is None


@pytest.mark.parametrize("secret", [1, 16, 17, 18, 40])
def test_the_last_position_is_found_however_many_secret_turns_follow(secret: int) -> None:
    whole = store(turn(0), *(turn(1 + place, 3) for place in range(secret)))
    assert ClassifiedStore(whole, 0, 1).last_position("s") == 0
    assert ClassifiedStore(whole, 0, 3).last_position("s") == secret
    assert ClassifiedStore(whole, 2, 2).last_position("s") is None
    assert ClassifiedStore(whole, 0, 1).last_position("other") is None


@pytest.mark.parametrize("gap", [16, 17, 18, 33, 34, 35])
def test_the_last_position_is_found_across_a_gap(gap: int) -> None:
    whole = store(turn(2), turn(3), turn(3 + gap, 3))
    assert ClassifiedStore(whole, 0, 1).last_position("s") == 3


def test_links_and_names_end_in_the_part() -> None:
    names = [Entity("ann", "Ann"), Entity(mark_name("annika", 3), "Annika")]
    links = [
        Link("a", "mentions", "ann"),
        Link("b", "mentions", mark_name("annika", 3)),
        Link("a", "related", "b"),
        Link("b", "mentions", "ann"),
    ]
    whole = store(row("a"), row("b", 3), entities=names, links=links)
    low, high = ClassifiedStore(whole, 0, 1), ClassifiedStore(whole, 0, 3)
    assert low.links(["a", "b"]) == [links[0]] and len(high.links(["a", "b"])) == 4
    assert low.links(["a"], "related") == []
    assert ids(low.entities(["Ann", "Annika"])) == ids(low.entities_by_id(["ann", mark_name("annika", 3)])) == ["ann"]
    assert ids(low.entities_by_prefix(["Anna"])) == ["ann"] and len(high.entities_by_prefix(["Anna"])) == 2


def test_jobs_of_one_classification_go_by_their_plain_names() -> None:
    jobs = [Job(mark_name("read", level), f"job {level}", DAY + timedelta(level)) for level in (1, 2, 3)]
    whole = store(jobs=jobs)
    assert [job.task for job in ClassifiedStore(whole, 0, 2).jobs()] == ["read", "read~2"]
    assert [job.task for job in ClassifiedStore(whole, 2, 2, alone=True).jobs("read")] == ["read"]
    assert [job.subject for job in ClassifiedStore(whole, 2, 2, alone=True).jobs("read")] == ["job 2"]
    assert len(ClassifiedStore(whole, 0, 3).jobs(limit=2)) == 2 and ClassifiedStore(whole, 0, 3).jobs(
        subject="job 3"
    ) == [jobs[2]]
    ClassifiedStore(whole, 2, 2, alone=True).put(Batch(done=[("read", "job 2")], jobs=[Job("note", "new", DAY)]))
    assert {job.task for job in whole.jobs()} == {"read", "read~3", "note~2"}


def test_an_entry_has_its_mark_or_else_the_classification_of_what_it_is_about() -> None:
    entries = [
        Entry("plain", DAY, "gate", ("a",)),
        Entry("secret", DAY + timedelta(1), "gate", ("a", "b")),
        Entry(mark_name("noted", 3), DAY + timedelta(2), "tidy", ("a",)),
        Entry("of nothing", DAY + timedelta(3), "tidy"),
    ]
    whole = store(row("a", 0), row("b", 2), journal=entries)
    assert ids(ClassifiedStore(whole, 0, 0).journal()) == ["plain"]
    assert ids(ClassifiedStore(whole, 0, 1).journal()) == ["of nothing", "plain"]
    assert ids(ClassifiedStore(whole, 2, 2).journal()) == ["secret"]
    assert ids(ClassifiedStore(whole, 0, 3).journal("tidy")) == ["of nothing", "noted~3"]
    assert ids(ClassifiedStore(whole, 0, 2).journal(subject="b")) == ["secret"]
    assert ids(ClassifiedStore(whole, 0, 3).journal(limit=2)) == ["of nothing", "noted~3"]


@pytest.mark.parametrize("secret", [1, 2, 3, 9, 10, 11, 40])
def test_a_journal_is_read_on_until_enough_of_it_is_in_the_part(secret: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classified, "PAGE", 2)
    low = [Entry(f"low {place}", DAY + timedelta(place), "gate") for place in range(3)]
    high = [Entry(mark_name(f"high {place}", 3), DAY + timedelta(9 + place), "gate") for place in range(secret)]
    part = ClassifiedStore(store(journal=[*low, *high]), 0, 1)
    assert ids(part.journal(limit=1)) == ["low 2"]
    assert ids(part.journal(limit=2)) == ["low 2", "low 1"]
    assert ids(part.journal(limit=9)) == ["low 2", "low 1", "low 0"]


def test_a_write_marks_what_it_adds_and_keeps_out_of_what_it_may_not_see() -> None:
    whole = store(row("low", 1), row("high", 3))
    part = ClassifiedStore(whole, 0, 2)
    for batch in (Batch(memories=[row("new", 3)]), Batch(revised=[row("new", 3)])):
        with pytest.raises(TooClassified, match="classification 3") as refused:
            part.put(batch)
        assert "as 2 or lower" in str(refused.value)
    part.put(Batch(erased=["low", "high"]))
    assert list(whole.get(["low", "high"])) == ["high"]
    assert part.delete(["high"]) == [] and list(whole.get(["high"])) == ["high"]
    entries = [Entry("of one", DAY, "gate", ("new",)), Entry("of none", DAY, "gate", ())]
    part.put(Batch(memories=[row("new", 2)], journal=entries))
    assert set(ids(whole.journal())) == {mark_name("of one", 2), "of none"}
    ClassifiedStore(whole, 3, 3, alone=True).put(Batch(journal=[Entry("alone", DAY, "gate", ("new",))]))
    assert mark_name("alone", 3) in ids(whole.journal())
    assert part.put(Batch(memories=[row("last", 0)])) == list(part.get(["last"]).values())


def test_an_id_that_a_secret_has_is_free_for_a_write_below_it() -> None:
    whole = store(row("same", 3, "the secret"))
    part = ClassifiedStore(whole, 1, 1, alone=True)
    assert [memory.text for memory in part.put(Batch(memories=[row("same", 1, "the news")]))] == ["the news"]
    assert sorted(memory.text for memory in whole.scan(EVERYTHING, 9).items) == ["the news", "the secret"]


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5])
def test_a_page_is_full_as_long_as_there_is_more(limit: int) -> None:
    levels = (3, 1, 3, 3, 1, 1, 3, 1)
    part = ClassifiedStore(store(*(row(str(place), level) for place, level in enumerate(levels))), 0, 1)
    pages: list[list[str]] = []
    cursor = None
    while not pages or cursor is not None:
        page = part.scan(Filter(), limit, cursor)
        pages.append(ids(page.items))
        cursor = page.cursor
    assert [id for page in pages for id in page] == ["1", "4", "5", "7"]
    assert all(len(page) == limit for page in pages[:-1])


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("at_once", [1, 2, 3, 1000])
def test_a_counted_cursor_counts_what_is_in_the_part_alone(
    limit: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classified, "PAGE", at_once)
    levels = (3, 1, 3, 3, 1, 1, 3, 1)
    part = ClassifiedStore(store(*(row(str(place), level) for place, level in enumerate(levels))), 0, 1)
    seen: list[str] = []
    cursor = None
    while not seen or cursor is not None:
        page = counted_page(part, Filter(), limit, cursor)
        assert 0 < len(page.items) <= limit
        seen += ids(page.items)
        assert page.cursor in (None, f"after:{len(seen)}")
        cursor = page.cursor
    assert seen == ["1", "4", "5", "7"]


@pytest.mark.parametrize("secret", [0, 1, 2, 7, 30])
@pytest.mark.parametrize(("before", "after"), [(0, 0), (1, 0), (0, 1), (1, 1), (2, 3), (9, 9)])
def test_neighbours_are_the_nearest_of_the_part(before: int, after: int, secret: int) -> None:
    """Around the turn in the middle of five, with secret ones between each two of them."""
    step = secret + 1
    open_turns = [turn(place * step) for place in range(5)]
    hidden = [turn(position, 3) for position in range(4 * step) if position % step]
    part = ClassifiedStore(store(*open_turns, *hidden), 0, 1)
    wanted = open_turns[max(0, 2 - before) : 2 + after + 1]
    middle = open_turns[2].id
    assert part.neighbours([middle, "unknown"], before, after) == {middle: wanted}
    first = part.neighbours([open_turns[0].id], before, after)[open_turns[0].id]
    assert first == open_turns[: after + 1]
    assert hidden == [] or part.neighbours([hidden[0].id], before, after) == {}


def test_a_session_is_shown_only_what_is_in_the_part() -> None:
    whole = store(row("low"), row("high", 3))
    part = ClassifiedStore(whole, 0, 1)
    part.show("s", ["low"], DAY)
    whole.show("s", ["high"], DAY)
    assert part.shown("s", DAY - timedelta(1)) == {"low"} and part.shown("s", DAY + timedelta(1)) == set()
    part.touch(["low"], DAY)
    usage = part.get(["low"])["low"].usage
    assert usage is not None and usage.last_recall == DAY


@pytest.mark.parametrize(
    ("lowest", "highest", "learns", "knows"),
    [(0, 0, False, False), (0, 1, True, True), (1, 3, True, True), (2, 3, False, True)],
)
def test_noise_has_the_usual_classification(lowest: int, highest: int, learns: bool, knows: bool) -> None:
    whole = store()
    whole.learn_noise(["hm"], keep=9)
    part = ClassifiedStore(whole, lowest, highest)
    part.learn_noise(["so"], keep=9)
    assert whole.noise() == (["hm", "so"] if learns else ["hm"])
    assert part.noise() == (whole.noise() if knows else [])


def test_counts_are_of_the_part() -> None:
    links = [Link("a", "mentions", "ann"), Link("b", "mentions", mark_name("bo", 3)), Link("a", "related", "c")]
    rows = [row("a", text="één", scope="x"), row("b", 3), row("c", 0, "12345")]
    links += [Link("a", "mentions", "ola")]
    whole = store(
        *rows, links=links, entities=[Entity("ann", "Ann"), Entity("ola", "Ola"), Entity(mark_name("bo", 3), "Bo")]
    )
    whole.put(Batch(memories=[replace(rows[2], text="123456", version=2)]))
    whole.adopt("some-model", 1)
    stats = ClassifiedStore(whole, 0, 1).stats()
    assert (stats.memories, stats.versions, stats.links, stats.entities) == (2, 1, 3, 2)
    assert (stats.bytes, stats.generation, stats.embedding) == (5 + 5 + 6, 6, None)
    assert (stats.space, stats.kinds, stats.scopes) == ("kept", {"episodic": 2}, {"x": 1, "global": 1})
    whole.put(Batch(memories=[row("v")], vectors={"v": {"text": np.ones(1, np.float32)}}))
    part = ClassifiedStore(whole, 0, 1)
    assert part.stats().embedding == part.embedding == "some-model"
    assert part.embedded(["v", "a", "b"]) == {"v"} and set(part.vectors(["v", "b"])) == {"v"}
    assert ClassifiedStore(whole, 3, 3).embedded(["v"]) == set() and ClassifiedStore(whole, 3, 3).vectors(["v"]) == {}


def test_what_concerns_every_memory_is_refused() -> None:
    part = ClassifiedStore(store(), 0, 2)
    for refused in (
        lambda: part.prepare("m", 1),
        lambda: part.without_vectors("m", 1),
        lambda: part.add_vectors("m", [], {}),
        lambda: part.switch("m"),
        part.held,
        part.records,
    ):
        with pytest.raises(TooClassified, match="every memory") as error:
            refused()
        assert "classification 3" in str(error.value)
    part.close()
    assert part.scrub() is True
