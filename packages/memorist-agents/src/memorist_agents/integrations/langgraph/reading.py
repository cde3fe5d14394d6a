"""Reading items from a memory: by place, by listing, and by a query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from langgraph.store.base import ListNamespacesOp, SearchOp
from memorist.model import Filters, Memory, RecallOptions
from memorist.verbs import Verbs
from memorist_agents.integrations.langgraph.items import (
    PART_OF,
    PUT,
    SOURCE,
    TEXTS,
    TTL,
    Namespace,
    Place,
    id_of,
    is_item,
    namespace_of,
    scopes_under,
    value_of,
)
from memorist_agents.integrations.langgraph.matching import check_filter, literal_prefix, matches, meets, where_of

PAGE = 500
"""How many memories are read at once."""
ITEMS: Mapping[str, Any] = {"source": SOURCE, f"metadata.{PART_OF}": {"exists": False}}
"""The condition for memories that keep an item, not a part of one."""
Scored = tuple[Memory, float | None]


class Items:
    """The items of a memory; a search with a query recalls by the recipe, or not at all if nothing is indexed."""

    def __init__(self, memory: Verbs, recipe: str | None, *, indexed: bool) -> None:
        self._memory = memory
        self._recipe = recipe
        self._indexed = indexed

    def at(self, places: Sequence[Place]) -> dict[Place, Memory]:
        """The items at these places that there are."""
        found = self._memory.get([id_of(place) for place in places]) if places else []
        now = datetime.now(UTC)
        pairs = zip(places, found, strict=True)
        return {place: one for place, one in pairs if one is not None and is_item(one, now)}

    def search(self, op: SearchOp) -> list[Scored]:
        """The items that a search returns: by rank if it has a query, then those without a score, oldest first."""
        prefix, wanted, end = tuple(op.namespace_prefix), op.filter or {}, op.offset + op.limit
        check_filter(wanted)
        asks = self._indexed and op.query is not None and op.query.strip()
        ranked = self._ranked(op.query or "", prefix, wanted, end) if asks else {}
        found = list(ranked.values())
        if len(found) < end:
            rest = (memory for memory in self._listed(prefix, wanted) if memory.id not in ranked)
            found += ((memory, None) for memory in islice(rest, end - len(found)))
        return found[op.offset : end]

    def namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        """The namespaces that have items, sorted."""
        conditions = op.match_conditions or ()
        scopes = dict.fromkeys(memory.scope for memory in self._listed(literal_prefix(conditions), {}))
        found = [namespace for namespace in map(namespace_of, scopes) if matches(namespace, conditions)]
        return sorted({namespace[: op.max_depth] for namespace in found})[op.offset : op.offset + op.limit]

    def expired(self) -> Iterator[Memory]:
        """The memories of items and parts whose time to live is over."""
        now = datetime.now(UTC)
        filters: Filters = {"where": {"source": SOURCE, f"metadata.{TTL}": {"exists": True}}, "include_expired": True}
        for memory in self._pages(filters):
            if memory.version_of is None and memory.times.expires_at is not None and memory.times.expires_at <= now:
                yield memory

    def _listed(self, prefix: Namespace, wanted: Mapping[str, Any]) -> Iterator[Memory]:
        """The items under a prefix that meet a filter, in the order they were written."""
        filters: Filters = {"scope": scopes_under(prefix), "where": {**ITEMS, **where_of(wanted)}}
        return (memory for memory in self._pages(filters) if is_item(memory) and meets(value_of(memory), wanted))

    def _pages(self, filters: Filters) -> Iterator[Memory]:
        cursor = None
        while True:
            page = self._memory.list(PAGE, cursor, **filters)
            yield from page.items
            cursor = page.cursor
            if cursor is None:
                return

    def _ranked(self, query: str, prefix: Namespace, wanted: Mapping[str, Any], most: int) -> dict[str, Scored]:
        """The best items for a query, by id; an item counts as the best of its texts does."""
        where = {"source": SOURCE, f"metadata.{TEXTS}": {"gte": 1}, **where_of(wanted)}
        options: RecallOptions = {"scope": scopes_under(prefix), "where": where, "min_confidence": 0.0, "track": False}
        if self._recipe is not None:
            options["recipe"] = self._recipe
        asked, found = most, dict[str, Scored]()
        while len(found) < most:
            options["limit"] = asked
            recalled = self._memory.recall(query, **options).items
            heads = self._heads([item.memory for item in recalled])
            for item in recalled:
                head = heads.get(item.memory.id)
                if head is not None and head.id not in found and meets(value_of(head), wanted):
                    found[head.id] = head, item.score
            if len(recalled) < asked:
                break
            asked *= 4  # several texts of one item, or a condition that only we can check
        return dict(islice(found.items(), most))

    def _heads(self, memories: Sequence[Memory]) -> dict[str, Memory]:
        """The item that each memory belongs to, by the memory's id; none for a part of an earlier put."""
        parts = {memory.id: memory.metadata[PART_OF] for memory in memories if PART_OF in memory.metadata}
        wanted = list(dict.fromkeys(parts.values()))
        there = dict(zip(wanted, self._memory.get(wanted), strict=True)) if wanted else {}
        heads = ((memory, there.get(parts[memory.id]) if memory.id in parts else memory) for memory in memories)
        return {
            one.id: head
            for one, head in heads
            if head is not None and is_item(head) and head.metadata[PUT] == one.metadata.get(PUT)
        }
