"""The texts that are embedded for a memory: alone, and together with the turn before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from memorist.model import Kind, Memory
from memorist.ports import Embedder, Reader
from memorist.text.chatter import ending, render_turn

VERSION = "turns-1"
"""The version of these texts, which is part of an embedding generation's name."""
TEXT, CONTEXT = "text", "context"
LAST_POSITION = 2**63 - 1
"""The largest position that stores keep; turns that come after it share it."""
REACH = 3
"""How many positions back the turn before may be: turns that were not kept leave gaps."""


def generation_of(embedder: Embedder) -> str:
    """The generation of the vectors that an embedder makes from these texts."""
    return f"{embedder.generation}:{VERSION}"


def maker_of(generation: str) -> str | None:
    """The embedder's part of a generation; None for vectors of another version of the texts."""
    return generation.removesuffix(f":{VERSION}") if generation.endswith(f":{VERSION}") else None


def alone(memory: Memory) -> str:
    """A memory's text; a turn of talk with its date and speaker."""
    return read_with(memory, None)


def read_with(memory: Memory, before: Memory | None) -> str:
    """A memory as models read it; a turn with its date, its speaker and the end of the turn before."""
    if not is_talk(memory):
        return memory.text
    near = before and ending(before.text, before.origin.speaker)
    return render_turn(memory.text, speaker=memory.origin.speaker, at=memory.times.valid_from, before=near)


def is_talk(memory: Memory) -> bool:
    """Whether a memory is a turn of talk; notes, facts and steps are not."""
    return memory.kind is Kind.EPISODIC and memory.origin.speaker is not None


def text_without_speaker(memory: Memory) -> str:
    """A memory's text alone, without the name of its speaker."""
    speaker, text = memory.origin.speaker, memory.text
    named = speaker is not None and text[: len(speaker) + 1].casefold() == f"{speaker}:".casefold()
    return text[len(speaker) + 1 :].strip() if named and speaker else text


def readings(memories: Iterable[Memory], before: Mapping[str, Memory]) -> dict[str, dict[str, str]]:
    """The texts to embed, by memory and view; `before` maps a memory to the turn before it, if there is one."""
    made: dict[str, dict[str, str]] = {}
    for memory in memories:
        made[memory.id] = {TEXT: alone(memory)}
        if memory.id in before:
            made[memory.id][CONTEXT] = read_with(memory, before[memory.id])
    return made


def number_turns(memories: Iterable[Memory], reader: Reader) -> Iterator[Memory]:
    """The memories, with the next positions of their session for turns that came without one."""
    following: dict[str, int] = {}
    for memory in memories:
        session = memory.origin.session
        if session is None or memory.origin.position is not None or not is_talk(memory):
            yield memory
            continue
        if session not in following:
            last = reader.last_position(session)
            following[session] = 0 if last is None else last + 1
        yield replace(memory, origin=replace(memory.origin, position=min(following[session], LAST_POSITION)))
        following[session] += 1


class Turns(Protocol):
    """Knows the turns of sessions."""

    def turns(self, session: str, first: int, last: int) -> list[Memory]:
        """The memories of a session between two positions, ordered by position and then by the order of writing."""
        ...


class TurnsAround:
    """The stored turns around some memories, each session read once."""

    def __init__(self, memories: Sequence[Memory], reader: Turns) -> None:
        self._lines: dict[str, list[Memory]] = {}
        for session, some in _by_session(memories).items():
            places = [_place(memory) for memory in some]
            first, last = max(min(places) - REACH, -LAST_POSITION), min(max(places) + REACH, LAST_POSITION)
            self._lines[session] = reader.turns(session, first, last)

    @property
    def all(self) -> list[Memory]:
        """Every turn that was read."""
        return [memory for line in self._lines.values() for memory in line]

    def turns(self, session: str, first: int, last: int) -> list[Memory]:
        """The turns of a session between two positions, as far as they are near."""
        return [memory for memory in self._lines.get(session, ()) if first <= _place(memory) <= last]


def turns_before(memories: Sequence[Memory], reader: Turns, new: Sequence[Memory] = ()) -> dict[str, Memory]:
    """The turn before each of these memories, by id; `new` ones count as stored."""
    found: dict[str, Memory] = {}
    for session, wanted in _by_session(memories).items():
        places = [_place(memory) for memory in wanted]
        line = _line(
            reader.turns(session, max(min(places) - REACH, -LAST_POSITION), max(places)), session, [*new, *wanted]
        )
        ids = {memory.id for memory in wanted}
        found |= {after.id: before for before, after in _pairs(line) if after.id in ids}
    return found


def turns_after(memories: Sequence[Memory], reader: Turns) -> list[Memory]:
    """Stored turns that directly follow one of these memories: they now have another turn before them."""
    given = {memory.id for memory in memories}
    found: dict[str, Memory] = {}
    for session, ahead in _by_session(memories).items():
        places = [_place(memory) for memory in ahead]
        line = _line(reader.turns(session, min(places), min(max(places) + REACH, LAST_POSITION)), session, ahead)
        found |= {after.id: after for before, after in _pairs(line) if before.id in given and after.id not in given}
    return list(found.values())


def _by_session(memories: Iterable[Memory]) -> dict[str, list[Memory]]:
    """Turns of talk by session; memories without a position have no neighbours."""
    sessions: dict[str, list[Memory]] = {}
    for memory in memories:
        if memory.origin.session is not None and memory.origin.position is not None and is_talk(memory):
            sessions.setdefault(memory.origin.session, []).append(memory)
    return sessions


def _line(kept: Sequence[Memory], session: str, new: Sequence[Memory]) -> list[Memory]:
    """A session's turns by position, including the new ones."""
    turns = {memory.id: memory for memory in (*kept, *new) if memory.origin.session == session and is_talk(memory)}
    return sorted((turn for turn in turns.values() if turn.origin.position is not None), key=_place)


def _pairs(line: Sequence[Memory]) -> Iterable[tuple[Memory, Memory]]:
    """Pairs of adjacent turns of the same scope and classification, not too far apart."""
    last: dict[tuple[str, int], Memory] = {}
    for after in line:
        where = after.scope, after.worth.classification
        before = last.get(where)
        if before is not None and _place(after) - _place(before) <= REACH:
            yield before, after
        last[where] = after


def _place(memory: Memory) -> int:
    return memory.origin.position or 0
