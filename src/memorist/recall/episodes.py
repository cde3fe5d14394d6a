"""The episodes that facts, lessons and notes rest on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from memorist.model import CITES, DENIES, PROVENANCE, STATES, Filter, Kind, Memory
from memorist.recall.stage import Env


def episodes_of(memories: Sequence[Memory], where: Filter, env: Env) -> dict[str, list[Memory]]:
    """The visible episodes of each memory, oldest first: those it was derived from, else itself unless it is a fact."""
    sources = _linked({one.id for one in memories if one.fact is not None or one.kind is not Kind.EPISODIC}, env)
    named = {one.id: one.origin.source for one in memories if one.fact and one.origin.source and one.id not in sources}
    keyed = env.store.keyed(list(dict.fromkeys(named.values()))) if named else []
    for id, name in named.items():
        sources[id] = [name, *(one.id for one in keyed if one.origin.key == name)]
    episodes = env.store.get(list(dict.fromkeys(id for some in sources.values() for id in some)))
    # An episode may be told after the time in question: the fact is about that time, the episode about the fact.
    visible = replace(where.visibility, as_of=max(filter(None, (where.as_of, where.known_at)), default=None))
    cited = {
        id: sorted(
            (episodes[one] for one in some if one in episodes and visible.admits(episodes[one])),
            key=lambda one: (one.times.valid_from, one.id),
        )
        for id, some in sources.items()
    }
    return {one.id: cited.get(one.id) or ([] if one.fact is not None else [one]) for one in memories}


def _linked(ids: Collection[str], env: Env) -> dict[str, list[str]]:
    """The ids of the memories that each of these was derived from, by the links between them."""
    sources: dict[str, list[str]] = {}
    for link in env.store.links(sorted(ids), STATES, DENIES, PROVENANCE, CITES) if ids else ():
        stated = link.relation in (STATES, DENIES)
        derived, source = (link.target, link.source) if stated else (link.source, link.target)
        if derived in ids:
            sources.setdefault(derived, []).append(source)
    return sources
