"""The items of a conversation as memories: every item comes back exactly and in order, repeats included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from memorist.errors import NotFound
from memorist.model import Memory, Outcome
from memorist.verbs import Verbs
from memorist_agents.integrations.verbatim import box, every, is_text, keep, unbox

ITEM, TURN = "item", "turn"
"""The entries of metadata with the item, and with its place: the batch it came in, and its number there."""
MOST_LEFT_OUT = 1000
"""How many of the last items are left out of a recall at most; as many as one condition may name."""
LONGEST = 8000
"""How many characters of an item are searched; the item is kept whole."""


@dataclass(frozen=True, slots=True)
class ConversationItem:
    """One item of a conversation: any JSON object, and the words in it, if there are any."""

    item: Any
    text: str
    speaker: str
    label: str
    """Stands for the words of an item that has none."""
    trust: int = 3
    id: str = ""
    """The id of its memory."""


class Conversation:
    """The items of one session in a memory.

    An item with words is a turn of talk, which every recall can find. One without words, such as the call of a tool, is
    of the kind `source`: it is kept and listed, but recalls leave it alone. An item that only repeats recalled memories
    is kept in the same way, because its words would be found twice.
    """

    def __init__(self, memory: Verbs, session: str, *, scope: str = "global") -> None:
        self._memory = memory
        self._session = session
        self._scope = scope

    def last(self, most: int | None = None) -> list[ConversationItem]:
        """The items in the order they were added; at most the last ones, if a number is given."""
        turns = [_as_turn(memory) for memory in self._in_order()]
        return turns if most is None or most < 0 else turns[len(turns) - min(most, len(turns)) :]

    def add(self, turns: Sequence[ConversationItem]) -> None:
        """Add items, all of them or none."""
        batch = uuid4().hex
        places = [f"{batch}:{number}" for number in range(len(turns))]
        kept = keep(self._memory, [self._fields(*pair) for pair in zip(turns, places, strict=True)])
        withheld = [place for place, one in enumerate(kept) if one.outcome is Outcome.WITHHELD]
        if withheld:
            keep(self._memory, [self._fields(turns[place], places[place], echo=True) for place in withheld])

    def pop(self) -> Any:
        """Erase the last item and return it; None if there is none."""
        while turns := self.last(1):
            try:
                self._memory.forget(turns[0].id)
            except NotFound:  # another process was faster
                continue
            return turns[0].item
        return None

    def clear(self) -> None:
        """Erase all items."""
        while ids := [memory.id for memory in self._in_order()]:
            try:
                self._memory.forget(ids)
            except NotFound:  # another process erases them too
                continue

    def recalled(self, question: str, before: int, most: int) -> str | None:
        """What the items before the last ones say about a question, as data for a prompt; None if nothing."""
        near = [memory.metadata[TURN] for memory in self._in_order()[-before:]] if before > 0 else []
        where: dict[str, Any] = {"session": self._session, f"metadata.{TURN}": {"exists": True}}
        if near:
            where["not"] = {f"metadata.{TURN}": {"in": near[-MOST_LEFT_OUT:]}}
        found = self._memory.recall(question, scope=self._scope, where=where, limit=most, speaker="user")
        return found.context if found.items and not found.abstained else None

    def _in_order(self) -> list[Memory]:
        """The memories of the items: batches as they were written, and within a batch by number."""
        where = {"session": self._session, f"metadata.{TURN}": {"exists": True}}
        batches: dict[str, list[tuple[int, Memory]]] = {}
        for memory in every(self._memory, scope=self._scope, where=where):
            batch, _, number = str(memory.metadata[TURN]).partition(":")
            batches.setdefault(batch, []).append((int(number), memory))
        return [memory for some in batches.values() for _, memory in sorted(some, key=_number)]

    def _fields(self, turn: ConversationItem, place: str, *, echo: bool = False) -> Mapping[str, Any]:
        text = turn.text[:LONGEST]
        spoken = is_text(text) and not echo
        return {
            "text": text if spoken else f"({turn.label})",
            "kind": "episodic" if spoken else "source",
            "scope": self._scope,
            "session": self._session,
            "speaker": turn.speaker,
            "trust": turn.trust,
            "key": place,
            "metadata": {TURN: place, **box(ITEM, turn.item)},
        }


def _as_turn(memory: Memory) -> ConversationItem:
    item = unbox(ITEM, memory.metadata)
    return ConversationItem(item, memory.text, memory.origin.speaker or "", "", memory.worth.trust, memory.id)


def _number(numbered: tuple[int, Memory]) -> int:
    return numbered[0]
