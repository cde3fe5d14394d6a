"""Standing wishes: they rank first for what is asked for, and stand with pinned memories at the head of a context."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice

from memorist.model import AGENT_TRUST, INSTRUCTIONS, Candidate, Filter, Memory, Tier
from memorist.ports import Reader, View
from memorist.recall.assemble import episodes_of, fact_line, standing_line
from memorist.recall.stage import Draft, Env, Stage, ranked
from memorist.text.chatter import question_in
from memorist.text.labels import AS_DATA
from memorist.text.tokens import count_tokens
from memorist.text.wishes import is_request, standing_wish

HEADER = f"Pinned and standing wishes{AS_DATA}"
USUAL_CONTEXT = 2000
"""The tokens of a context if the caller does not say."""
MOST_PINS = 100
"""The most pinned memories that are read for a context; far fewer fit into it."""
_EVER = timedelta(days=4_000_000)
_LAST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Wishes(Stage):
    """score + weight for a standing wish or rule, if the query asks for something to be done.

    "Draft a reply to Tom" needs "never use emojis with Tom", which shares only a name with it. A text of more than
    `longest` characters is more than a wish. Takes and gives the scores of the first stage, about 0 to 1.
    """

    kind = "wishes"
    takes = ("candidates",)
    weight: float = 0.2
    longest: int = 800

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, re-ranked."""
        if not is_request(question_in(draft.query.text)):
            return draft
        return replace(draft, candidates=ranked([self._raised(candidate) for candidate in draft.candidates]))

    def _raised(self, one: Candidate) -> Candidate:
        if len(one.memory.text) > self.longest or standing_wish(one.memory.text) is None:
            return one
        return one.rescored(one.score + self.weight, before=one.score, wish=self.weight)


@dataclass(frozen=True, slots=True)
class Standing(Stage):
    """Put pinned memories, newest first, and the standing wishes of a request at the head of the context.

    If the query asks for something to be done, the `wishes` best candidates that state a wish follow the pinned
    memories; those below agent trust and those that read like instructions do not count. What is outdated is left out.
    The head takes at most `share` of the tokens of the context and `max_tokens`. A memory longer than `longest`
    characters is cut, a wish to the sentences that state it. With `as_facts`, each line has the form of a fact, as
    `assemble_facts` writes it, and cites the newest episode by its id. Does not change the candidates.
    """

    kind = "standing"
    takes = ("candidates",)
    share: float = 0.2
    max_tokens: int = 200
    wishes: int = 2
    longest: int = 300
    as_facts: bool = False

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the head of its context."""
        outdated = {candidate.memory.id for candidate in draft.candidates if candidate.is_outdated}
        where = replace(draft.request.where, include_expired=False)
        pins = {
            memory.id: memory
            for memory in pinned_memories(env.store, env.view, where, MOST_PINS)
            if memory.id not in outdated
        }
        chosen = [*pins.values(), *islice(self._wishes(draft, pins), self.wishes)]
        asked = draft.request.max_tokens
        room = min(self.max_tokens, int(self.share * (USUAL_CONTEXT if asked is None else asked)))
        lines = self._as_facts(chosen, draft, env) if self.as_facts else {}
        head, told = head_of(chosen, room, self.longest, draft.request.now, lines)
        return replace(draft, head=head, standing=told)

    def _as_facts(self, memories: Sequence[Memory], draft: Draft, env: Env) -> dict[str, str]:
        """The lines of memories as facts, by their ids."""
        episodes = episodes_of(memories, draft.request.where, env)
        sources = {id: [memory for memory in some if memory.id != id] for id, some in episodes.items()}
        return {
            memory.id: fact_line(memory, next(reversed(sources[memory.id]), None), self.longest, draft.request.now)
            for memory in memories
        }

    def _wishes(self, draft: Draft, pins: Mapping[str, Memory]) -> Iterator[Memory]:
        """The candidates that state a wish, best first, if the query asks for something to be done."""
        if not self.wishes or not is_request(draft.query.text):
            return
        for candidate in draft.candidates:
            memory, worth = candidate.memory, candidate.memory.worth
            trusted = worth.trust >= AGENT_TRUST and INSTRUCTIONS not in worth.flags
            if not trusted or memory.id in pins or candidate.is_outdated:
                continue
            wish = standing_wish(memory.text)
            if wish is not None:
                known = memory.as_known_at(draft.request.where.known_at)
                yield known if len(memory.text) <= self.longest else replace(known, text=wish.text)


def pinned_memories(store: Reader, view: View, where: Filter, limit: int) -> list[Memory]:
    """The pinned memories that a filter admits, newest first."""
    if where.tier not in (None, Tier.PINNED):
        return []
    return newest_memories(store, view, replace(where, tier=Tier.PINNED), limit)


def newest_memories(store: Reader, view: View, where: Filter, limit: int) -> list[Memory]:
    """The newest memories that a filter admits, newest first."""
    moment = where.as_of or _LAST
    hits = view.search_time(moment, moment, where, limit, reach=_EVER)
    known = (memory.as_known_at(where.known_at) for memory in store.get([hit.id for hit in hits]).values())
    return sorted(known, key=lambda one: (one.times.valid_from, one.id), reverse=True)


def head_of(
    memories: Iterable[Memory], room: int, longest: int, now: datetime, lines: Mapping[str, str] | None = None
) -> tuple[str, tuple[Memory, ...]]:
    """The head of a context with the memories whose lines fit, and those; one that does not fit is left out.

    `lines` has those that are written already, by the ids of their memories.
    """
    told: list[Memory] = []
    written = [HEADER]
    room -= count_tokens(HEADER)
    for memory in memories:
        text = (lines or {}).get(memory.id) or standing_line(memory, longest, now)
        if (cost := count_tokens(f"\n{text}")) <= room:
            told.append(memory)
            written.append(text)
            room -= cost
    return "\n".join(written) if told else "", tuple(told)
