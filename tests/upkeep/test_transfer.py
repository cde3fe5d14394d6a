"""Export and import: lossless, idempotent, and clear about what is wrong with a file."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.engine.engine import Engine
from memorist.errors import EmbeddingMismatch, InvalidInput
from memorist.model import Fact, Kind, Memory, Mention, Origin, Tier, Times, Usage, Worth, fields_of, from_data, to_data
from memorist.models.embedding_text import generation_of
from memorist.ports import Kept, Plan, Store
from memorist.recall.recipes import RECIPES
from memorist.stores.memory import MemoryStore
from memorist.stores.sqlite import SqliteStore
from memorist.testing.fakes import FakeEmbedder
from memorist.testing.world import memory
from memorist.upkeep import importing
from memorist_bench.datasets import load
from tests.upkeep.worlds import answers, fill, opened

STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda path: MemoryStore(path.stem),
    "sqlite": SqliteStore.open,
}
every_store = pytest.mark.parametrize("make", STORES.values(), ids=STORES)

moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))
texts = st.text(max_size=20)
maybe_moment, maybe_text = st.none() | moments, st.none() | texts
small, finite = st.integers(0, 2**40), st.floats(allow_nan=False, allow_infinity=False)
memories = st.builds(
    Memory,
    id=texts,
    text=texts,
    times=st.builds(Times, moments, moments, maybe_moment, maybe_moment, maybe_moment, maybe_moment),
    kind=st.sampled_from(Kind),
    scope=texts,
    tier=st.sampled_from(Tier),
    topic=maybe_text,
    original=maybe_text,
    keywords=st.lists(texts, max_size=3).map(tuple),
    worth=st.builds(
        Worth,
        importance=st.floats(0, 1),
        confidence=st.floats(0, 1),
        salience=st.floats(0, 1),
        trust=st.integers(0, 3),
        credibility=st.integers(1, 6),
        classification=st.integers(0, 3),
        emotion=st.floats(-5, 5),
        emotion_tags=st.lists(texts, max_size=2).map(tuple),
        flags=st.lists(texts, max_size=2).map(tuple),
        relevance=finite,
    ),
    usage=st.none() | st.builds(Usage, small, maybe_moment, st.lists(moments, max_size=2).map(tuple), small, finite),
    origin=st.builds(Origin, maybe_text, maybe_text, st.none() | small, maybe_text, maybe_text),
    mentions=st.lists(st.builds(Mention, texts, moments, moments), max_size=2).map(tuple),
    fact=st.none() | st.builds(Fact, texts, texts, texts),
    metadata=st.dictionaries(
        texts, st.none() | st.booleans() | finite | texts | st.lists(texts, max_size=2), max_size=2
    ),
    version=st.integers(1, 9),
    version_of=maybe_text,
    superseded_by=maybe_text,
)


@given(memories)
def test_any_memory_survives_its_json_form(given: Memory) -> None:
    assert from_data(Memory, json.loads(json.dumps(to_data(given)))) == given


def test_every_field_of_the_json_form_is_read() -> None:
    assert to_data(memory("a lamp")).keys() == fields_of(Memory).keys()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({}, "no id and no text"),
        ({"shape": "round"}, "unknown field, shape"),
        ({"text": 5}, "text must be a text, not int"),
        ({"kind": "opinion"}, "opinion"),
        ({"importance": 7}, "importance 7"),
        ({"importance": "high"}, "importance must be a number, not str"),
        ({"valid_from": "yesterday"}, "yesterday"),
        ({"fact": {"subject": "Ann"}}, "relation"),
        ({"mentions": 3}, "mentions must be a list, not int"),
    ],
)
def test_a_memory_of_the_wrong_form_is_refused(data: dict[str, Any], problem: str) -> None:
    whole = {**to_data(memory("a lamp")), **data} if data else data
    with pytest.raises(InvalidInput, match=problem):
        from_data(Memory, whole)


@every_store
@pytest.mark.parametrize("other", STORES.values(), ids=STORES)
def test_a_new_store_holds_and_answers_the_same(
    make: Callable[[Path], Store], other: Callable[[Path], Store], tmp_path: Path
) -> None:
    with opened(make(tmp_path / "a.db")) as old, opened(other(tmp_path / "b.db")) as new:
        fill(old)
        exported = old.export(tmp_path / "all.jsonl")
        imported = new.import_(tmp_path / "all.jsonl")
        assert (imported.added, imported.known, imported.lines) == (sum_of(old), 0, exported.lines)
        assert contents(new) == contents(old)
        assert answers(new) == answers(old)
        assert any(items for items, *_ in answers(old).values())


class AsksTwice(MemoryStore):
    """A store that lost its connection after the first answer to each plan."""

    def update(self, plan: Plan) -> list[Memory]:
        plan(self)
        return super().update(plan)


def test_what_a_store_asks_for_twice_is_counted_once(tmp_path: Path) -> None:
    with opened(MemoryStore("a")) as old, opened(AsksTwice("b")) as new:
        fill(old)
        old.export(tmp_path / "all.jsonl")
        imported = new.import_(tmp_path / "all.jsonl")
        assert (imported.added, imported.known) == (sum_of(old), 0)
        assert contents(new) == contents(old)


@every_store
def test_the_same_file_again_adds_nothing(make: Callable[[Path], Store], tmp_path: Path) -> None:
    with opened(make(tmp_path / "a.db")) as old, opened(make(tmp_path / "b.db")) as new:
        fill(old)
        old.export(tmp_path / "all.jsonl")
        new.import_(tmp_path / "all.jsonl")
        before, generation = contents(new), new.stats().generation
        again = new.import_(tmp_path / "all.jsonl")
        assert (again.added, again.updated, again.conflicts, again.known) == (0, 0, (), sum_of(old))
        assert contents(new) == before
        assert new.stats().generation == generation


def test_an_export_of_the_import_is_the_same_file(tmp_path: Path) -> None:
    with (
        opened(SqliteStore.open(tmp_path / "a.db")) as old,
        opened(SqliteStore.open(tmp_path / "b.db", space="a")) as new,
    ):
        fill(old)
        old.export(tmp_path / "one.jsonl")
        new.import_(tmp_path / "one.jsonl")
        new.export(tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_a_file_with_later_versions_brings_the_store_up_to_date(tmp_path: Path) -> None:
    with opened(MemoryStore("a")) as laptop, opened(MemoryStore("b")) as server:
        laptop.remember("Lamp one.", key="lamp")
        server.import_(exported(laptop))
        laptop.remember("Lamp two.", key="lamp")
        newer = exported(laptop)
        done = server.import_(newer)
        assert (done.added, done.updated, done.known) == (1, 1, 0)
        assert [memory.text for memory in server.list().items] == ["Lamp two."]
        assert sorted(map(repr, contents(server))) == sorted(map(repr, contents(laptop)))
        laptop.remember("Lamp three.", key="lamp")
        newer.seek(0)
        older = laptop.import_(newer)
        assert (older.added, older.updated, older.conflicts) == (0, 0, ())
        assert [memory.text for memory in laptop.list().items] == ["Lamp three."]


def test_what_contradicts_stays_as_the_store_has_it_and_is_told(tmp_path: Path) -> None:
    with opened(MemoryStore("a")) as one, opened(MemoryStore("b")) as other:
        mine = one.remember("The lamp is red.", key="lamp")
        other.remember("The lamp is blue.", key="lamp")
        other.remember("A book.", key="book")
        done = one.import_(exported(other))
        assert (done.added, done.conflicts) == (1, (mine.id,))
        assert one.get(mine.id) == mine.memory


def test_two_histories_of_a_fact_become_one(tmp_path: Path) -> None:
    with opened(MemoryStore("a")) as one, opened(MemoryStore("b")) as other:
        one.relate("Ann", "lives_in", "Oslo", valid_from="2020-01-01")
        other.relate("Ann", "lives_in", "Rome", valid_from="2022-01-01")
        one.import_(exported(other))
        assert [item.memory.text for item in one.recall("Where does Ann live?").items][:1] == ["Ann lives in Rome."]
        assert [item.memory.text for item in one.recall("Where does Ann live?", as_of="2021-06-01").items] == [
            "Ann lives in Oslo."
        ]
        before = contents(one)
        again = one.import_(exported(other))
        assert (again.added, contents(one)) == (0, before)


def test_an_import_that_broke_off_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 4)
    with opened(SqliteStore.open(tmp_path / "a.db")) as old, opened(SqliteStore.open(tmp_path / "b.db")) as new:
        fill(old)
        old.export(tmp_path / "all.jsonl")
        lines = (tmp_path / "all.jsonl").read_bytes().splitlines(keepends=True)
        for broken in range(2, len(lines), 7):
            with pytest.raises(InvalidInput, match=f"Line {broken} of .*cannot be read") as caught:
                new.import_(io.BytesIO(b"".join([*lines[: broken - 1], b'{"memory": {"id"\n', *lines[broken:]])))
            assert "complete batches" in caught.value.problem
        new.import_(tmp_path / "all.jsonl")
        assert sorted(map(repr, contents(new))) == sorted(map(repr, contents(old)))
        assert answers(new) == answers(old)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"", "not an export|Expecting value"),
        (b'{"hello": 1}\n', "not an export"),
        (b"[1, 2]\n", "not a JSON object"),
        (b'{"memorist": 99, "space": "a"}\n', "format 99"),
        (b"\xff\xfe\n", "Line 1"),
    ],
)
def test_a_file_that_is_no_export_is_refused(line: bytes, problem: str) -> None:
    with opened(MemoryStore()) as engine, pytest.raises(InvalidInput, match=problem):
        engine.import_(io.BytesIO(line))


def test_a_file_that_ends_early_is_told(tmp_path: Path) -> None:
    with opened(MemoryStore("a")) as old, opened(MemoryStore("b")) as new:
        fill(old)
        whole = exported(old).getvalue().splitlines(keepends=True)
        with pytest.raises(InvalidInput, match="ends early: 5 of"):
            new.import_(io.BytesIO(b"".join(whole[:6])))
        assert new.import_(io.BytesIO(b"".join(whole))).known == 5


def test_vectors_of_another_embedder_are_refused_and_can_be_left_out() -> None:
    with opened(MemoryStore("a")) as old, opened(MemoryStore("b"), FakeEmbedder(16)) as new:
        old.remember("a lamp")
        file = exported(old)
        with pytest.raises(EmbeddingMismatch, match="without_vectors=True"):
            new.import_(file)
        new.remember("a book")
        file.seek(0)
        with pytest.raises(EmbeddingMismatch, match="without_vectors=True"):
            new.import_(file)
        assert new.stats().memories == 1
        file.seek(0)
        new.import_(file, without_vectors=True)
        ids = [memory.id for memory in new.list().items]
        assert new.store.embedded(ids) == set(ids)
        assert new.store.embedding == generation_of(FakeEmbedder(16))


def test_without_its_vectors_a_procedure_is_embedded_by_what_it_is_for_again() -> None:
    with opened(MemoryStore("a")) as old, opened(MemoryStore("b"), FakeEmbedder(16)) as new:
        with old.session("Release Heron", "run") as run:
            run.step("The Heron server listens on port 8080.", "restart Heron", 0.9)
        (procedure,) = old.list(kinds="procedural").items
        views = old.store.vectors([procedure.id])[procedure.id].keys()
        new.import_(exported(old), without_vectors=True)
        assert new.store.vectors([procedure.id])[procedure.id].keys() == views >= {"text", "intent"}


def test_an_export_appears_whole_and_overwrites_nothing(tmp_path: Path) -> None:
    with opened(MemoryStore()) as engine:
        engine.remember("a lamp")
        engine.export(tmp_path / "all.jsonl")
        with pytest.raises(InvalidInput, match="exists already"):
            engine.export(tmp_path / "all.jsonl")
        with pytest.raises(InvalidInput, match="folder"):
            engine.export(tmp_path)
        engine.export(tmp_path / "all.jsonl", overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["all.jsonl"]


def test_a_conversation_answers_the_same_elsewhere(tmp_path: Path, data: Path) -> None:
    group = load(data / "eval" / "locomo").groups[0]
    turns = [
        {"text": one.text, "at": one.at, "speaker": one.speaker, "session": one.session, "position": place}
        for place, one in enumerate(group.documents[:400])
    ]
    questions = [question.text for question in group.questions[:5]]
    with opened(SqliteStore.open(tmp_path / "a.db")) as old, opened(SqliteStore.open(tmp_path / "b.db")) as new:
        old.remember_many(turns)
        new.import_(exported(old))
        assert answers(new, questions) == answers(old, questions)
    assert len(RECIPES) == 7


def exported(engine: Engine) -> io.BytesIO:
    file = io.BytesIO()
    engine.export(file)
    file.seek(0)
    return file


def contents(engine: Engine) -> list[Any]:
    """Everything but the counters, in a form that can be compared."""
    _, *records = engine.store.records()
    return [
        (record.memory, {view: vector.tobytes() for view, vector in record.vectors.items()}, record.jobs)
        if isinstance(record, Kept)
        else record
        for record in records
    ]


def sum_of(engine: Engine) -> int:
    stats = engine.stats()
    return stats.memories + stats.versions
