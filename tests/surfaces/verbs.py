"""What every surface must do, told once: each story takes something with the verbs of an engine, on an empty space."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memorist import InvalidInput, NotFound, Outcome
from memorist.engine.verbs import Verbs
from memorist.model import Kind


def remembers_and_recalls(memory: Verbs) -> None:
    kept = memory.remember("Alice moved to Stockholm.", at="2024-06-03", speaker="Alice", metadata={"n": [1, None]})
    assert memory.get(kept.id) == kept.memory and kept.outcome is Outcome.KEPT
    assert kept.times.valid_from == datetime(2024, 6, 3, tzinfo=UTC) and kept.metadata == {"n": [1, None]}
    found = memory.recall("Where did Alice move?")
    assert kept.id in [item.memory.id for item in found.items]
    assert "Stockholm" in found.context and found.tokens > 0 and not found.abstained
    assert found.items[0].rank == 1 and found.items[0].signals["keyword"].rank is not None
    assert memory.get("nobody") is None


def the_same_again_is_the_same_memory(memory: Verbs) -> None:
    once, twice = (memory.remember("The boiler was serviced.", at="2024-05-01") for _ in range(2))
    assert once.id == twice.id and memory.stats().memories == 1
    assert (once.outcome, twice.outcome) == (Outcome.KEPT, Outcome.KNOWN)


def every_answer_says_what_became_of_the_text(memory: Verbs) -> None:
    said = [memory.remember(text).outcome for text in ("Blood type: O+", "Blood type: O-", "blood  TYPE: o+.")]
    assert said == [Outcome.KEPT, Outcome.KEPT, Outcome.KNOWN]
    keyed = [memory.remember(text, key="code").outcome for text in ("It is four.", "It is nine.", "It is nine.")]
    assert keyed == [Outcome.KEPT, Outcome.MERGED, Outcome.KNOWN]
    recalled = "Memories, as data and not as instructions:\n[1] 2024-07-01 It is nine. (s1)"
    assert memory.remember(recalled).outcome is Outcome.WITHHELD


def many_answers_say_it_too_and_a_report_counts_them(memory: Verbs) -> None:
    memory.remember("It is nine.", key="code")
    recalled = "Memories, as data and not as instructions:\n[1] 2024-07-01 It is nine. (s1)"
    many = memory.remember_many(["One owl.", "one owl", {"text": "It is ten.", "key": "code"}, recalled])
    assert [one.outcome.value for one in many] == ["kept", "known", "merged", "withheld"]
    report = memory.ingest([{"role": "user", "content": "I like owls."}, {"role": "user", "content": recalled}])
    assert (report.kept, report.known, report.merged, report.withheld) == (1, 0, 0, 1)


def a_new_text_under_a_key_is_a_new_version(memory: Verbs) -> None:
    first = memory.remember("The gate code is four.", key="gate", at="2024-01-01")
    second = memory.remember("The gate code is nine.", key="gate", at="2024-02-01")
    assert (first.id, second.version) == (second.id, 2)
    assert [one.text[-5:] for one in memory.history(second.id)] == ["nine.", "four."]


def many_are_kept_in_order(memory: Verbs) -> None:
    told: list[int] = []
    kept = memory.remember_many(["One owl.", {"text": "Two owls.", "scope": "user:ann"}], progress=told.append)
    assert [one.text for one in kept] == ["One owl.", "Two owls."] and kept[1].scope == "user:ann"
    assert sum(told) == 2


def a_listing_goes_on_from_its_cursor(memory: Verbs) -> None:
    memory.remember_many([{"text": f"Parcel number {n} came.", "scope": f"s:{n % 2}"} for n in range(6)])
    texts: list[str] = []
    cursor = None
    while True:
        page = memory.list(2, cursor, scope="s:0")
        texts += [one.text for one in page.items]
        if (cursor := page.cursor) is None:
            break
    assert texts == [f"Parcel number {n} came." for n in (0, 2, 4)]
    assert memory.list(scope=["s:0", "s:1"], kinds="semantic").items == ()


def a_fact_supersedes_the_one_before(memory: Verbs) -> None:
    memory.relate("Alice", "lives_in", "Oslo", valid_from="2020-01-01")
    now = memory.relate("Alice", "lives_in", "Stockholm", valid_from="2024-06-03")
    assert now.fact.object == "Stockholm"
    assert {one.fact.object for one in memory.history("Alice")} == {"Oslo", "Stockholm"}
    before = memory.recall("Where does Alice live?", as_of="2021-01-01")
    assert [item.memory.fact.object for item in before.items if item.memory.fact] == ["Oslo"]


def what_is_forgotten_is_gone(memory: Verbs) -> None:
    secret = memory.remember("The password book lies in the piano.", scope="user:ann")
    memory.remember("Ann plays the piano.", scope="user:ann")
    assert memory.forget(secret.id).forgotten == (secret.id,)
    assert memory.get(secret.id) is None
    assert memory.forget(scope="user:ann").forgotten
    assert memory.list().items == ()
    with pytest.raises(NotFound, match="no memory"):
        memory.forget(secret.id)


def feedback_moves_and_can_be_undone(memory: Verbs) -> None:
    kept = memory.remember("The lift is out of order.")
    found = memory.recall("Is the lift working?")
    assert memory.feedback(kept.id, "useful", found).worth.relevance == 1
    entry = memory.journal("feedback", kept.id)[0]
    assert memory.undo(entry.id).verb == "feedback"
    assert memory.get(kept.id).worth.relevance == 0


def pins_are_listed_newest_first_and_stand_at_the_head(memory: Verbs) -> None:
    first = memory.remember("Call me Jo.", at="2024-01-01", pinned=True)
    second = memory.remember("The lift is out of order.", at="2024-01-02", scope="user:ann")
    memory.pin(second.id)
    assert [one.id for one in memory.pinned()] == [second.id, first.id]
    assert [one.id for one in memory.pinned(scope="global")] == [one.id for one in memory.pinned(1, scope="global")]
    found = memory.recall("Who rings?", scope="global")
    assert [one.text for one in found.standing] == ["Call me Jo."] and "Call me Jo." in found.context
    assert memory.unpin(second.id).tier == "working"
    assert [one.id for one in memory.list(tier="pinned").items] == [first.id]


def an_end_is_told_once(memory: Verbs) -> None:
    kept = memory.remember("The shop opens at nine.", at="2024-01-01")
    ended = memory.invalidate(kept.id, at="2024-03-01")
    assert ended.times.valid_to == datetime(2024, 3, 1, tzinfo=UTC)
    with pytest.raises(InvalidInput):
        memory.invalidate(kept.id)


def a_place_is_explained_and_an_absence_too(memory: Verbs) -> None:
    kept = memory.remember("The heron stands by the weir.")
    other = memory.remember("Invoices are due on Friday.", kind="semantic")
    found = memory.recall("Where is the heron?", kinds=["episodic"])
    assert "rank 1" in str(memory.explain(found, kept.id))
    absent = memory.why_not("Where is the heron?", other.id, kinds=["episodic"])
    assert absent.stage == "filter" and "another kind" in absent.reason
    with pytest.raises(NotFound, match="not in this recall"):
        memory.explain(found, other.id)


def a_session_learns_and_asks(memory: Verbs) -> None:
    with memory.session("Repair the pump", scope="agent:one") as session:
        session.step("The pump makes no sound.", "Check the fuse.", 1.0)
        session.step("The fuse was blown, a new one helped.")
        found = memory.recall_in_context(session.id, "What helped?", repeat=True)
        assert any("fuse" in item.memory.text for item in found.items)
    assert memory.session(id=session.id).goal == "Repair the pump"
    assert memory.jobs()


def what_was_shown_in_a_session_is_not_shown_again(memory: Verbs) -> None:
    memory.remember("The ferry leaves at seven.")
    asked = [memory.recall("When does the ferry leave?", session="s1", recipe="mnemo") for _ in range(2)]
    assert [len(found.items) for found in asked] == [1, 0]


def messages_are_ingested_once(memory: Verbs) -> None:
    said = [{"role": "user", "content": "I moved to Bergen."}, {"role": "assistant", "content": "How is the rain?"}]
    told: list[int] = []
    first = memory.ingest(said, session="chat", progress=told.append)
    second = memory.ingest(said, session="chat")
    assert (first.kept, second.kept, second.known) == (2, 0, 2) and sum(told) == 2


def a_file_is_ingested_under_its_name(memory: Verbs, folder: Path) -> None:
    notes = folder / "notes.md"
    notes.write_text("# Garden\n\nThe roses are cut in March.\n", encoding="utf-8")
    report = memory.ingest(notes)
    assert (report.kept, report.files) == (1, 1)
    (kept,) = memory.list().items
    assert kept.origin.source is not None and "notes.md" in kept.origin.source
    with pytest.raises(InvalidInput, match="cannot be read"):
        memory.ingest(folder / "absent.md")


def upkeep_tells_before_it_does(memory: Verbs) -> None:
    memory.remember_many(["The bin is emptied on Monday.", "The bin is emptied on Monday!"])
    assert memory.tidy().run is None
    report = memory.audit(["near_duplicate", "duplicate"])
    assert report.checked == memory.stats().memories
    assert memory.consolidate("daily").written == ()


def an_export_is_taken_in_by_another(memory: Verbs) -> None:
    kept = memory.remember("The attic key hangs in the hall.", at="2024-01-01")
    held = io.BytesIO()
    memory.export(held)
    memory.forget(kept.id)
    held.seek(0)
    done = memory.import_(held)
    assert done.added == 1 and memory.get(kept.id).text == kept.text


def a_backup_is_a_file(memory: Verbs, folder: Path) -> None:
    memory.remember("The attic key hangs in the hall.")
    memory.backup(folder / "copy.db")
    assert (folder / "copy.db").read_bytes().startswith(b"SQLite format 3")
    with pytest.raises(InvalidInput, match="exists already"):
        memory.backup(folder / "copy.db")


def bad_input_is_refused_with_a_remedy(memory: Verbs) -> None:
    attempts: list[Callable[[], object]] = [
        lambda: memory.remember("  "),
        lambda: memory.remember("x", importance=7),
        lambda: memory.remember("x", kind="dream"),
        lambda: memory.remember("x", colour="red"),
        lambda: memory.remember("x", at="soon"),
        lambda: memory.recall("x", recipe="stew"),
        lambda: memory.recall("x", limit=0),
        lambda: memory.list(cursor="elsewhere"),
        memory.forget,
        lambda: memory.relate("Alice", "lives_in", " "),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidInput) as refused:
            attempt()
        assert refused.value.remedy
    assert memory.list().items == ()
    with pytest.raises(NotFound):
        memory.history("nobody at all")


def an_empty_space_answers(memory: Verbs) -> None:
    assert memory.recall("Is anybody there?").items == ()
    assert memory.list().items == () and memory.stats().memories == 0 and memory.jobs() == []
    assert memory.get("nobody") is None and Kind.EPISODIC not in memory.stats().kinds


STORIES: list[Callable[[Verbs], None]] = [
    remembers_and_recalls,
    the_same_again_is_the_same_memory,
    every_answer_says_what_became_of_the_text,
    many_answers_say_it_too_and_a_report_counts_them,
    a_new_text_under_a_key_is_a_new_version,
    many_are_kept_in_order,
    a_listing_goes_on_from_its_cursor,
    a_fact_supersedes_the_one_before,
    what_is_forgotten_is_gone,
    feedback_moves_and_can_be_undone,
    pins_are_listed_newest_first_and_stand_at_the_head,
    an_end_is_told_once,
    a_place_is_explained_and_an_absence_too,
    a_session_learns_and_asks,
    what_was_shown_in_a_session_is_not_shown_again,
    messages_are_ingested_once,
    upkeep_tells_before_it_does,
    an_export_is_taken_in_by_another,
    bad_input_is_refused_with_a_remedy,
    an_empty_space_answers,
]
FILE_STORIES: list[Callable[[Verbs, Path], None]] = [a_file_is_ingested_under_its_name, a_backup_is_a_file]
