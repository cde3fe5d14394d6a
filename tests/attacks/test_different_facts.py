"""Different facts stay different: only case, white space and a final full stop make no difference."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorist
from memorist import Engine, Outcome
from memorist.ports import Batch
from memorist.remember.entities import entity_named
from memorist.remember.gates import Policy
from memorist.stores.memory import MemoryStore
from memorist.text.sameness import canonical

PAIRS = [
    ("Blood type: O+", "Blood type: O-"),
    ("The balance is +100.", "The balance is -100."),
    ("It is -5 outside.", "It is 5 outside."),
    ("Take .5 mg at noon.", "Take 5 mg at noon."),
    ("The fee is $100.", "The fee is €100."),
    ("In the proof x = 3.", "In the proof x != 3."),
    ("The arrow goes A → B.", "The arrow goes B → A."),
    ("👍", "👎"),
    ("A+", "A-"),
    ("C", "C++"),
    ("C++", "C#"),
    ("You are coming.", "You are coming?"),
    ("You are coming.", "You are coming!"),
    ("Area in x²", "Area in x2"),
    ("Trink in Maßen.", "Trink in Massen."),
    ("Her resume is here.", "Her résumé is here."),
    ("Well, it is the cat.", "It is the cat."),
    ("Alice has really been at Google for 5 years.", "Alice has been at Google for 5 years."),
    ("The ratio is 1:2.", "The ratio is 1/2."),
    ("Call f(x) now.", "Call f[x] now."),
]
SAME = [
    ("I like tea.", "i  like TEA"),
    ("👍", " 👍 "),
    ("我住在东京。", "我住在东京"),
    ("The of and", "the OF and."),
    ("x", "X"),
]

FINDABLE = {
    "stop words": "to be or not to be",
    "emoji": "👍",
    "letter": "x",
    "chinese": "我住在东京",
    "long": "lamp " * 20_000,
}


@pytest.fixture
def engine() -> Iterator[Engine]:
    with opened() as made:
        yield made


def opened(**policy: str) -> Engine:
    return Engine(MemoryStore(), background=False, policy=Policy(**policy))


def current(engine: Engine) -> list[str]:
    return [memory.text for memory in engine.list().items if memory.fact is None]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_different_texts_are_two_memories(engine: Engine, one: str, other: str) -> None:
    assert [engine.remember(text).outcome for text in (one, other)] == ["kept", "kept"]
    assert [answer.outcome for answer in engine.remember_many([one, other, other])] == ["known"] * 3
    assert current(engine) == [one, other]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_text_is_one_memory(engine: Engine, one: str, other: str) -> None:
    kept, known = engine.remember(one), engine.remember(other)
    assert (kept.outcome, known.outcome) == ("kept", "known")
    assert known.memory == kept.memory and current(engine) == [one]


@given(st.text(" .-+#?!aAbBéÉ²2。👍", min_size=1, max_size=6), st.text(" .-+#?!aAbBéÉ²2。👍", min_size=1, max_size=6))
def test_two_texts_are_one_memory_exactly_if_they_agree(one: str, other: str) -> None:
    texts = [f"rating {one}", f"rating {other}"]
    with opened() as engine:
        kept = [engine.remember(text) for text in texts]
        differ = canonical(texts[0]) != canonical(texts[1])
        assert [written.outcome for written in kept] == ["kept", "kept" if differ else "known"]
        found = {item.memory.id for item in engine.recall("rating").items}
        assert found == {written.id for written in kept} and len(found) == 1 + differ


@pytest.mark.parametrize("text", FINDABLE.values(), ids=FINDABLE)
def test_a_known_text_is_found_among_many_others(tmp_path: Path, text: str) -> None:
    with memorist.open(tmp_path / "many.db", embedder="none", background=False) as engine:
        engine.remember_many([text, *(f"{text[:40]} {sign}" for sign in "abcdefgh+-👎我")])
        assert engine.remember(f"{text.upper()}.").outcome is Outcome.KNOWN


def test_of_two_that_say_the_same_at_once_one_is_known(tmp_path: Path) -> None:
    texts, meet = ["The lamp is on.", "the lamp is ON"] * 2, Barrier(4)

    def say(text: str) -> str:
        with memorist.open(tmp_path / "a.db", embedder="none", background=False) as engine:
            meet.wait()
            return engine.remember(text).outcome

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(say, texts)) == ["kept", "known", "known", "known"]


def test_the_write_decides_when_the_check_came_too_early(engine: Engine) -> None:
    store, checked = engine.store, engine._writer._gates.check  # pyright: ignore[reportPrivateUsage]

    def late(*given: object) -> object:
        done = checked(*given)  # type: ignore[arg-type]
        other = Engine(store, background=False)  # not closed, because it shares the store
        assert other.remember("The lamp is on.").outcome is Outcome.KEPT
        return done

    engine._writer._gates.check = late  # type: ignore[method-assign, assignment]
    answer = engine.remember("the lamp is ON", speaker=None)
    assert (answer.outcome, answer.text, current(engine)) == (Outcome.KNOWN, "The lamp is on.", ["The lamp is on."])


# Siblings: other places that compare texts


@pytest.mark.parametrize("apart", [{"speaker": "Ben"}, {"kind": "semantic"}, {"original": "Jag heter Ann."}])
def test_the_same_words_of_somebody_else_are_another_memory(engine: Engine, apart: dict[str, str]) -> None:
    said = [engine.remember("I am the eldest.", **fields) for fields in ({"speaker": "Ann"}, apart, apart)]  # type: ignore[arg-type]
    assert [saying.outcome for saying in said] == ["kept", "kept", "known"] and said[1].id == said[2].id


def test_what_has_ended_can_be_said_again(engine: Engine) -> None:
    first = engine.remember("The shop is open.")
    engine.invalidate(first.id)
    again, more = engine.remember("The shop is open."), engine.remember("the shop is open")
    assert (again.outcome, more.outcome, more.id == again.id != first.id) == ("kept", "known", True)
    assert [item.memory.id for item in engine.recall("Is the shop open?").items] == [again.id]


def test_a_turn_that_has_ended_is_not_brought_back_by_reading_the_chat_again(engine: Engine) -> None:
    chat = [{"role": "user", "content": "The shop is open."}]
    engine.ingest(chat, session="s")
    engine.invalidate(engine.list().items[0].id)
    assert (engine.ingest(chat, session="s").known, engine.list().items) == (1, ())


CHANGED = [
    ("Take the blue pills every morning (5 mg)", "Take the blue pills every morning (10 mg)"),
    ("The blood type of Alice is known: O+", "The blood type of Alice is known: O-"),
    ("2024-05-01 Ann paid the rent of her flat", "2024-06-01 Ann paid the rent of her flat"),
    ("Ann: I am allergic to penicillin", "Ben: I am allergic to penicillin"),
    ("-5 is the lowest temperature there", "5 is the lowest temperature there"),
]


def test_a_list_of_changed_facts_is_no_copy_of_the_old_ones(engine: Engine) -> None:
    for old, _ in CHANGED:
        engine.remember(old)
    assert engine.remember("\n".join(new for _, new in CHANGED)).outcome is Outcome.KEPT
    assert engine.remember("\n".join(f"- {old}" for old, _ in CHANGED)).outcome is Outcome.WITHHELD


@pytest.mark.parametrize("text", ["C++", "5", "+100", "👍", "A-", "O+"])
def test_a_short_fact_is_no_noise(text: str) -> None:
    with opened(noise="skip") as engine:
        assert engine.remember(text).outcome is Outcome.KEPT


def test_noise_is_learnt_by_the_whole_text(engine: Engine) -> None:
    engine.store.learn_noise(["C++"], keep=10)
    assert [engine.remember(text).worth.flags for text in ("C#", "c++.")] == [(), ("noise",)]


@pytest.mark.parametrize(("one", "other"), [("O+", "O-"), ("C", "C++"), ("C++", "C#"), ("Maße", "Masse"), ("a/b", "a")])
def test_different_names_are_different_facts(engine: Engine, one: str, other: str) -> None:
    for value in (one, other):
        engine.relate("Alice", "knows", value)
        engine.relate(value, "knows", "Bob")
    assert {fact.fact.object for fact in engine.history("Alice") if fact.fact} == {one, other}
    assert {fact.fact.subject for fact in engine.history("Bob") if fact.fact} == {one, other}


@pytest.mark.parametrize(("one", "other"), [("A+", "A-"), ("C", "C++"), ("C++", "C#")])
def test_different_names_are_different_entities(engine: Engine, one: str, other: str) -> None:
    for name in (one, other):
        engine.relate(name, "knows", "Bob")
    assert [len(engine.store.entities([name])) for name in (one, other)] == [1, 1]
    assert engine.store.entities([one]) != engine.store.entities([other])


def test_an_alias_of_one_is_not_the_name_of_another(engine: Engine) -> None:
    engine.relate("Ann", "lives_in", "Oslo")
    engine.relate("Anne", "lives_in", "Rome")
    called = {"Anne": ("Ann", "Annie", "Nan"), "Annika": ("Annie",)}
    engine.store.put(Batch(entities=[replace(entity_named(name), aliases=also) for name, also in called.items()]))
    told = [engine.relate(name, "lives_in", "Paris") for name in ("Ann", "Annie", "Nan")]
    assert [kept.fact and kept.fact.subject for kept in told] == ["Ann", "Annie", "Anne"]


def test_a_slash_in_a_name_does_not_make_two_facts_one(engine: Engine) -> None:
    told = [engine.relate("a/b", "c", "d"), engine.relate("a", "b/c", "d")]
    assert len({kept.id for kept in told}) == 2 and engine.stats().memories == 2


def test_a_new_value_ends_the_old_one_and_keeps_it(engine: Engine) -> None:
    engine.relate("Alice", "current_grade", "A+")
    engine.relate("Alice", "current_grade", "A-")
    assert [version.fact and version.fact.object for version in engine.history("Alice")] == ["A-", "A+"]


@pytest.mark.parametrize(("one", "other"), [pair for pair in PAIRS if len(pair[0]) > 2])
def test_upkeep_neither_merges_nor_drops_different_facts(engine: Engine, one: str, other: str) -> None:
    kept = [engine.remember(text, kind="semantic", source="session/s", session="s").id for text in (one, other)]
    engine.audit(["duplicate", "near_duplicate", "contradiction", "loop"], fix=True)
    engine.tidy(dry_run=False)
    assert all(memory and memory.times.retracted_at is None for memory in map(engine.get, kept))


def test_liking_one_thing_does_not_contradict_disliking_another(engine: Engine) -> None:
    engine.remember_many(["Alice likes the language C++ a lot.", "Alice does not like the language C# a lot."])
    assert engine.audit(["contradiction"]).findings == ()


def test_messages_that_differ_in_a_sign_are_all_ingested(engine: Engine) -> None:
    said = [{"role": "user", "content": text} for pair in PAIRS[:10] for text in pair]
    assert engine.ingest(said, session="s").kept == len(said)
    assert engine.ingest(said, session="s").known == len(said)
