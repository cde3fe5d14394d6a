"""Tags of remembered texts: written where the configured recipe follows them, and gone with what they label."""

from __future__ import annotations

from pathlib import Path

import memorist
from memorist.model import MEMBERSHIP, Kind
from memorist.remember.tags import labels_of
from tests.recall.worlds import memory
from tests.secret_samples import SAMPLES

GRAPH = "mnemosyne-graph"


def tags(engine: memorist.Engine) -> set[str]:
    return {memory.text for memory in engine.list(kinds=["tag"]).items}


def opened(recipe: str = GRAPH) -> memorist.Engine:
    return memorist.open(":memory:", recipe=recipe, background=False)


def test_a_text_is_tagged_with_its_topic_keywords_names_and_concepts() -> None:
    with opened() as engine:
        kept = engine.remember("Alice maintains the Pelican billing system.", topic="Work", keywords=["invoices"])
        assert tags(engine) == {"work", "invoices", "alice", "pelican", "billing system"}
        links = engine.store.links([kept.id], MEMBERSHIP)
        assert {engine.get(link.target) and link.source for link in links} == {kept.id}
        assert engine.store.embedded([link.target for link in links]) == {link.target for link in links}


def test_every_way_in_makes_tags() -> None:
    with opened() as engine:
        engine.relate("alice", "works_with", "bob")
        assert tags(engine) == {"alice", "bob"}
        engine.ingest([{"role": "user", "content": "We met Carol at the harbour festival."}])
        assert {"carol", "harbour festival"} <= tags(engine)
        engine.remember_many(["Dave repaired the garden gate.", "Dave sold the garden gate."])
        assert {"dave", "garden gate"} <= tags(engine)
        assert len(engine.list(kinds=["tag"]).items) == len(tags(engine))


def test_other_recipes_write_no_tags() -> None:
    with opened("memorist") as engine:
        engine.remember("Alice maintains the Pelican billing system.", topic="Work")
        engine.relate("alice", "works_with", "bob")
        assert tags(engine) == set()


def test_a_tag_goes_with_the_last_memory_that_it_labels() -> None:
    with opened() as engine:
        lives = engine.remember("Alice lives in Berlin.")
        paints = engine.remember("Alice paints the harbour festival.")
        assert {memory.kind for memory in engine.list().items} == {Kind.EPISODIC, Kind.SEMANTIC, Kind.TAG}
        engine.forget(lives.id)
        assert tags(engine) == {"alice", "harbour festival"}
        engine.forget(paints.id)
        assert engine.list().items == ()


def test_tidying_and_auditing_leave_used_tags_alone() -> None:
    with opened() as engine:
        engine.remember("Alice lives in Berlin.")
        before = tags(engine)
        engine.tidy(dry_run=False)
        assert tags(engine) == before
        assert not engine.audit().findings


def test_tags_are_as_secret_as_their_texts_and_hold_no_secret() -> None:
    with opened() as engine:
        engine.remember("Alice plans the Falcon merger.", classification=3)
        engine.remember("Bob waters the palm trees.")
        assert tags(engine) == {"bob", "palm trees"}
        assert "falcon" in {memory.text for memory in engine.list(kinds=["tag"], max_classification=3).items}
        said, secret = SAMPLES["AWS key"]
        engine.remember(f"Carol says: {said}", keywords=[secret])
        assert not any(secret.lower() in tag for tag in tags(engine))


def test_a_hop_leads_from_a_remembered_text_to_another_by_their_tag() -> None:
    """Thirty texts fill the kind; the last two share a tag with the best of them."""
    texts = [f"The billing system was restarted on day {number}." for number in range(30)]
    with opened() as engine:
        engine.remember_many([*texts, "Pelican is written in a rare dialect."])
        engine.remember("The billing system is Pelican.")
        found = engine.recall("What does the billing system Pelican do?", limit=50)
    reached = {item.memory.text for item in found.items if item.phase == "multi_hop"}
    assert reached and reached <= {*texts, "Pelican is written in a rare dialect."}


def test_labels_of_lines_and_sentences_are_no_tags() -> None:
    told = memory("a", "Observation: the north shelf holds ledgers.\nAction: open the north shelf")
    assert {"observation", "action"}.isdisjoint(word for name in labels_of(told) for word in name.split())
    assert (
        labels_of(memory("b", "Yes.", keywords=("so long that it is a sentence and not the name of anything at all",)))
        == ()
    )


def test_a_store_written_by_another_recipe_says_that_it_has_no_tags(tmp_path: Path) -> None:
    with memorist.open(tmp_path / "m.db", background=False) as engine:
        engine.remember("The billing system is Pelican.")
    with memorist.open(tmp_path / "m.db", recipe=GRAPH, background=False) as engine:
        found = engine.recall("What is the billing system?")
    assert found.items
    assert any("no memory here has a tag" in note for step in found.trace.steps for note in step.notes)


def test_telling_a_known_text_again_gives_it_its_tags(tmp_path: Path) -> None:
    told = "Alice lives in Berlin and paints the harbour festival."
    with memorist.open(tmp_path / "a.db", background=False) as engine:
        kept = engine.remember(told)
    with memorist.open(tmp_path / "a.db", recipe=GRAPH, background=False) as engine:
        assert engine.remember(told).id == kept.id
        first = engine.list(kinds=["tag"]).items
        assert {memory.text for memory in first} >= {"alice", "berlin", "harbour festival"}
        assert engine.store.links([kept.id], MEMBERSHIP)
        engine.remember(told)
        assert engine.list(kinds=["tag"]).items == first
