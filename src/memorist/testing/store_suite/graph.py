"""The suite: links, entities and vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from memorist.model import Entity, Filter, Link, Memory, Origin
from memorist.ports import Batch, Reader, Store
from memorist.testing.store_suite.base import ALL, EMBEDDER, StoreCase, ids, put, put_embedded
from memorist.testing.world import memory, sample_world

if TYPE_CHECKING:
    from memorist.ports import Vector


ALICE = Entity("e:alice", "Alice Ås", "person", ("Al", "A. Ås"))


def _turn(position: int | None, session: str | None = "s", **fields: str) -> Memory:
    text = f"turn {position} of {session}"
    return memory(text, id=text, origin=Origin(session=session, position=position), **fields)


class Graph(StoreCase):
    """What connects memories."""

    def test_links_are_found_from_either_end(self, store: Store) -> None:
        """Each once, whichever of its ends are asked for."""
        links = [Link("a", "next", "b"), Link("b", "about", "e", 0.5), Link("c", "next", "d")]
        store.put(Batch([memory(id, id=id) for id in "abcd"], links=links))
        assert set(store.links(["b"])) == set(links[:2])
        assert set(store.links(["e"])) == {links[1]}
        assert sorted(map(str, store.links(["a", "b", "e"]))) == sorted(map(str, links[:2]))
        assert store.links(["nothing"]) == store.links([]) == []

    def test_links_of_some_relations_are_found_alone(self, store: Store) -> None:
        """From either end, each once; an unknown relation has none."""
        links = [Link("a", "next", "b"), Link("b", "about", "e", 0.5), Link("b", "near", "c")]
        store.put(Batch([memory(id, id=id) for id in "abc"], links=links))
        assert store.links(["b"], "next") == links[:1]
        assert store.links(["a", "b"], "next", "about") == links[:2]
        assert store.links(["b"], "other") == []

    def test_a_link_put_again_takes_the_new_weight(self, store: Store) -> None:
        """One link per source, relation and target; the same again raises no generation."""
        store.put(Batch(links=[Link("a", "next", "b", 0.2), Link("a", "about", "b")]))
        store.put(Batch(links=[Link("a", "next", "b", 0.7)]))
        before = store.view().generation
        store.put(Batch(links=[Link("a", "next", "b", 0.7)]))
        assert store.view().generation == before
        assert set(store.links(["a"])) == {Link("a", "next", "b", 0.7), Link("a", "about", "b")}

    def test_entities_are_found_by_any_name_whatever_the_case(self, store: Store) -> None:
        """By name and alias, each entity once."""
        bo = Entity("e:bo", "Bo")
        store.put(Batch(entities=[ALICE, bo]))
        for name in ("Alice Ås", "alice ås", "ALICE ÅS", "al", "a. ås"):
            assert store.entities([name]) == [ALICE]
        assert sorted(map(str, store.entities(["AL", "alice ås", "BO"]))) == sorted(map(str, [ALICE, bo]))
        assert store.entities(["Alice", ""]) == store.entities([]) == []

    def test_two_entities_may_share_a_name(self, store: Store) -> None:
        """Both are found."""
        city, club = Entity("e:city", "Florence"), Entity("e:her", "Florence", "person")
        store.put(Batch(entities=[city, club]))
        assert sorted(map(str, store.entities(["florence"]))) == sorted(map(str, [city, club]))

    def test_an_entity_put_again_keeps_its_old_names(self, store: Store) -> None:
        """A new name and new aliases are added; nothing is lost."""
        store.put(Batch(entities=[ALICE]))
        store.put(Batch(entities=[Entity("e:alice", "Alice Berg", None, ("Ally",))]))
        (found,) = store.entities(["alice berg"])
        assert (found.name, found.kind) == ("Alice Berg", "person")
        assert set(found.aliases) == {"Al", "A. Ås", "Alice Ås", "Ally"}
        for name in ("al", "ally", "alice ås"):
            assert store.entities([name]) == [found]

    def test_neighbours_come_by_position(self, store: Store) -> None:
        """Written in any order, read in the session's; other sessions and versions stay out."""
        turns = [_turn(position) for position in (4, 0, 2, 1, 3)]
        put(store, *turns, _turn(2, "other"), _turn(None), _turn(2, None))
        put(store, memory("another text", id=turns[3].id, origin=turns[3].origin))
        around = store.neighbours(["turn 2 of s", "turn 0 of s"], 1, 1)
        assert list(around) == ["turn 2 of s", "turn 0 of s"]
        assert ids(around["turn 2 of s"]) == ["turn 1 of s", "turn 2 of s", "turn 3 of s"]
        assert around["turn 2 of s"][0].text == "another text"
        assert ids(around["turn 0 of s"]) == ["turn 0 of s", "turn 1 of s"]
        assert ids(store.neighbours(["turn 3 of s"], 5, -1)["turn 3 of s"]) == [f"turn {n} of s" for n in range(4)]
        assert ids(store.neighbours(["turn 4 of s"], 0, 5)["turn 4 of s"]) == ["turn 4 of s"]

    def test_an_old_version_stands_where_it_stood(self, store: Store) -> None:
        """Around it is what is there now, the version after it included."""
        put(store, *(_turn(position) for position in (0, 1, 2)))
        put(store, memory("another text", id="turn 1 of s", origin=_turn(1).origin))
        (old,) = store.history("turn 1 of s")[1:]
        (around,) = store.neighbours([old.id], 2, 2).values()
        assert sorted(ids(around)) == sorted([old.id, "turn 0 of s", "turn 1 of s", "turn 2 of s"])
        assert ids(around)[0] == "turn 0 of s"

    def test_turns_of_a_session_come_by_position(self, store: Store) -> None:
        """Both ends included; other sessions, past versions and what has no place stay out, also within a write."""
        turns = [_turn(position) for position in (4, 0, 2, 3)]
        put(store, *turns, _turn(2, "other"), _turn(None), _turn(2, None))
        put(store, memory("another text", id=turns[2].id, origin=turns[2].origin))
        assert [one.text for one in store.turns("s", 1, 3)] == ["another text", turns[3].text]
        assert store.turns("s", 5, 9) == store.turns("unknown", 0, 9) == store.turns("s", 3, 1) == []
        seen: list[str] = []

        def plan(reader: Reader) -> Batch:
            seen.extend(one.id for one in reader.turns("s", 3, 4))
            return Batch()

        store.update(plan)
        assert seen == ["turn 3 of s", "turn 4 of s"]

    def test_a_memory_without_a_session_has_only_itself(self, store: Store) -> None:
        """And an unknown one has nothing."""
        put(store, memory("a lamp", id="lamp"), memory("a book", id="book"))
        around = store.neighbours(["nothing", "lamp"], 2, 2)
        assert list(around) == ["lamp"]
        assert ids(around["lamp"]) == ["lamp"]
        assert store.neighbours([], 2, 2) == {}

    def test_what_a_text_relates_stays_with_that_version_of_it(self, store: Store) -> None:
        """The graph of a moment has the edges of what was true then."""

        def living_in(place: str) -> Batch:
            links = [Link("home", "subject", "e:ann"), Link("home", "object", f"e:{place}"), Link("home", "next", "x")]
            return Batch([memory(f"Ann lives in {place}", id="home")], links=links)

        store.put(living_in("oslo"))
        store.put(living_in("bergen"))
        now, then = store.history("home")
        assert {(link.relation, link.target) for link in store.links(["home"])} == {
            ("subject", "e:ann"),
            ("object", "e:bergen"),
            ("next", "x"),
        }
        graph, admitted = store.view().graph(Filter())
        names = {node: entity for entity, node in graph.nodes.items()}
        edges = {
            (one, names[int(source)], names[int(target)])
            for one, source, target, may in zip(graph.memories, graph.source, graph.target, admitted, strict=True)
            if may
        }
        assert edges == {(now.id, "e:ann", "e:bergen"), (then.id, "e:ann", "e:oslo")}

    def test_entities_that_may_be_meant_begin_alike(self, store: Store) -> None:
        """By name or alias, case and accents aside; a name of two letters may be the beginning of any."""
        caroline, emil = Entity("e1", "Caroline Berg"), Entity("e2", "Émil", aliases=("Carl",))
        store.put(Batch(entities=[caroline, emil, Entity("e3", "Dora")]))
        assert store.alike(["caroliine"]) == [caroline, emil]
        assert store.alike(["EMI", "nobody"]) == [emil]
        assert store.alike(["Do"]) == [Entity("e3", "Dora")]
        assert store.alike([]) == []


