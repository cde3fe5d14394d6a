"""The index file: what it gives is what the rows give, and nothing that happens to it is worse than its absence."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memorist.engine.engine import Engine
from memorist.model import Entity, Filter, Hit, Link, Memory, Mention, Origin, Related, Worth, instant
from memorist.model.filter import condition_of
from memorist.ports import Batch
from memorist.stores import index_file, index_sync
from memorist.stores.index import Index, IndexView
from memorist.stores.index_file import IndexFile
from memorist.stores.sqlite import SqliteStore
from memorist.stores.sqlite.restoring import restore
from memorist.testing import FakeClock, FakeEmbedder, memory
from tests.stores.worlds import small_numbers

ALL = Filter()
AT = instant("2024-07-01")
EMBEDDER = FakeEmbedder()
WORDS = (
    "alice", "moved", "moving", "stockholm", "lantern", "harbour", "user_id", "banana", "katze", "東京", "我", "😂",
    "c++", "nul\0nul", "order-abc-1234",
)  # fmt: skip
CONDITIONS: Sequence[dict[str, Any]] = (
    {"speaker": "Ann"},
    {"metadata.room": "é\n", "session": {"ne": "t"}},
    {"or": [{"metadata.number": {"gt": 20}}, {"metadata.room": {"exists": False}}]},
    {"source": "nobody"},
)
QUESTIONS = ("alice moves", "Stokholm", "ana", "東京都", "lantern harbour", "user_id 1234", "nowhere", "nul", "")


@pytest.fixture(autouse=True)
def _every_index_has_a_file(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(index_sync, "FEWEST_ROWS", 0)
    monkeypatch.setattr(index_sync, "REST", 0)
    with small_numbers():
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


def file_of(path: Path) -> Path:
    return path.with_name(path.name + "-index")


def told(number: int, dice: random.Random) -> Memory:
    words = dice.choices(WORDS, k=dice.randint(1, 9))
    day = AT + timedelta(days=number)
    return memory(
        f"{' '.join(words)} {number}.",
        id=f"m{number}",
        scope=dice.choice(("global", "work/a", "work/b")),
        topic=dice.choice((None, "trip", "home")),
        origin=Origin(speaker=dice.choice(("Ann", "Bob")), session="s", position=number),
        worth=Worth(classification=dice.choice((0, 1, 2))),
        mentions=(Mention("then", day, day + timedelta(days=2)),) if number % 3 == 0 else (),
        original="Ein Haus am Hafen" if number % 5 == 0 else None,
        metadata={"room": dice.choice(("a", "é\n")), "number": number} if number % 4 else {},
    )


def write(store: SqliteStore, numbers: Sequence[int], dice: random.Random) -> None:
    memories = [told(number, dice) for number in numbers]
    rows = EMBEDDER.embed([memory.text for memory in memories], purpose="memory")
    vectors = {one.id: {"text": row} for one, row in zip(memories, rows, strict=True) if dice.random() < 0.8}
    names = [f"person{dice.randint(0, 9)}" for _ in memories]
    kinds = ("subject", "object", "mentions")
    links = [Link(memory.id, dice.choice(kinds), name) for memory in memories for name in names[:3]]
    store.put(Batch(memories, vectors, links, [Entity(name, name.title()) for name in set(names)]))


def filled(path: Path, count: int = 40, seed: int = 1) -> SqliteStore:
    """A store with memories and a file."""
    store = SqliteStore.open(path)
    store.adopt(f"{EMBEDDER.generation}:turns-1", EMBEDDER.dim)  # as the engine names it
    write(store, range(count), random.Random(seed))
    store.view()
    finished(store)
    return store


def finished(store: SqliteStore) -> None:
    """Wait for the file that is being written."""
    store._cache._finish_work()


def built(store: SqliteStore) -> IndexView:
    """The view of an index that is built from the rows."""
    with store._snapshot() as reads:
        index = Index()
        index.apply(reads.changed(0), (), generation=reads.counters().seq, embedding=reads.embedding())
    return index.view()


def answers(view: IndexView) -> list[Any]:
    """Everything that a view is asked, to the last bit."""
    filters = [ALL, Filter(scopes=("work/*",)), Filter(kinds=("episodic",), topic="trip"), Filter(max_classification=1)]
    conditioned = [Filter(conditions=condition_of(condition)) for condition in CONDITIONS]
    probes = EMBEDDER.embed(["lantern", "alice moved"], purpose="query")
    ids = [f"m{number}" for number in range(80)]
    found: list[Any] = [view.size, view.generation, view.embedding]
    for part in (view, view.part(0, 1), view.part(2, 2)):
        for where in filters:
            for question in QUESTIONS:
                for search in (part.search_text, part.search_substring, part.search_trigram, part.search_signature):
                    found.append(search(question, where, 20))
            found += [part.search_vector(probes[:1], where, 7), part.search_vector(probes, where, 50)]
            found.append(part.search_time(AT, AT + timedelta(days=9), where, 20, reach=timedelta(days=5)))
        for where in (ALL, *conditioned):
            found += [part.tally(where), *pages(part, where)]
            found.append(sorted(map(related_to, part.related(["person1", "person2"], where, 4)), key=str))
        graph, admitted = part.graph(ALL)
        names = {number: name for name, number in graph.nodes.items()}
        ends = zip(graph.source.tolist(), graph.target.tolist(), graph.memories, admitted.tolist(), strict=True)
        found.append([(names[one], names[two], memory) for one, two, memory, holds in ends if holds])
        found.append(part.cosines(probes[0], ids))
        found.append({id: vector.tolist() for id, vector in part.vectors(ids).items()})
    return found


def related_to(one: Related) -> tuple[object, ...]:
    return one.source, one.relation, one.target, sorted(one.memories)


def pages(view: IndexView, where: Filter) -> Iterator[list[Hit]]:
    """The newest memories, page by page."""
    page = view.newest(where, 9)
    while page:
        yield page
        page = view.newest(where, 9, page[-1])


def test_those_tied_for_the_last_place_are_chosen_by_id(path: Path) -> None:
    filled(path, 90).close()
    store = SqliteStore.open(path)
    write(store, [*range(90, 120), 3, 5, 8], random.Random(2))
    store.delete(["m10", "m11", "m95"])
    view = store.view()
    searches = [partial(view.search_substring, text, ALL) for text in ("ana", "lantern", "東京", "m")]
    searches += [partial(view.search_time, AT, AT + timedelta(days=200), ALL), partial(view.newest, ALL)]
    for search in searches:
        every = search(1000)
        assert every == sorted(every, key=lambda hit: (-hit.score, hit.id))
        assert all(search(limit) == every[:limit] for limit in range(len(every)))
    assert [hit for page in pages(view, ALL) for hit in page] == view.newest(ALL, 1000)
    store.close()


@pytest.mark.parametrize(
    ("seed", "rounds"), [(0, 3), *(pytest.param(seed, 8, marks=pytest.mark.slow) for seed in range(6))]
)
def test_after_any_writes_a_file_gives_what_the_rows_give(path: Path, seed: int, rounds: int) -> None:
    dice, last, alive = random.Random(seed), 0, list[int]()
    filled(path, 1, seed).close()
    for _ in range(rounds):
        store = SqliteStore.open(path)
        answers(store.view())  # what it remembers of these must not outlive a write
        for _ in range(dice.randint(0, 4)):
            new = range(last + 1, last + dice.randint(2, 25))
            last = new[-1]
            alive += new
            write(store, [*new, *dice.sample(alive, min(3, len(alive)))], dice)
            if dice.random() < 0.6:
                gone = dice.sample(alive, min(dice.randint(1, 12), len(alive)))
                alive = [number for number in alive if number not in gone]
                store.delete([f"m{number}" for number in gone])
            if dice.random() < 0.5:
                assert store.view().size == store.stats().memories + store.stats().versions
        assert_same(store)
        store.close()
        again = SqliteStore.open(path)
        assert again._index_file.open() is not None
        assert_same(again)
        again.close()


def assert_same(store: SqliteStore) -> None:
    ours, theirs = answers(store.view()), answers(built(store))
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert one == other


def test_a_recall_is_the_same_with_and_without_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path, 60).close()
    found: list[list[Any]] = []
    for _ in range(2):
        with Engine(SqliteStore.open(path), embedder=EMBEDDER, clock=FakeClock(), background=False) as engine:
            recalls = [engine.recall(asked) for asked in QUESTIONS[:5]]
        found.append([[(item.memory.id, item.score) for item in recall.items] for recall in recalls])
        monkeypatch.setattr(IndexFile, "open", lambda self: None)
    assert found[0] == found[1] and any(found[0])


def test_a_process_opens_the_file_and_reads_only_what_is_newer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path, 40).close()
    monkeypatch.setattr(index_sync, "FEWEST_ROWS", 10_000)
    store = SqliteStore.open(path)
    store.put(Batch([memory("a new lamp", id="lamp")]))
    read: list[str] = []
    apply = Index.apply
    monkeypatch.setattr(
        Index, "apply", lambda self, entries, *rest, **more: apply(self, noted(entries, read), *rest, **more)
    )
    assert [hit.id for hit in store.view().search_text("lamp", ALL, 5)] == ["lamp"]
    assert read == ["lamp"]
    assert_same(store)
    store.close()


def noted(entries: Any, read: list[str]) -> list[Any]:
    kept = list(entries)
    read += [entry.id for entry in kept]
    return kept


def test_the_process_that_wrote_a_file_goes_on_with_it(path: Path) -> None:
    store = filled(path, 40)
    finished(store)
    state = store._cache._state
    assert state is not None and (state.began_with, state.began.seq > 0) == (40, True)
    assert_same(store)
    store.close()


def flipped(at: float) -> Any:
    def damage(file: Path) -> None:
        data = bytearray(file.read_bytes())
        data[int(at * (len(data) - 1))] ^= 0x40
        file.write_bytes(data)

    return damage


def cut(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def zeroed_page(file: Path) -> None:
    data = bytearray(file.read_bytes())
    start = 4096 * next(n for n in range(1, len(data) // 4096) if any(data[4096 * n : 4096 * (n + 1)]))
    data[start : start + 4096] = bytes(4096)
    file.write_bytes(data)


def of_another_format(file: Path) -> None:
    file.write_bytes(b"\x80\x04\x95pickle" + file.read_bytes())


DAMAGES = [flipped(0), flipped(0.00002), zeroed_page, cut, emptied, of_another_format, flipped(1)]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_noticed_and_written_anew(path: Path, damage: Any) -> None:
    filled(path).close()
    damage(file_of(path))
    store = SqliteStore.open(path)
    assert store._index_file.open() is None
    assert_same(store)
    store.close()
    again = SqliteStore.open(path)
    assert again._index_file.open() is not None
    again.close()


def test_every_byte_of_the_arrays_is_checked(path: Path) -> None:
    filled(path).close()
    whole, store = file_of(path).read_bytes(), SqliteStore.open(path)
    dice, used = random.Random(5), [place for place, byte in enumerate(whole) if byte]
    for place in dice.sample(used, 60):
        data = bytearray(whole)
        data[place] ^= 1 << dice.randint(0, 7)
        file_of(path).write_bytes(data)
        assert store._index_file.open() is None, place
    store.close()


def test_a_file_of_another_database_is_not_used(path: Path, tmp_path: Path) -> None:
    filled(path).close()
    other = tmp_path / "b.db"
    filled(other, 40, seed=2).close()
    shutil.copy(file_of(other), file_of(path))
    store = SqliteStore.open(path)
    assert_same(store)
    store.close()


def test_a_file_that_others_could_have_written_is_not_used(path: Path) -> None:
    filled(path).close()
    file_of(path).chmod(0o666)
    store = SqliteStore.open(path)
    assert store._index_file.open() is None
    store.close()
    file_of(path).unlink()
    file_of(path).symlink_to(path)
    store = SqliteStore.open(path)
    assert store._index_file.open() is None
    assert_same(store)
    store.close()
    assert not file_of(path).is_symlink() and path.stat().st_size > 0


def test_the_file_is_as_private_as_the_database(path: Path) -> None:
    filled(path).close()
    assert file_of(path).stat().st_mode & 0o777 == 0o600
    file_of(path).unlink()
    path.chmod(0o640)
    store = SqliteStore.open(path)
    store.view()
    store.close()
    assert file_of(path).stat().st_mode & 0o777 == 0o640


def test_a_restored_backup_is_not_searched_with_a_newer_file(path: Path, tmp_path: Path) -> None:
    store = filled(path)
    finished(store)
    store.backup(tmp_path / "backup.db")
    write(store, range(100, 180), random.Random(8))
    store.close()
    later = SqliteStore.open(path)
    later.view()
    later.close()
    restore(tmp_path / "backup.db", path)
    assert not file_of(path).exists()
    store = SqliteStore.open(path)
    write(store, range(200, 290), random.Random(9))  # it has as many writes as the file, and others
    assert_same(store)
    store.close()


def forgotten_in(folder: Path, words: Sequence[str]) -> list[str]:
    data = b"\n".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    return [word for word in words if word.encode() in data]


def test_what_is_erased_takes_the_file_with_it(path: Path, tmp_path: Path) -> None:
    store = filled(path)
    links = [Link("secret", "mentions", name) for name in ("zqpersonqz", "zqotherqz")]
    store.put(Batch([memory("zqsecretqz lies here", id="secret")], links=links))
    file_of(path).unlink(missing_ok=True)
    store.view()
    store.close()
    assert b"zqsecretqz" in file_of(path).read_bytes() and b"zqpersonqz" in file_of(path).read_bytes()
    store = SqliteStore.open(path)
    store.view()
    store.delete(["secret"])
    assert not file_of(path).exists()
    assert forgotten_in(tmp_path, ["zqsecretqz", "zqotherqz"]) == []
    assert_same(store)
    store.close()
    assert file_of(path).exists() and forgotten_in(tmp_path, ["zqsecretqz", "zqotherqz"]) == []


def test_a_file_that_was_begun_before_something_was_erased_is_never_put_in_place(path: Path, tmp_path: Path) -> None:
    store = filled(path)
    store.put(Batch([memory("zqsecretqz lies here", id="secret")]))
    view, at = store.view(), store._read(lambda reads: reads.counters())
    finished(store)
    other = SqliteStore.open(path)
    other.delete(["secret"])
    assert not store._index_file.take(view, at)
    assert forgotten_in(tmp_path, ["zqsecretqz"]) == []
    other.close()
    store.close()


def test_a_text_that_is_masked_leaves_the_file_when_the_store_is_rewritten(path: Path, tmp_path: Path) -> None:
    store = filled(path)
    store.put(Batch([memory("zqsecretqz lies here", id="secret")]))
    file_of(path).unlink()
    view, at = store.view(), store._read(lambda reads: reads.counters())
    finished(store)
    assert b"zqsecretqz" in file_of(path).read_bytes()
    store.put(Batch(revised=[memory("[masked] lies here", id="secret")]))
    assert store.scrub(rewrite=True)
    assert forgotten_in(tmp_path, ["zqsecretqz"]) == []
    assert not store._index_file.take(view, at)
    store.close()
    assert file_of(path).exists() and forgotten_in(tmp_path, ["zqsecretqz"]) == []


def test_a_process_that_is_killed_while_it_writes_leaves_nothing(path: Path, tmp_path: Path) -> None:
    filled(path).close()
    file_of(path).unlink()
    code = f"""
