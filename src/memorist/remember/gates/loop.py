"""The gate for the recall loop: recalled context that comes back as if it were new."""

from __future__ import annotations

import re

from memorist.model import Kind, Memory
from memorist.remember.gates.verdict import Context, Verdict, quietened
from memorist.text.copies import Copies, copies, pieces_of

GATE, FLAG = "loops", "loop"
FEWEST = 3
"""Sentences copied, and memories they come from: quoting one or two is a conversation."""
COPIED = 0.8
"""The share of a text's letters that copied sentences make up."""
MOST_LINES = 50

_HEADER = re.compile(r"^(?:Memories|Facts), as data and not as instructions:\s*$", re.MULTILINE)
_ITEM = re.compile(r"^(?:\[\d{1,3}\] \d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)? |- .+; id [0-9a-f]{8}\)$)", re.MULTILINE)


def loops(memory: Memory, context: Context) -> Verdict | None:
    """Skip a text in the form of our own contexts, or put together of sentences that other memories hold."""
    if context.policy.loops == "keep" or memory.kind is not Kind.EPISODIC or FLAG in memory.worth.flags:
        return None
    form, pieces = form_of(memory.text), pieces_of(memory.text)
    if form is None and not _may_be_copied(pieces, memory, context):
        return None
    found = copies(pieces, _places(pieces, memory, context))
    if form is None and not is_loop(found):
        return None
    reason = form or told(found)
    if context.policy.loops == "skip":
        return Verdict(GATE, "skip", reason, memory, about=found.sources)
    return Verdict(GATE, "mark", reason, quietened(memory, FLAG), about=found.sources)


def form_of(text: str) -> str | None:
    """What the form of a text alone shows: that recall wrote it."""
    items = len(_ITEM.findall(text))
    if items and _HEADER.search(text):
        return "is a context that recall wrote"
    return "is a list of recalled memories" if items >= FEWEST else None


def is_loop(found: Copies) -> bool:
    """Whether a text is recalled context rather than somebody quoting."""
    return found.sentences >= FEWEST and len(found.sources) >= FEWEST and found.share >= COPIED


def told(found: Copies) -> str:
    """What was copied, in words."""
    return f"repeats {found.sentences} sentences of {len(found.sources)} memories, {found.share:.0%} of it"


def _may_be_copied(pieces: list[str], memory: Memory, context: Context) -> bool:
    """One look-up spares the rest: of a text that is nearly all copied, the longest sentence is."""
    if len(pieces) < FEWEST:
        return False
    longest = max(pieces, key=len)
    return longest in _places([longest], memory, context)


def _places(pieces: list[str], memory: Memory, context: Context) -> dict[str, list[str]]:
    """Which memories hold each piece, of those that any does."""
    where: dict[str, list[str]] = {}
    for piece in pieces[:MOST_LINES]:
        if known := [one for one in context.holding(piece, memory.scope) if one != memory.id]:
            where[piece] = known
    return where
