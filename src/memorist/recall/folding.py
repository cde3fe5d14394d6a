"""Facts that rules read in stored texts: what finds such a fact has found the text that states it.

No search of a store returns them (`IndexView` leaves them out). Only what walks the graph of facts, or follows an old
value to the current one, meets them, and puts their texts in their place here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memorist.model import STATES, Fact, Filter, Hit, Memory
from memorist.recall.stage import Env
from memorist.text.words import fold


def ends(fact: Fact) -> set[str]:
    """The folded names of a fact's subject and object."""
    return {fold(fact.subject), fold(fact.object)}


def stating_texts(facts: Iterable[Memory], where: Filter, env: Env) -> dict[str, Memory]:
    """The newest text that states each of these facts and that the filter admits; nothing for a fact without one."""
    ids = [fact.id for fact in facts]
    links = [link for link in env.store.links(ids, STATES) if link.target in set(ids)] if ids else []
    texts = env.store.get(list(dict.fromkeys(link.source for link in links)))
    newest: dict[str, Memory] = {}
    for link in links:
        text, known = texts.get(link.source), newest.get(link.target)
        if text is not None and where.admits(text) and (known is None or _order(known) < _order(text)):
            newest[link.target] = text
    return newest


def _order(memory: Memory) -> tuple[object, ...]:
    return memory.times.valid_from, memory.id


def fold_hits(hits: Sequence[Hit], where: Filter, env: Env) -> list[Hit]:
    """Hits with the texts that state them in place of facts that rules read; each memory once, at its best score."""
    found = env.store.get([hit.id for hit in hits])
    facts = {id: one for id, one in found.items() if one.is_folded}
    if not facts:
        return list(hits)
    texts, best = stating_texts(facts.values(), where, env), dict[str, float]()
    for hit in hits:
        id = texts[hit.id].id if hit.id in texts else None if hit.id in facts else hit.id
        if id is not None:
            best[id] = max(hit.score, best.get(id, hit.score))
    return [Hit(id, score) for id, score in sorted(best.items(), key=lambda one: (-one[1], one[0]))]
