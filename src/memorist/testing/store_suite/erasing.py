"""Deleting: what is gone is gone from everywhere."""

from __future__ import annotations

from memorist.model import Entity, Link, Origin, Usage, instant
from memorist.ports import Batch, Store
from memorist.testing.store_suite.base import (
    ALL,
    EMBEDDER,
    SEARCHES,
    StoreCase,
    everything,
    ids,
    put,
    put_embedded,
)
from memorist.testing.world import memory, sample_world


class Erasing(StoreCase):
    """Memories, their versions, vectors, links and usage."""

    def test_nothing_of_a_memory_is_left(self, store: Store) -> None:
        """Not its versions, links, neighbours or hits."""
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
        """Unknown and repeated ids count for nothing."""
        put(store, memory("a lamp", id="lamp"))
        assert store.delete(["lamp", "nothing", "lamp"]) == ["lamp"]
        before = store.view().generation
        assert store.delete(["lamp"]) == store.delete([]) == []
        assert store.view().generation == before

    def test_entities_stay(self, store: Store) -> None:
        """Somebody is still somebody when the last memory of them is gone."""
        bo = Entity("e:bo", "Bo")
        store.put(Batch([memory("a lamp", id="lamp")], links=[Link("lamp", "about", "e:bo")], entities=[bo]))
        store.delete(["lamp"])
        assert (store.entities(["bo"]), store.links(["e:bo"])) == ([bo], [])

    def test_a_batch_may_erase_an_entity_and_name_it_anew(self, store: Store) -> None:
        """Its names go, before those of the batch come; links to it stay."""
        bo = Entity("e:bo", "Bo", "person", aliases=("Robert", "Bobby"))
        link = Link("lamp", "about", "e:bo")
        store.put(Batch([memory("a lamp", id="lamp")], links=[link], entities=[bo, Entity("e:al", "Al")]))
        fewer = Entity("e:bo", "Bo", "person", aliases=("Bobby",))
        store.put(Batch(erased=["e:bo", "e:al"], entities=[fewer]))
        assert store.entities(["bo", "bobby", "robert", "al"]) == [fewer]
        assert (store.entities(["robert"]), store.alike(["Rob", "Al"]), store.links(["e:bo"])) == ([], [], [link])
        assert (ids(everything(store)), store.stats().entities) == (["lamp"], 1)

    def test_nothing_that_nobody_reads_is_left_to_overwrite(self, store: Store) -> None:
        """Overwriting what was erased changes nothing that is kept, also when all is written anew."""
        world = put_embedded(store, *sample_world())
        store.delete([world[0].id])
        kept = everything(store)
        assert store.scrub()
        assert store.scrub(rewrite=True)
        assert everything(store) == kept == list(world[1:])
        probe = EMBEDDER.embed([world[1].text], purpose="query")
        assert ids(store.view().search_vector(probe, ALL, 1)) == [world[1].id]

    def test_the_noise_bank_can_be_emptied(self, store: Store) -> None:
        """By keeping none."""
        store.learn_noise(["hm", "ok"], keep=9)
        store.learn_noise([], keep=0)
        assert store.noise() == []

    def test_a_memory_may_come_back(self, store: Store) -> None:
        """As new: version 1, no usage, the new text searched."""
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
        """A store that was emptied works like a new one."""
        world = put_embedded(store, *sample_world())
        assert sorted(store.delete(ids(world))) == sorted(ids(world))
        assert (everything(store), store.view().size) == ([], 0)
        put_embedded(store, *world)
        probe = EMBEDDER.embed([world[0].text], purpose="query")
        assert ids(store.view().search_vector(probe, ALL, 1)) == [world[0].id]
