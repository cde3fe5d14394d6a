"""Write the context as talk: turns of one session together, in order, with what was said just before them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from memorist.model import Candidate, Memory
from memorist.recall.assemble import HEADER, budget_of, citation, shortened, when
from memorist.recall.stage import Draft, Env, Stage
from memorist.recall.superseded import OUTDATED
from memorist.text.tokens import count_tokens
from memorist.text.turn import spoken

ASIDE = 300
"""The longest text of a turn that is there only to explain the one after it."""


@dataclass(frozen=True, slots=True)
class AssembleTurns(Stage):
    """A cited line per memory within the token budget, those of one session and day under one heading, in order.

    Memories come in by rank. Tokens that are left then go to the turn before each, by rank, without a number and cut
    at 300 characters. Nothing is told twice; a memory that does not fit is left out and the next one is tried.
    """

    kind = "assemble_turns"
    max_tokens: int = 2000
    longest: int = 1200
    before: int = 1

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its context and the tokens that takes; none where nothing relevant was found."""
        if draft.abstained:
            return draft
        page = _Page(budget_of(draft, self.max_tokens))
        numbered = list(enumerate(draft.candidates, 1))
        kept = [one.memory for rank, one in numbered if page.add(one.memory, self._line(rank, one))]
        self._explain(kept, page, env, draft)
        draft = replace(draft, context=page.text(), tokens=page.tokens if kept else 0)
        left_out = len(numbered) - len(kept)
        return draft.noting(f"{left_out} left out of a context of {page.budget} tokens") if left_out else draft

    def _line(self, rank: int, candidate: Candidate) -> str:
        said = spoken(shortened(candidate.memory.text, self.longest), candidate.memory.origin.speaker)
        outdated = "".join(f" ({note})" for note in candidate.notes if note.startswith(OUTDATED))
        return f"[{rank}] {said}{outdated}"

    def _explain(self, kept: Sequence[Memory], page: _Page, env: Env, draft: Draft) -> None:
        placed = [one for one in kept if one.origin.session is not None and one.origin.position is not None]
        around = env.store.neighbours([one.id for one in placed], self.before, 0) if self.before > 0 and placed else {}
        for memory in placed:
            for beside in reversed(around.get(memory.id, ())[:-1]):
                if beside.scope == memory.scope and draft.request.where.admits(beside):
                    page.add(beside, f"    {spoken(shortened(beside.text, ASIDE), beside.origin.speaker)}")


@dataclass(slots=True)
class _Page:
    """Lines under headings, as long as they fit."""

    budget: int
    tokens: int = count_tokens(HEADER)
    blocks: dict[str, list[tuple[Memory, str]]] = field(default_factory=dict[str, list[tuple[Memory, str]]])

    def add(self, memory: Memory, line: str) -> bool:
        """Take a line in, with its heading if that is new; False when it does not fit or is there already."""
        heading = _heading(memory)
        block = self.blocks.get(heading, [])
        if any(one.id == memory.id for one, _ in block):
            return False
        cost = count_tokens(f"\n{line}") + (0 if block else count_tokens(f"\n{heading}"))
        if self.tokens + cost > self.budget:
            return False
        self.tokens += cost
        self.blocks.setdefault(heading, []).append((memory, line))
        return True

    def text(self) -> str:
        """The page; empty where there is nothing under its header."""
        lines = [line for heading, block in self.blocks.items() for line in (heading, *_in_order(block))]
        return "\n".join([HEADER, *lines]) if lines else ""


def _heading(memory: Memory) -> str:
    """The day, and the session or source it comes from."""
    return f"{when(memory)}{citation(memory)}:"


def _in_order(block: Sequence[tuple[Memory, str]]) -> Iterable[str]:
    """The lines of one session by position, others as they came."""
    return (line for _, line in sorted(block, key=lambda one: one[0].origin.position or 0))