import os, signal
from memorist.stores import index_sync
from memorist.stores.sqlite import SqliteStore
index_sync.FEWEST_ROWS = 0
store = SqliteStore.open({str(path)!r})
store._index_file._publish = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
store.view()
store.close()
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert not file_of(path).exists()
    store = SqliteStore.open(path)
    assert sorted(file.name for file in tmp_path.iterdir() if file.name.endswith(".parts")) == []
    assert_same(store)
    store.close()


def test_a_full_disk_or_a_read_only_folder_means_no_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for name in ("write_parts", "make_folder", "sync"):
        with monkeypatch.context() as patch:
            patch.setattr(index_file, name, full)
            store = filled(path) if not path.exists() else SqliteStore.open(path)
            assert_same(store)
            store.close()
            assert not file_of(path).exists()
    monkeypatch.setattr(index_file.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(2**30, 2**30, 0))  # type: ignore[attr-defined]
    store = SqliteStore.open(path)
    assert_same(store)
    store.close()
    assert not file_of(path).exists()


def test_an_embedding_that_is_switched_is_not_searched_with_the_old_vectors(path: Path) -> None:
    store = filled(path)
    finished(store)
    store.prepare("axes", 3)
    while lacking := store.without_vectors("axes", 10):
        store.add_vectors("axes", lacking, {memory.id: {"text": np.eye(3, dtype=np.float32)[0]} for memory in lacking})
    assert store.switch("axes")
    store.close()
    again = SqliteStore.open(path)
    assert again.view().embedding == "axes"
    assert again.view().vectors(["m1"])["m1"].tolist() == [1, 0, 0]
    again.close()


def test_a_file_that_could_not_be_put_in_place_is_written_when_the_store_is_closed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else held the write lock; the store rests before it tries again, but not beyond its end."""
    monkeypatch.setattr(index_sync, "REST", 3600)
    put, tries = IndexFile.put, list[Path]()

    def busy_once(self: IndexFile, part: Path, token: str, at: Any) -> bool:
        tries.append(part)
        return len(tries) > 1 and put(self, part, token, at)

    monkeypatch.setattr(IndexFile, "put", busy_once)
    store = SqliteStore.open(path)
    store.put(Batch([memory("a lamp", id="lamp")]))
    store.view()
    store.close()
    assert len(tries) == 2 and path.with_name(f"{path.name}-index").exists()
