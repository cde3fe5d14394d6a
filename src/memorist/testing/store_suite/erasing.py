"""Tests of erasing, hostile texts, and several users of one store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memorist.model import Entity, Filter, Link, Origin, Usage, instant
from memorist.ports import Batch, Store
from memorist.testing.store_suite.base import ALL, EMBEDDER, SEARCHES, StoreCase, everything, ids, put, put_embedded
from memorist.testing.world import memory, sample_world


class Erasing(StoreCase):
    """Erasing memories with their versions, vectors, links and usage."""

    def test_nothing_of_a_memory_is_left(self, store: Store) -> None:
        """No version, link, neighbour or hit remains."""
        origin = Origin(session="s", position=1)
        put_embedded(store, memory("the secret lamp", id="lamp", origin=origin))
        put_embedded(store, memory("the secret lamp is lit", id="lamp", origin=origin))
        put(store, memory("a book", id="book", origin=Origin(session="s", position=2)))
        bystander = Link("book", "next", "shelf")
        store.put(Batch(links=[Link("lamp", "next", "book"), Link("book", "about", "lamp"), bystander]))
        gone = store.delete(["lamp"])
        assert "lamp" in gone
        assert (store.get(["lamp", *gone]), store.history("lamp")) == ({}, [])
        assert ids(everything(store)) == ids(store.neighbours(["book"], 5, 5)["book"]) == ["book"]
        assert store.links(["lamp", "book"]) == [bystander]
        view = store.view()
        assert (view.size, view.vectors(gone)) == (1, {})
        for search in SEARCHES:
            assert list(search.run(view, "secret lamp", ALL, 9)) == []
        stats = store.stats()
        assert (stats.memories, stats.versions, stats.links) == (1, 0, 1)

    def test_only_what_was_there_is_reported(self, store: Store) -> None:
        """Unknown and repeated ids are ignored."""
        put(store, memory("a lamp", id="lamp"))
        assert store.delete(["lamp", "nothing", "lamp"]) == ["lamp"]
        before = store.view().generation
        assert store.delete(["lamp"]) == store.delete([]) == []
        assert store.view().generation == before

    def test_entities_stay(self, store: Store) -> None:
        """An entity outlives the last memory about it."""
        bo = Entity("e:bo", "Bo")
        store.put(Batch([memory("a lamp", id="lamp")], links=[Link("lamp", "about", "e:bo")], entities=[bo]))
        store.delete(["lamp"])
        assert (store.entities(["bo"]), store.links(["e:bo"])) == ([bo], [])

    def test_a_batch_may_erase_an_entity_and_name_it_anew(self, store: Store) -> None:
        """Its names are removed before those of the batch are added; links to it stay."""
        bo = Entity("e:bo", "Bo", "person", aliases=("Robert", "Bobby"))
        link = Link("lamp", "about", "e:bo")
        store.put(Batch([memory("a lamp", id="lamp")], links=[link], entities=[bo, Entity("e:al", "Al")]))
        fewer = Entity("e:bo", "Bo", "person", aliases=("Bobby",))
        store.put(Batch(erased=["e:bo", "e:al"], entities=[fewer]))
        assert store.entities(["bo", "bobby", "robert", "al"]) == [fewer]
        assert (store.entities(["robert"]), store.entities_by_prefix(["Rob", "Al"]), store.links(["e:bo"])) == (
            [],
            [],
            [link],
        )
        assert (ids(everything(store)), store.stats().entities) == (["lamp"], 1)

    def test_scrubbing_keeps_everything_else(self, store: Store) -> None:
        """Overwriting erased data changes nothing else, even when all files are rewritten."""
        world = put_embedded(store, *sample_world())
        store.delete([world[0].id])
        kept = everything(store)
        store.scrub()  # a server leaves the rest to a job
        assert store.scrub(rewrite=True)
        assert everything(store) == kept == list(world[1:])
        probe = EMBEDDER.embed([world[1].text], purpose="query")
        assert ids(store.view().search_vector(probe, ALL, 1)) == [world[1].id]

    def test_the_noise_bank_can_be_emptied(self, store: Store) -> None:
        """With `keep=0`."""
        store.learn_noise(["hm", "ok"], keep=9)
        store.learn_noise([], keep=0)
        assert store.noise() == []

    def test_a_memory_may_come_back(self, store: Store) -> None:
        """It is new again: version 1, no usage, and searched by its new text."""
        put_embedded(store, memory("a lamp", id="lamp"))
        store.touch(["lamp"], instant("2024-07-01"))
        store.view()
        store.delete(["lamp"])
        (again,) = put_embedded(store, memory("a book", id="lamp"))
        assert (again.version, again.usage) == (1, Usage())
        assert store.get(["lamp"]) == {"lamp": again}
        view = store.view()
        assert (view.size, ids(view.search_text("book", ALL, 9))) == (1, ["lamp"])
        assert view.search_text("lamp", ALL, 9) == []

    def test_everything_can_go(self, store: Store) -> None:
        """An emptied store works like a new one."""
        world = put_embedded(store, *sample_world())
        assert sorted(store.delete(ids(world))) == sorted(ids(world))
        assert (everything(store), store.view().size) == ([], 0)
        put_embedded(store, *world)
        probe = EMBEDDER.embed([world[0].text], purpose="query")
        assert ids(store.view().search_vector(probe, ALL, 1)) == [world[0].id]


TEXTS = {
    "empty": "",
    "space": " \t\n\u3000 ",
    "quotes": "\"' OR NEAR( * ^ : { } AND NOT",
    "sql": "'); DROP TABLE memories; --",
    "wildcards": "%_%*?[a-z]\\",
    "nul": "before\0after",
    "control": "\x01\x02\x1b[31m\x7f\x85",
    "right to left": "\u202eمرحبا بالعالم\u202c שלום",
    "emoji": "👩‍👩‍👧‍👦 🇳🇴 👍🏽 ❤️",
    "combining": "Z̸̢̛" + "\u0301" * 500,
    "unspaced": "東京特許許可局" * 200,
    "long word": "x" * 20_000,
    "long text": "the quick brown fox " * 5_000,
    "numbers": "1e308 -0 NaN inf 0x7f ½ ٣ Ⅷ",
    "json": '{"a": ["\\u0000", null]}',
    "astral": "𝕬𝖑𝖎𝖈𝖊 \U0010fffd \ufffe",
}
every_text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)


class Hostile(StoreCase):
    """Texts that break naive stores."""

    @every_text
    def test_any_text_can_be_kept(self, store: Store, text: str) -> None:
        """As text, original, keyword, label, id and metadata."""
        given = memory(
            text,
            id=f"id {text}",
            scope=text,
            topic=text,
            original=text,
            keywords=(text,),
            origin=Origin(text, text, 1, text, text),
            metadata={text: [text, {"deep": text}]},
        )
        (stored,) = put_embedded(store, given)
        assert stored == given == store.get([given.id])[given.id]
        assert ids(store.scan(Filter(scopes=(text,), topic=text), 5).items) == [given.id]
        assert ids(store.neighbours([given.id], 1, 1)[given.id]) == [given.id]
        assert store.view().size == 1

    @every_text
    def test_any_text_can_be_asked(self, store: Store, text: str) -> None:
        """The store holds it and others; every hit is a real memory."""
        put_embedded(store, memory("Alice lives in Oslo."), memory(text, id="hostile"))
        view = store.view()
        for search in SEARCHES:
            found = ids(search.run(view, text, ALL, 5))
            assert len(store.get(found)) == len(found)
        assert store.entities([text]) == []
        assert store.links([text]) == store.history(text) == []

    @pytest.mark.parametrize("text", ["", " ", "the of and", "?!"])
    def test_a_query_without_words_finds_nothing_by_words(self, store: Store, text: str) -> None:
        """Neither everything nor an error."""
        put(store, memory("Alice lives in Oslo."))
        assert store.view().search_text(text, ALL, 5) == []
        assert store.view().search_substring(text, ALL, 5) == []


THREADS = 8


class Sharing(StoreCase):
    """Several stores, handles and threads."""

    def test_two_stores_are_independent(self, store: Store, tmp_path: Path) -> None:
        """They share no memories, embeddings or counts."""
        other = self.make_store(tmp_path, "other")
        put_embedded(store, *sample_world())
        assert (everything(other), other.view().size, other.embedding) == ([], 0, None)
        assert other.view().search_text("Alice", ALL, 5) == []
        assert other.stats().memories == 0
        other.close()

    def test_a_second_handle_sees_the_first_ones_writes(self, store: Store, tmp_path: Path) -> None:
        """Its next view has what was added, changed and deleted."""
        if not self.shared:
            pytest.skip("every handle is a store of its own")
        second = self.make_store(tmp_path)
        assert second.view().size == 0
        put_embedded(store, memory("a lamp", id="lamp"), memory("a book", id="book"))
        assert second.embedding == store.embedding
        assert ids(second.view().search_text("lamp", ALL, 5)) == ["lamp"]
        store.delete(["book"])
        put(store, memory("a candle", id="lamp"))
        view = second.view()
        assert (view.size, ids(view.search_text("candle", ALL, 5))) == (2, ["lamp"])
        assert view.search_text("book", ALL, 5) == []
        assert view.generation == store.view().generation
        second.close()

    def test_threads_write_and_search_at_once(self, store: Store) -> None:
        """There is no error and no lost write; every thread finds its own writes at once."""

        def work(thread: int) -> None:
            for number in range(20):
                id = f"{thread}-{number}"
                store.put(Batch([memory(f"lantern {id}", id=id)]))
                assert id in ids(store.view().search_text(f"lantern {id}", ALL, 1000))

        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(work, range(THREADS)))
        assert len(everything(store)) == store.view().size == THREADS * 20

    def test_threads_putting_the_same_memory_write_it_once(self, store: Store) -> None:
        """The first thread writes it; all get the same answer."""
        lamp = memory("a lamp", id="lamp")
        with ThreadPoolExecutor(THREADS) as pool:
            answers = list(pool.map(store.put, [Batch([lamp])] * THREADS * 4))
        assert answers == [[lamp]] * THREADS * 4
        assert everything(store) == [lamp]

    def test_threads_changing_one_memory_make_a_chain_of_versions(self, store: Store) -> None:
        """Every text is kept once, and the version numbers have no gap."""
        texts = [f"text {number}" for number in range(THREADS * 4)]
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(store.put, [Batch([memory(text, id="lamp")]) for text in texts]))
        history = store.history("lamp")
        assert [version.version for version in history] == list(range(len(texts), 0, -1))
        assert sorted(version.text for version in history) == sorted(texts)

    def test_a_store_can_be_closed_twice(self, store: Store) -> None:
        """A second close does nothing."""
        store.close()
        store.close()
