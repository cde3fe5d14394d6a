"""Tests of links, entities and the turns of a session."""

from __future__ import annotations

from datetime import timedelta

from memorist.model import Entity, Fact, Filter, Kind, Link, Memory, Origin
from memorist.ports import Batch, Reader, Store
from memorist.testing.store_suite.base import ALL, StoreCase, ids, put
from memorist.testing.world import NOON, memory

ALICE = Entity("e:alice", "Alice Ås", "person", ("Al", "A. Ås"))


def _turn(position: int | None, session: str | None = "s", **fields: str) -> Memory:
    text = f"turn {position} of {session}"
    return memory(text, id=text, origin=Origin(session=session, position=position), **fields)


class GraphRows(StoreCase):
    """Links, entities and sessions."""

    def test_links_are_found_from_either_end(self, store: Store) -> None:
        """Each link is returned once, whichever ends are asked for."""
        links = [Link("a", "next", "b"), Link("b", "about", "e", 0.5), Link("c", "next", "d")]
        store.put(Batch([memory(id, id=id) for id in "abcd"], links=links))
        assert set(store.links(["b"])) == set(links[:2])
        assert set(store.links(["e"])) == {links[1]}
        assert sorted(map(str, store.links(["a", "b", "e"]))) == sorted(map(str, links[:2]))
        assert store.links(["nothing"]) == store.links([]) == []

    def test_links_of_some_relations_are_found_alone(self, store: Store) -> None:
        """From either end, each link once; an unknown relation has no links."""
        links = [Link("a", "next", "b"), Link("b", "about", "e", 0.5), Link("b", "near", "c")]
        store.put(Batch([memory(id, id=id) for id in "abc"], links=links))
        assert store.links(["b"], "next") == links[:1]
        assert store.links(["a", "b"], "next", "about") == links[:2]
        assert store.links(["b"], "other") == []

    def test_a_link_put_again_takes_the_new_weight(self, store: Store) -> None:
        """There is one link per source, relation and target; the same link again does not raise the generation."""
        store.put(Batch(links=[Link("a", "next", "b", 0.2), Link("a", "about", "b")]))
        store.put(Batch(links=[Link("a", "next", "b", 0.7)]))
        before = store.view().generation
        store.put(Batch(links=[Link("a", "next", "b", 0.7)]))
        assert store.view().generation == before
        assert set(store.links(["a"])) == {Link("a", "next", "b", 0.7), Link("a", "about", "b")}

    def test_entities_are_found_by_any_name_whatever_the_case(self, store: Store) -> None:
        """By name and alias, ignoring case; each entity once."""
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
        """In the order of the session, however they were written; other sessions and versions are left out."""
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

    def test_an_old_version_keeps_its_place_in_the_session(self, store: Store) -> None:
        """Its neighbours are the current memories, including its own next version."""
        put(store, *(_turn(position) for position in (0, 1, 2)))
        put(store, memory("another text", id="turn 1 of s", origin=_turn(1).origin))
        (old,) = store.history("turn 1 of s")[1:]
        (around,) = store.neighbours([old.id], 2, 2).values()
        assert sorted(ids(around)) == sorted([old.id, "turn 0 of s", "turn 1 of s", "turn 2 of s"])
        assert ids(around)[0] == "turn 0 of s"

    def test_turns_of_a_session_come_by_position(self, store: Store) -> None:
        """Both ends are included; other sessions, past versions and memories without a position are left out."""
        turns = [_turn(position) for position in (4, 0, 2, 3)]
        put(store, *turns, _turn(2, "other"), _turn(None), _turn(2, None))
        put(store, memory("another text", id=turns[2].id, origin=turns[2].origin))
        assert [turn.text for turn in store.turns("s", 1, 3)] == ["another text", turns[3].text]
        assert store.turns("s", 5, 9) == store.turns("unknown", 0, 9) == store.turns("s", 3, 1) == []
        seen: list[str] = []

        def plan(reader: Reader) -> Batch:
            seen.extend(turn.id for turn in reader.turns("s", 3, 4))
            return Batch()

        store.update(plan)
        assert seen == ["turn 3 of s", "turn 4 of s"]

    def test_a_memory_without_a_session_has_only_itself(self, store: Store) -> None:
        """An unknown memory has no neighbours."""
        put(store, memory("a lamp", id="lamp"), memory("a book", id="book"))
        around = store.neighbours(["nothing", "lamp"], 2, 2)
        assert list(around) == ["lamp"]
        assert ids(around["lamp"]) == ["lamp"]
        assert store.neighbours([], 2, 2) == {}

    def test_links_of_a_text_stay_with_its_version(self, store: Store) -> None:
        """The graph has the edges of every version."""

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

    def test_pairs_of_entities_come_with_their_memories(self, store: Store) -> None:
        """Every pair that a fact relates; of those only mentioned together, the most frequent, each pair once."""
        knows = memory("Ann knows Bo", id="f", kind=Kind.SEMANTIC, fact=Fact("Ann", "knows", "Bo"))
        talks = [memory(f"talk {day}", id=f"t{day}", at=NOON + timedelta(days=day)) for day in range(4)]
        said = {"t0": "abc", "t1": "bc", "t2": "ab", "t3": "cd"}
        links = [Link(id, "mentions", f"e:{name}") for id, names in said.items() for name in names]
        roles = [Link("f", "subject", "e:a"), Link("f", "object", "e:b")]
        store.put(Batch([knows, *talks], links=[*roles, *links]))

        def told(names: set[str], where: Filter, limit: int) -> list[tuple[str, str, str, list[str]]]:
            found = store.view().related(names, where, limit)
            return sorted((pair.source, pair.target, pair.relation or "", list(pair.memories)) for pair in found)

        known, often = ("e:a", "e:b", "knows", ["f"]), ("e:b", "e:c", "", ["t1", "t0"])
        seldom = ("e:a", "e:c", "", ["t0"])
        assert told({"e:b"}, ALL, 9) == [known, often]
        assert told({"e:a", "e:b"}, ALL, 9) == [known, seldom, often]
        assert told({"e:a", "e:b"}, ALL, 1) == [known, often]
        assert told({"e:a", "e:b"}, ALL, 0) == [known]
        assert told({"e:b"}, Filter(kinds=(Kind.EPISODIC,)), 9) == [("e:a", "e:b", "", ["t2", "t0"]), often]
        assert told(set(), ALL, 9) == told({"e:nobody"}, ALL, 9) == []

    def test_entities_are_found_by_a_three_letter_prefix(self, store: Store) -> None:
        """By name or alias, ignoring case and accents; a name of two letters is a prefix itself."""
        caroline, emil = Entity("e1", "Caroline Berg"), Entity("e2", "Émil", aliases=("Carl",))
        store.put(Batch(entities=[caroline, emil, Entity("e3", "Dora")]))
        assert store.entities_by_prefix(["caroliine"]) == [caroline, emil]
        assert store.entities_by_prefix(["EMI", "nobody"]) == [emil]
        assert store.entities_by_prefix(["Do"]) == [Entity("e3", "Dora")]
        assert store.entities_by_prefix([""]) == [caroline, emil, Entity("e3", "Dora")]
        assert store.entities_by_prefix([]) == []

    def test_entities_are_found_by_id(self, store: Store) -> None:
        """With kind and aliases; unknown ids are left out."""
        emil = Entity("e2", "Émil", "person", ("Carl",))
        store.put(Batch(entities=[emil, Entity("e1", "Dora")]))
        assert store.entities_by_id(["e2", "nobody", "e1"]) == [Entity("e1", "Dora"), emil]
        assert store.entities_by_id([]) == []
