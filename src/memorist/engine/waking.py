"""What an agent is told at its start: pinned memories, then the others that matter most."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memorist.model import Filter, Memory, WakeUp
from memorist.ports import Reader, View
from memorist.recall.assemble import line
from memorist.recall.persons import concerns
from memorist.recall.standing import head_of, newest_memories, pinned_memories
from memorist.text.labels import HEADER
from memorist.text.tokens import count_tokens

KINDS = ("episodic", "semantic", "procedural", "note")
"""The kinds of memories that are told if the caller names none."""
MOST_PINS, MOST_READ = 50, 200
"""The most pinned memories and others that are read; far fewer fit."""
LONGEST_PIN, LONGEST_LINE = 300, 600


def wake_up(reader: Reader, view: View, where: Filter, max_tokens: int, speaker: str | None, now: datetime) -> WakeUp:
    """Pinned memories, newest first, in at most half of the tokens; then others, the most important and newest first.

    What the speaker said of themselves, and what others said about them, comes before the rest.
    """
    head, standing = head_of(pinned_memories(reader, view, where, MOST_PINS), max_tokens // 2, LONGEST_PIN, now)
    told = {memory.id for memory in standing}
    others = [memory for memory in newest_memories(reader, view, where, MOST_READ) if memory.id not in told]
    others.sort(key=lambda one: (speaker is None or not concerns(one, speaker), -one.worth.importance))
    body, listed = listing(others, max_tokens - count_tokens(head), now)
    context = "\n".join(filter(None, (head, body)))
    return WakeUp(now, context, count_tokens(context), (*standing, *listed))


def listing(memories: Iterable[Memory], room: int, now: datetime) -> tuple[str, tuple[Memory, ...]]:
    """Memories below a header, each on a line, and those whose lines fit; one that does not fit is left out."""
    told: list[Memory] = []
    lines = [HEADER]
    room -= count_tokens(f"\n{HEADER}")
    for memory in memories:
        written = line(len(told) + 1, memory, LONGEST_LINE, now)
        if (cost := count_tokens(f"\n{written}")) <= room:
            told.append(memory)
            lines.append(written)
            room -= cost
    return "\n".join(lines) if told else "", tuple(told)
