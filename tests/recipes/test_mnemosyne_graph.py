"""mnemosyne-graph (seed 000): modes, tag probes, thresholds, hops, refinement, provenance, reasoning."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from math import exp
from typing import Any

import numpy as np
import pytest

import memorist
from memorist.errors import InvalidInput
from memorist.model import Kind, Link, Recall, Usage
from memorist.ports import Batch, Store
from memorist.recall.nodes import Nodes
from memorist.recall.understand import bridge_phrases
from tests.recall.worlds import NOW, memory
from tests.recipes.worlds import TOLERANCE, ChosenEmbedder, ids, near, node, notes, opened, tuned

SEMANTIC = "What is the billing system?"  # tags: billing system, billing
PROCEDURAL = "How do I roll back a release?"
EPISODIC = "What happened with the importer last night?"
MIXED = "importer"
AXIS = near(1.0)


def graph(**params: dict[str, float]) -> Any:
    return tuned("mnemosyne-graph", nodes__params=params)


def touched(recall: Recall) -> dict[str, float]:
    return {touch.id: touch.score for touch in recall.touched}


def places(recall: Recall) -> dict[str, tuple[str, int]]:
    return {touch.id: (touch.phase, touch.hop) for touch in recall.touched}


# Hop 0


def test_relevance_is_the_largest_cosine_with_the_query_or_a_tag_and_never_negative() -> None:
    vectors = {
        SEMANTIC: AXIS,
        "billing": near(1.0, axis=2),
        "semantic a.": near(0.4),
        "semantic b.": near(0.9, axis=2),
        "semantic c.": (-0.6, 0, -0.4, 0, 0, -0.6),  # away from the query and every tag
    }
    with opened(node("a"), node("b"), node("c"), recipe="mnemosyne-graph", vectors=vectors) as engine:
        found = engine.recall(SEMANTIC)
    assert found.trace.tags == ("billing system", "billing")
    assert touched(found) == pytest.approx({"b": 0.9, "a": 0.4, "c": 0.0}, abs=TOLERANCE)
    assert found.items[0].signals["relevance"].score == pytest.approx(0.9, abs=TOLERANCE)


def test_the_score_is_relevance_times_recency_frequency_and_reward() -> None:
    usage = Usage(recalls=5, last_recall=NOW - timedelta(hours=24), reward_count=1, reward_total=1.0)
    used, fresh = memory("a", "used", kind=Kind.SEMANTIC, usage=usage), memory("b", "fresh", kind=Kind.SEMANTIC)
    vectors = {SEMANTIC: AXIS, "used": near(0.9), "fresh": near(0.5)}
    with opened(used, fresh, node("c"), recipe="mnemosyne-graph", vectors={**vectors, "semantic c.": near(0.3)}) as e:
        found = e.recall(SEMANTIC)
    expected = {"a": 0.9 * exp(-0.24) * 0.5 / (1 + exp(-1)), "b": 0.5 * 0.3, "c": 0.3}
    assert touched(found) == pytest.approx(expected, abs=TOLERANCE)


@pytest.mark.parametrize(("kind", "threshold"), [(Kind.PROCEDURAL, 0.8), (Kind.SUBGOAL, 0.75)])
def test_a_node_must_be_as_relevant_as_its_kind_demands(kind: Kind, threshold: float) -> None:
    vectors = {MIXED: AXIS, f"{kind} above.": near(threshold + 0.01), f"{kind} below.": near(threshold - 0.01)}
    with opened(node("above", kind), node("below", kind), recipe="mnemosyne-graph", vectors=vectors) as engine:
        assert ids(engine.recall(MIXED)) == ["above"]
        why = engine.why_not(MIXED, "below")
    assert (why.stage, why.score, why.enough) == ("nodes", pytest.approx(threshold - 0.01, abs=TOLERANCE), threshold)


def test_why_thresholds_do_not_test_the_score() -> None:
    """Relevance 1, just recalled, a thousand times, always rewarded: 1 · 1 · 0.995 · 0.731 is below 0.8."""
    usage = Usage(recalls=1000, last_recall=NOW, reward_count=1, reward_total=1.0)
    best = memory("best", "Run heron rollback.", kind=Kind.PROCEDURAL, usage=usage)
    vectors = {PROCEDURAL: AXIS, best.text: AXIS}
    strict = tuned("mnemosyne-graph", nodes__threshold_on="score")
    with opened(best, recipe="mnemosyne-graph", vectors=vectors) as engine:
        assert engine.recall(PROCEDURAL).items[0].score == pytest.approx(0.995 * 0.731, abs=TOLERANCE)
    with opened(best, recipe=strict, vectors=vectors) as engine:
        assert engine.recall(PROCEDURAL).abstained


def test_each_kind_keeps_its_best() -> None:
    many = {Kind.EPISODIC: 40, Kind.SEMANTIC: 25, Kind.PROCEDURAL: 15, Kind.SUBGOAL: 15}
    nodes = [node(f"{kind}-{number:02}", kind) for kind, count in many.items() for number in range(count)]
    vectors = {memory.text: near(0.99 - 0.004 * int(memory.id[-2:])) for memory in nodes}
    with opened(*nodes, recipe="mnemosyne-graph", vectors={**vectors, MIXED: AXIS}) as engine:
        found = engine.recall(MIXED, limit=10, track=False)
        why = engine.why_not(MIXED, "semantic-20")
    assert Counter(touch.kind for touch in found.touched) == {
        "episodic": 30,
        "semantic": 20,
        "procedural": 10,
        "subgoal": 10,
    }
    assert max(touch.id for touch in found.touched if touch.kind == "semantic") == "semantic-19"
    assert len(found.items) == 10
    assert found.trace.candidates_per_hop[0] == 70
    assert (why.stage, why.score, why.enough) == (
        "nodes",
        pytest.approx(0.91, abs=TOLERANCE),
        pytest.approx(0.914, abs=TOLERANCE),
    )


@pytest.mark.parametrize(
    ("query", "mode", "kinds"),
    [
        (SEMANTIC, "semantic", {"semantic"}),
        (PROCEDURAL, "procedural", {"procedural"}),
        (EPISODIC, "episodic", {"episodic", "subgoal"}),
        (MIXED, "mixed", {"episodic", "semantic", "procedural", "subgoal"}),
    ],
)
def test_the_mode_decides_which_kinds_are_looked_at(query: str, mode: str, kinds: set[str]) -> None:
    nodes = [node(kind, kind) for kind in Kind]
    vectors = {query: AXIS, **{n.text: near(0.95) for n in nodes}}
    learnt = [Link("semantic", "provenance", "episodic")]  # the episode has given its lesson
    with opened(*nodes, recipe="mnemosyne-graph", vectors=vectors, links=learnt) as e:
        found = e.recall(query)
        why = e.why_not(query, "tag")
    assert found.trace.mode == mode
    assert notes(found, "mode") == (f"mode {mode} by rules",)
    assert {touch.kind for touch in found.touched} == kinds
    assert why.stage == "nodes" and f"mode {mode}" in why.reason


def test_where_nothing_of_the_mode_passes_the_question_is_asked_as_mixed() -> None:
    vectors = {PROCEDURAL: AXIS, "procedural p.": near(0.7), "semantic s.": near(0.4)}
    with opened(node("p", Kind.PROCEDURAL), node("s"), recipe="mnemosyne-graph", vectors=vectors) as engine:
        found = engine.recall(PROCEDURAL)
    assert ids(found) == ["s"]
    assert found.trace.mode == "mixed"
    assert notes(found, "nodes") == ("nothing procedural passed its threshold: searched as mixed",)


@pytest.mark.parametrize("query", [SEMANTIC, PROCEDURAL])
def test_a_text_without_a_lesson_is_looked_at_in_every_mode(query: str, store: Store) -> None:
    """The episode that taught `s` leaves the answer to it; the other one may hold any knowledge."""
    nodes = (node("told", Kind.EPISODIC), node("taught", Kind.EPISODIC), node("s"))
    vectors = {query: AXIS, "episodic told.": near(0.9), "episodic taught.": near(0.8), "semantic s.": near(0.1)}
    links = [Link("s", "provenance", "taught"), Link("told", "provenance", "log")]
    with opened(*nodes, recipe="mnemosyne-graph", vectors=vectors, links=links, store=store) as engine:
        assert "told" in ids(engine.recall(query)) and "taught" not in ids(engine.recall(query))
        assert ids(engine.recall(query, kinds=["semantic"])) == ["s"]
        assert "it is episodic" in engine.why_not(query, "taught").reason


def test_a_stray_fact_does_not_hide_what_was_said() -> None:
    with memorist.open(":memory:", recipe="mnemosyne-graph", background=False) as engine:
        engine.relate("alice", "works_with", "bob")
        said = engine.remember("The deadline of the project is on 3 June.")
        assert ids(engine.recall("When is the project deadline?"))[0] == said.id


def test_a_remembered_text_answers_how_to_do_something() -> None:
    """Its cosine is below the 0.8 of procedures, but it is not a procedure yet."""
    with memorist.open(":memory:", recipe="mnemosyne-graph", background=False) as engine:
        engine.remember("The deadline of the project is on 3 June.")
        said = engine.remember("To deploy the app, run make deploy and watch the logs.")
        found = engine.recall("How do I deploy the app?")
    assert found.trace.mode == "procedural"
    assert ids(found)[0] == said.id and found.items[0].signals["relevance"].score < 0.8


# Hops


@pytest.mark.parametrize("many", [20, 21, 60])
def test_hops_add_to_a_full_kind_at_the_defaults_of_the_page(many: int) -> None:
    """Hop 0 keeps 20 semantic nodes; those beyond share a tag with the first of them."""
    nodes = [node(f"s{number:02}") for number in range(many)]
    vectors = {one.text: near(0.9 - 0.01 * number) for number, one in enumerate(nodes)}
    vectors |= {SEMANTIC: AXIS, "tag t.": near(0.91)}
    links = [
        Link(memory.id, "membership", "t") for memory in nodes if memory.id not in {f"s{n:02}" for n in range(1, 20)}
    ]
    with opened(*nodes, node("t", Kind.TAG), recipe="mnemosyne-graph", vectors=vectors, links=links) as engine:
        found = engine.recall(SEMANTIC, limit=100)
    assert found.trace.candidates_per_hop == (20, many - 20, 0)
    assert Counter(phase for phase, _ in places(found).values()) == Counter(initial=20, multi_hop=many - 20)
    assert ids(found) == [memory.id for memory in nodes]
    assert touched(found) == pytest.approx({one.id: 0.9 - 0.01 * n for n, one in enumerate(nodes)}, abs=TOLERANCE)


def test_hops_lead_through_tags_that_pass_their_own_threshold(store: Store) -> None:
    """s0 – t1 – s1 – t2 – s2; the tag t3 is not near enough to lead to s3. Links are read both ways."""
    nodes = [node("s0"), node("s1"), node("s2"), node("s3"), *(node(tag, Kind.TAG) for tag in ("t1", "t2", "t3"))]
    vectors = {
        SEMANTIC: AXIS,
        "billing": near(1.0, axis=2),
        "semantic s0.": near(0.8),
        "tag t1.": near(0.95, axis=2),  # near a probe of the query, not the query
        "tag t2.": near(0.92),
        "tag t3.": near(0.88),
        "semantic s1.": near(0.3),
        "semantic s2.": near(0.2),
        "semantic s3.": near(0.25),
    }
    ends = [("s0", "t1"), ("t1", "s1"), ("s1", "t2"), ("s2", "t2"), ("s0", "t3"), ("s3", "t3")]
    links = [Link(source, "membership", target) for source, target in ends]
    recipe = graph(semantic={"top_k": 1})
    with opened(*nodes, recipe=recipe, vectors=vectors, links=links, store=store) as engine:
        found = engine.recall(SEMANTIC)
    assert places(found) == {"s0": ("initial", 0), "s1": ("multi_hop", 1), "s2": ("multi_hop", 2)}
    assert touched(found) == pytest.approx({"s0": 0.8, "s1": 0.3, "s2": 0.2}, abs=TOLERANCE)
    assert found.trace.candidates_per_hop == (1, 1, 1)


@pytest.mark.parametrize(
    ("query", "reached"), [(PROCEDURAL, {"p0", "by-intent"}), (MIXED, {"p0", "by-intent", "by-tag"})]
)
def test_the_mode_decides_which_nodes_lead_on(query: str, reached: set[str]) -> None:
    nodes = [node(id, Kind.PROCEDURAL) for id in ("p0", "by-intent", "vague", "by-weak-intent", "by-tag")]
    nodes += [node("i", Kind.INTENT), node("weak", Kind.INTENT), node("t", Kind.TAG)]
    vectors = {
        query: AXIS,
        "procedural p0.": near(0.88),
        "procedural by-intent.": near(0.85),  # beyond the top-k: hop 0 does not keep it
        "procedural by-tag.": near(0.85),
        "procedural by-weak-intent.": near(0.85),
        "procedural vague.": near(0.5),  # below 0.8, however it is reached
        "intent i.": near(0.72),
        "intent weak.": near(0.68),
        "tag t.": near(0.95),
    }
    ends = [("i", "by-intent"), ("weak", "by-weak-intent"), ("t", "by-tag"), ("i", "p0"), ("weak", "p0"), ("t", "p0")]
    links = [Link(source, "hierarchy", target) for source, target in [*ends, ("i", "vague")]]
    with opened(*nodes, recipe=graph(procedural={"top_k": 1}), vectors=vectors, links=links) as engine:
        assert {touch.id for touch in engine.recall(query).touched} == reached


def test_a_hop_reaches_any_kind_but_labels_by_any_view(store: Store) -> None:
    """The procedure is told apart by its text, and found by its intent view: 0.85 is enough, 0.1 would not be."""
    procedure, episode = node("p", Kind.PROCEDURAL), node("e", Kind.EPISODIC)
    nodes = (node("s0"), node("s1"), node("t", Kind.TAG), node("i", Kind.INTENT))
    vectors = {SEMANTIC: AXIS, "semantic s0.": near(0.9), "semantic s1.": near(0.3), "tag t.": near(0.95)}
    vectors |= {procedure.text: near(0.1), episode.text: near(0.2)}
    links = [Link("t", "membership", id) for id in ("s0", "s1", "p", "e", "i")]
    links.append(Link("s0", "provenance", "e"))
    recipe = graph(semantic={"top_k": 1})
    views = {"text": np.array(near(0.1), np.float32), "intent": np.array(near(0.85), np.float32)}
    with opened(*nodes, procedure, episode, recipe=recipe, vectors=vectors, links=links, store=store) as one:
        one.store.put(Batch(revised=[procedure], vectors={"p": views}))
        found = one.recall(SEMANTIC)
    assert touched(found) == pytest.approx({"s0": 0.9, "s1": 0.3, "p": 0.85, "e": 0.2}, abs=TOLERANCE)


def test_no_mode_asks_for_a_note_and_no_hop_reaches_one() -> None:
    vectors = {SEMANTIC: AXIS, MIXED: AXIS, "semantic s0.": near(0.9), "note n.": near(0.8), "tag t.": near(0.95)}
    nodes, links = (node("s0"), node("n", Kind.NOTE), node("t", Kind.TAG)), [Link("t", "membership", "s0")]
    links.append(Link("t", "membership", "n"))
    with opened(*nodes, recipe="mnemosyne-graph", vectors=vectors, links=links) as engine:
        assert [touched(engine.recall(query)).keys() for query in (SEMANTIC, MIXED)] == [{"s0"}, {"s0"}]
        assert engine.recall(SEMANTIC, kinds=["note"]).abstained
    with pytest.raises(InvalidInput, match="unknown kind: 'note'"):  # it would have no effect
        Nodes(params={"note": {"top_k": 3}})


def test_a_filter_of_topics_or_times_leaves_the_labels_in_place() -> None:
    """A label belongs to memories of many topics and times, so only scope and classification hide it."""
    nodes = [memory(id, f"semantic {id}.", kind=Kind.SEMANTIC, topic="billing") for id in ("s0", "s1")]
    vectors = {SEMANTIC: AXIS, "semantic s0.": near(0.9), "semantic s1.": near(0.3), "tag t.": near(0.95)}
    links = [Link(memory.id, "membership", "t") for memory in nodes]
    tag = node("t", Kind.TAG)
    with opened(*nodes, tag, recipe=graph(semantic={"top_k": 1}), vectors=vectors, links=links) as engine:
        assert ids(engine.recall(SEMANTIC, topic="billing")) == ["s0", "s1"]


def test_without_labels_the_trace_says_that_there_are_no_hops() -> None:
    with opened(node("s0"), recipe="mnemosyne-graph", vectors={SEMANTIC: AXIS, "semantic s0.": near(0.9)}) as engine:
        assert "no hops: no memory here has a tag or an intent" in notes(engine.recall(SEMANTIC), "hops")


def test_a_hop_leaves_at_most_a_hundred_candidates() -> None:
    far = [node(f"n{number:03}") for number in range(130)]
    vectors = {one.text: near(0.4 - 0.001 * number) for number, one in enumerate(far)}
    vectors |= {SEMANTIC: AXIS, "semantic s0.": near(0.9), "tag t.": near(0.95)}
    links = [Link("t", "membership", memory.id) for memory in (*far, node("s0"))]
    nodes = (node("s0"), node("t", Kind.TAG), *far)
    with opened(*nodes, recipe=graph(semantic={"top_k": 1}), vectors=vectors, links=links) as engine:
        found = engine.recall(SEMANTIC)
    assert touched(found).keys() == {"s0", *(memory.id for memory in far[:99])}
    assert found.trace.candidates_per_hop == (1, 130, 31)


# Refinement


LEDGER = "Invoices are kept in the quarterly ledger."


def refined(best: float, reached: float, **settings: Any) -> tuple[Recall, ChosenEmbedder]:
    """A candidate and a neighbour as relevant as given, and a node that only a phrase of the candidate is near to."""
    (phrase, *_) = bridge_phrases(SEMANTIC, [LEDGER])
    vectors = {SEMANTIC: AXIS, LEDGER: near(best), "semantic next.": near(reached), "tag t.": near(0.95)}
    vectors |= {f"{SEMANTIC} {phrase}": near(1.0, axis=2), "semantic bridged.": near(0.92, axis=2)}
    nodes = (node("s0", text=LEDGER), node("next"), node("bridged"), node("t", Kind.TAG))
    links = [Link("t", "membership", "s0"), Link("t", "membership", "next")]
    recipe = tuned("mnemosyne-graph", nodes__params={"semantic": {"top_k": 1}}, **settings)
    embedder = ChosenEmbedder(vectors)
    with opened(*nodes, recipe=recipe, embedder=embedder, links=links) as engine:
        return engine.recall(SEMANTIC), embedder


def test_a_hop_that_finds_nothing_better_than_a_weak_match_is_refined() -> None:
    found, _ = refined(0.55, 0.5)
    assert places(found) == {"s0": ("initial", 0), "next": ("multi_hop", 1), "bridged": ("refinement", 1)}
    assert touched(found)["bridged"] == pytest.approx(0.92, abs=TOLERANCE)


@pytest.mark.parametrize("best", [0.61, 0.95])
def test_a_good_match_needs_no_refinement(best: float) -> None:
    """0.6 is a cosine: a memory that was never recalled scores at most 0.3, however well it matches."""
    found, embedder = refined(best, 0.3)
    assert "bridged" not in touched(found)
    assert len(embedder.calls) == 1


def test_a_recall_of_a_fresh_memory_that_answers_is_not_refined() -> None:
    with memorist.open(":memory:", recipe="mnemosyne-graph", background=False) as engine:
        engine.remember("The billing system is called Pelican.")
        found = engine.recall("What is the billing system called?")
    assert found.items[0].score < 0.6 < found.items[0].signals["relevance"].score
    assert not any(note.startswith("bridge tags") for step in found.trace.steps for note in step.notes)


def test_the_budget_of_refinements_is_one() -> None:
    _, embedder = refined(0.55, 0.5)
    query, bridge = embedder.calls
    assert query[0] == SEMANTIC
    assert 3 <= len(bridge) <= 5 and all(name.startswith(f"{SEMANTIC} ") for name in bridge)
    none_left, embedder = refined(0.55, 0.5, hops__refinements=0)
    assert len(embedder.calls) == 1
    assert "bridged" not in touched(none_left)


def test_headings_of_steps_are_no_bridge() -> None:
    steps = [f"Observation: the {place} shelf holds ledgers.\nAction: look further\nNote: none" for place in "abc"]
    assert not {"observation", "action", "note"} & {
        word for phrase in bridge_phrases("?", steps) for word in phrase.split()
    }


# Provenance


NIGHT = {EPISODIC: AXIS, SEMANTIC: AXIS, "episodic e0.": near(0.8), "episodic e1.": near(0.6)}
CAME_FROM = [Link(episode, "provenance", "log") for episode in ("e0", "e1", "e2")]


def remembered_night(**fields: object) -> tuple[Any, ...]:
    told = [node("e0", Kind.EPISODIC), node("e1", Kind.EPISODIC), node("e2", Kind.EPISODIC)]
    return (*told, node("log", Kind.SOURCE, **fields), node("other", Kind.SOURCE))


def test_a_source_comes_at_half_the_score_of_its_best_episode(store: Store) -> None:
    """e2 has the same source, but is not relevant itself: its source does not bring it back."""
    recipe = graph(episodic={"threshold": 0.5})
    with opened(*remembered_night(), recipe=recipe, vectors=NIGHT, links=CAME_FROM, store=store) as engine:
        found = engine.recall(EPISODIC)
    assert touched(found) == pytest.approx({"e0": 0.8, "e1": 0.6, "log": 0.4}, abs=TOLERANCE)
    assert places(found)["log"] == ("provenance", 0)


def test_irrelevant_steps_never_outrank_better_ones_and_sources_have_a_top_k() -> None:
    """Twenty-eight steps, each with its own source; the last 21 have nothing to do with the question."""
    steps = [node(f"e{number:02}", Kind.EPISODIC) for number in range(28)]
    vectors = {one.text: near(0.9 - 0.01 * number if number < 7 else 0.0) for number, one in enumerate(steps)}
    sources = [node(f"log{step.id}", Kind.SOURCE) for step in steps]
    links = [Link(step.id, "provenance", f"log{step.id}") for step in steps]
    with opened(
        *steps, *sources, recipe=graph(source={"top_k": 3}), vectors={**vectors, EPISODIC: AXIS}, links=links
    ) as e:
        found = e.recall(EPISODIC, limit=50)
    assert ids(found)[:7] == [step.id for step in steps[:7]]
    assert [id for id in ids(found) if id.startswith("log")] == ["loge00", "loge01", "loge02"]


def test_only_an_episodic_question_asks_where_things_came_from() -> None:
    nodes = (*remembered_night(), node("s"))
    links = [*CAME_FROM, *(Link("s", "provenance", episode) for episode in ("e0", "e1", "e2"))]
    with opened(*nodes, recipe="mnemosyne-graph", vectors={**NIGHT, "semantic s.": near(0.9)}, links=links) as engine:
        assert places(engine.recall(SEMANTIC)) == {"s": ("initial", 0)}


def test_a_source_outside_the_filter_is_no_provenance() -> None:
    nodes = remembered_night(scope="user:alice")
    with opened(*nodes, recipe="mnemosyne-graph", vectors=NIGHT, links=CAME_FROM) as engine:
        assert "log" not in touched(engine.recall(EPISODIC, scope="global"))


# Reasoning, touched nodes and parameters


def test_reasoning_is_none_for_a_type_without_candidates() -> None:
    fact = node("s", text="The billing system is Pelican.")
    with opened(fact, recipe="mnemosyne-graph", vectors={MIXED: AXIS, SEMANTIC: AXIS, fact.text: near(0.9)}) as engine:
        found = engine.recall(MIXED)
    assert (found.reasoned.semantic, found.reasoned.episodic, found.reasoned.procedural) == (fact.text, None, None)
    with opened(recipe="mnemosyne-graph", vectors={MIXED: AXIS}) as engine:
        nothing = engine.recall(MIXED)
    assert nothing.abstained and nothing.reasoned == type(nothing.reasoned)()


def test_every_contributing_node_is_touched_best_first_and_counted() -> None:
    nodes = [memory(id, f"semantic {id}.", kind=Kind.SEMANTIC) for id in "abc"]
    vectors = {SEMANTIC: AXIS, "semantic a.": near(0.3), "semantic b.": near(0.9), "semantic c.": near(0.6)}
    with opened(*nodes, recipe="mnemosyne-graph", vectors=vectors) as engine:
        assert engine.recall(SEMANTIC, limit=1, track=False).touched
        found = engine.recall(SEMANTIC, limit=1)
        counts = [one.usage for id in "abc" if (one := engine.get(id))]
        detailed = engine.recall(SEMANTIC, limit=1, verbosity="detailed")
    assert ids(found) == ["b"]
    assert [(touch.id, touch.memory) for touch in found.touched] == [("b", None), ("c", None), ("a", None)]
    assert [(usage.recalls, usage.last_recall) for usage in counts if usage] == [(1, NOW)] * 3
    assert [touch.memory.id for touch in detailed.touched if touch.memory] == ["b", "c", "a"]
    assert detailed.trace.scores.keys() == {"a", "b", "c"}


def test_all_six_parameters_are_per_kind() -> None:
    usage = Usage(recalls=3, last_recall=NOW - timedelta(hours=10), reward_count=2, reward_total=2.0)
    nodes = [
        memory(f"{kind}{n}", f"{kind}{n}", kind=kind, usage=usage)
        for kind in (Kind.SEMANTIC, Kind.EPISODIC)
        for n in "12"
    ]
    vectors = {
        MIXED: AXIS,
        "semantic1": near(0.9),
        "semantic2": near(0.8),
        "episodic1": near(0.9),
        "episodic2": near(0.4),
    }
    changed = {"threshold": 0.5, "top_k": 1, "lambda": 0.1, "k": 1, "base_floor": 0.5, "beta": 2}
    with opened(*nodes, recipe=graph(semantic=changed), vectors=vectors) as engine:
        found = engine.recall(MIXED)
    common = exp(-0.1) * 3 / 8 / (1 + exp(-1))
    expected = {
        "semantic1": 0.9 * exp(-1) * 0.75 / (1 + exp(-2)),
        "episodic1": 0.9 * common,
        "episodic2": 0.4 * common,
    }
    assert touched(found) == pytest.approx(expected, abs=TOLERANCE)


def test_parameters_of_a_kind_that_does_not_exist_are_refused() -> None:
    with pytest.raises(InvalidInput, match="unknown kind: 'semntic'.*semantic"):
        Nodes(params={"semntic": {"threshold": 0.1}})