HALF = 2e-3
"""Vectors may be kept with 11 bits each."""


def _vector(*parts: float) -> Vector:
    row = np.zeros(4, dtype=np.float32)
    row[: len(parts)] = parts
    row /= np.linalg.norm(row)
    return row


def _matrix(*rows: Vector) -> Vector:
    return np.stack(rows)


EAST, NORTH, UP = _vector(1), _vector(0, 1), _vector(0, 0, 1)


class VectorSearching(StoreCase):
    """Cosines, views and probes."""

    def test_the_nearest_comes_first(self, store: Store) -> None:
        """A text's own vector finds it, with cosine 1."""
        world = put_embedded(store, *sample_world())
        view = store.view()
        for one in world:
            best = view.search_vector(EMBEDDER.embed([one.text], purpose="query"), ALL, 1)[0]
            assert best.score == pytest.approx(1, abs=HALF)
            assert store.get([best.id])[best.id].text == one.text

    def test_scores_are_cosines(self, store: Store) -> None:
        """Worked by hand: 0.6 along one axis, 0.8 along the other, and the opposite direction."""
        store.adopt("axes", 4)
        directions = {"same": EAST, "near": _vector(0.8, 0.6), "across": NORTH, "opposite": -EAST}
        memories = [memory(name, id=name) for name in directions]
        store.put(Batch(memories, {name: {"text": vector} for name, vector in directions.items()}))
        found = store.view().search_vector(_matrix(EAST), ALL, 9)
        assert ids(found) == ["same", "near", "across", "opposite"]
        assert [hit.score for hit in found] == pytest.approx([1, 0.8, 0, -1], abs=HALF)

    def test_the_best_view_counts(self, store: Store) -> None:
        """A memory is as near as the nearest of its views."""
        store.adopt("axes", 4)
        memories = [memory("one", id="one"), memory("two", id="two")]
        vectors = {"one": {"text": EAST, "context": NORTH}, "two": {"text": _vector(0.6, 0.8)}}
        store.put(Batch(memories, vectors))
        found = store.view().search_vector(_matrix(NORTH), ALL, 9)
        assert [(hit.id, round(hit.score, 2)) for hit in found] == [("one", 1.0), ("two", 0.8)]

    def test_the_best_probe_counts(self, store: Store) -> None:
        """With several probes a memory has its largest cosine."""
        store.adopt("axes", 4)
        memories = [memory("one", id="one"), memory("two", id="two")]
        store.put(Batch(memories, {"one": {"text": EAST}, "two": {"text": _vector(0, 0.6, 0.8)}}))
        found = store.view().search_vector(_matrix(EAST, UP), ALL, 9)
        assert [(hit.id, round(hit.score, 2)) for hit in found] == [("one", 1.0), ("two", 0.8)]

    def test_a_memory_without_vectors_is_not_near_anything(self, store: Store) -> None:
        """It is left out rather than scored 0."""
        put_embedded(store, memory("a lamp", id="lamp"))
        put(store, memory("a book", id="book"))
        probe = EMBEDDER.embed(["a book"], purpose="query")
        assert ids(store.view().search_vector(probe, ALL, 9)) == ["lamp"]

    def test_vectors_are_read_by_id(self, store: Store) -> None:
        """The `text` view of each memory that has one, nearly as it was given."""
        store.adopt("axes", 4)
        memories = [memory(id, id=id) for id in ("both", "context", "none")]
        given = {"both": {"context": EAST, "text": _vector(1, 2, 3)}, "context": {"context": EAST}}
        store.put(Batch(memories, given))
        found = store.view().vectors(["both", "context", "none", "nothing"])
        assert list(found) == ["both"]
        assert found["both"].tolist() == pytest.approx(_vector(1, 2, 3).tolist(), abs=HALF)

    def test_a_store_tells_which_memories_have_vectors(self, store: Store) -> None:
        """Of those asked for, before an adoption and after."""
        put(store, memory("a book", id="book"))
        assert store.embedded(["book", "nothing"]) == set()
        put_embedded(store, memory("a lamp", id="lamp"), memory("a door", id="door"))
        assert store.embedded(["lamp", "book", "nothing"]) == {"lamp"}

    def test_missing_views_can_be_added_later(self, store: Store) -> None:
        """A known memory takes the views it lacks, keeps the ones it has, and the generation rises."""
        store.adopt("axes", 4)
        lamp = memory("a lamp", id="lamp")
        put(store, lamp)
        store.put(Batch([lamp], {"lamp": {"text": EAST}}))
        before = store.view()
        store.put(Batch([lamp], {"lamp": {"text": UP, "context": NORTH}}))
        after = store.view()
        assert after.generation > before.generation
        assert after.vectors(["lamp"])["lamp"].tolist() == pytest.approx(EAST.tolist(), abs=HALF)
        assert after.search_vector(_matrix(NORTH), ALL, 1)[0].score == pytest.approx(1, abs=HALF)
        store.put(Batch([lamp], {"lamp": {"text": UP, "context": UP}}))
        assert store.view().generation == after.generation
