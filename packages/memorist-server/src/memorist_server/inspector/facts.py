"""Facts as people look at them: those about a name, and those behind an answer, whenever they held.

They take an engine, so that its cap holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memorist.engine.engine import Engine
from memorist.model import MOST_CLASSIFIED, STATES, Fact, Filter, Kind, Memory, bare_name
from memorist_server.inspector.browse import newest

MOST_FACTS, MOST_READ = 60, 2000
"""How many facts are shown, and at most how many of a name are read to find the newest."""
MOST_SUBJECTS = 4
RECENT = 200
"""How many of the newest memories are looked through for names to begin with."""


def facts_about(engine: Engine, name: str) -> list[Memory] | None:
    """Facts with a name as their subject or object, ended ones too, the newest `MOST_FACTS`; None for no known name."""
    store = engine.store
    known = store.entities([name])
    if not known:
        return None
    names = {bare_name(entity.id) for entity in known}
    related = store.view().related(names, Filter(kinds=(Kind.SEMANTIC,)), 0)
    ids = [id for pair in related if pair.source in names or pair.target in names for id in pair.memories]
    found = store.get(ids[:MOST_READ])
    facts = [memory for memory in found.values() if memory.fact is not None and memory.version_of is None]
    return sorted(facts, key=lambda one: (one.times.ingested_at, one.id))[-MOST_FACTS:]


def facts_behind(engine: Engine, memories: Sequence[Memory]) -> list[Memory]:
    """The facts that memories are or state, and what held before and after each: all values of the same relation."""
    links = engine.store.links([memory.id for memory in memories], STATES)
    stated = engine.store.get([link.target for link in links])
    facts = _facts([*memories, *stated.values()])
    wanted = {_slot(known_fact) for known_fact in facts.values()}
    for subject in list(dict.fromkeys(fact.subject for fact, _ in _read(facts.values())))[:MOST_SUBJECTS]:
        about = facts_about(engine, subject) or []
        facts |= {id: one for id, one in _facts(about).items() if _slot(one) in wanted}
    return list(facts.values())[:MOST_FACTS]


def _facts(memories: Iterable[Memory]) -> dict[str, Memory]:
    return {one.id: one for _, one in _read(memories) if one.version_of is None}


def _read(memories: Iterable[Memory]) -> Iterable[tuple[Fact, Memory]]:
    return ((memory.fact, memory) for memory in memories if memory.fact is not None)


def _slot(memory: Memory) -> tuple[str, str]:
    fact = memory.fact
    return ("", "") if fact is None else (fact.subject, fact.relation)


def names_lately(engine: Engine, limit: int) -> list[str]:
    """Subjects of the newest facts."""
    recent = newest(engine, RECENT, kinds=["semantic"], max_classification=MOST_CLASSIFIED).items
    return list(dict.fromkeys(fact.subject for fact, _ in _read(recent)))[:limit]
