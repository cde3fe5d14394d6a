"""Stages for what a question asks beyond its words: a wish to respect, the newest truth, or a list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from memorist.model import Candidate
from memorist.recall.stage import Draft, Env, Stage, ranked
from memorist.recall.superseded import EARLIER, OUTDATED
from memorist.text.chatter import question_in
from memorist.text.patterns import lazy
from memorist.text.questions import asks_about_the_past, asks_for_several

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

APART = timedelta(hours=1)
"""How much later a statement must be to replace another."""
_SUBJECT = lazy(r"[^\W\d_]*-?\d[\w.-]*|\w+(?=:\s)")
_NAME = lazy(r"\b[^\W\d_]*\d[\w-]*|(?<!^)(?<![.!?] )\b(?=[^\W\d_])[^\W_a-z][\w-]*")


@dataclass(frozen=True, slots=True)
class Wishes(Stage):
    """score + weight for a standing wish or rule, if the query asks for something to be done.

    "Draft a reply to Tom" needs "never use emojis with Tom", which shares only a name with it. Takes and gives the
    scores of the first stage, about 0 to 1.
    """

    kind = "wishes"
    takes = ("candidates",)
    weight: float = 0.2

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, re-ranked."""
        from memorist.text.wishes import is_request, standing_wish

        if not is_request(question_in(draft.query.text)):
            return draft
        return replace(
            draft,
            candidates=ranked(
                [
                    one.rescored(one.score + self.weight, before=one.score, wish=self.weight)
                    if standing_wish(one.memory.text)
                    else one
                    for one in draft.candidates
                ]
            ),
        )


@dataclass(frozen=True, slots=True)
class MoreAlike(Stage):
    """score + weight · z(cosine to the mean of the first `best`), if the question asks for several things.

    The members of a list resemble one another more than the question: Rocchio 1971, with the best candidates as
    feedback. Takes and gives the scores of the first stage.
    """

    kind = "more_alike"
    takes = ("candidates",)
    best: int = 5
    weight: float = 0.05

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, re-ranked."""
        if len(draft.candidates) <= self.best or not asks_for_several(question_in(draft.query.text)):
            return draft
        vectors = env.view.vectors([one.memory.id for one in draft.candidates])
        first = [vectors[one.memory.id] for one in draft.candidates[: self.best] if one.memory.id in vectors]
        if not first:
            return draft
        centre = sum(first[1:], start=first[0]) / len(first)
        near = {id: float(row @ centre) for id, row in vectors.items()}
        mean, spread = fmean(near.values()), pstdev(near.values()) or 1.0
        gains = {id: self.weight * (value - mean) / spread for id, value in near.items()}
        return replace(draft, candidates=ranked([self._raised(one, gains) for one in draft.candidates]))

    def _raised(self, one: Candidate, gains: Mapping[str, float]) -> Candidate:
        gain = gains.get(one.memory.id, 0.0)
        return one.rescored(one.score + gain, before=one.score, alike=gain)


@dataclass(frozen=True, slots=True)
class Newest(Stage):
    """A later candidate that answers the same question differently ranks above the earlier one, which is marked.

    Among the first `depth`, two candidates are taken for statements of the same thing if their vectors have a cosine of
    at least `similar`, or of `changed` if the later one announces a change ("is now", "moved to", "no longer"). A name
    of the question, or a code or label that the earlier one begins with, must not be missing in the later one. A change
    that lies ahead has not happened yet. Not for questions about the past, lists and requests, nor for what is known to
    be outdated. Keeps the scale; the note reads `earlier: 2025-03-10 says otherwise`.
    """

    kind = "newest"
    takes = ("candidates",)
    depth: int = 10
    similar: float = 0.75
    changed: float = 0.5

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, re-ranked."""
        head = [one for one in draft.candidates[: self.depth] if not _is_outdated(one)]
        question = question_in(draft.query.text)
        if len(head) < 2 or draft.query.vector is None or not _wants_the_newest(question):
            return draft
        vectors = env.view.vectors([one.memory.id for one in head])
        raised: dict[str, float] = {}
        marked: dict[str, str] = {}
        for later in head:
            changing = _announces_change(later)
            if changing and _lies_ahead(later, draft.request.where.as_of or draft.request.now):
                continue
            limit = self.changed if changing else self.similar
            for earlier in head:
                if self._follows(later, earlier, limit, vectors) and _same_subject(later, earlier, question):
                    marked[earlier.memory.id] = max(marked.get(earlier.memory.id, ""), _day(later))
                    raised[later.memory.id] = max(raised.get(later.memory.id, 0.0), earlier.score)
        changed = [_placed(one, raised, marked) for one in draft.candidates]
        order = sorted(changed, key=lambda one: (-one.score, -one.memory.times.valid_from.timestamp()))
        return replace(draft, candidates=tuple(order))

    def _follows(
        self, later: Candidate, earlier: Candidate, limit: float, vectors: Mapping[str, NDArray[np.float32]]
    ) -> bool:
        if later.memory.times.valid_from < earlier.memory.times.valid_from + APART:
            return False
        one, other = vectors.get(later.memory.id), vectors.get(earlier.memory.id)
        return one is not None and other is not None and float(one @ other) >= limit


def _wants_the_newest(question: str) -> bool:
    from memorist.text.wishes import is_request

    return not (asks_about_the_past(question) or asks_for_several(question) or is_request(question))


def _announces_change(one: Candidate) -> bool:
    from memorist.text.change import changes

    return changes(one.memory.text) is not None


def _lies_ahead(one: Candidate, now: datetime) -> bool:
    return any(mention.start > now for mention in one.memory.mentions)


def _is_outdated(one: Candidate) -> bool:
    return any(note.startswith(tuple(OUTDATED)) for note in one.notes)


def _same_subject(later: Candidate, earlier: Candidate, question: str) -> bool:
    new, old = _said(later), _said(earlier)
    begins = _SUBJECT.match(earlier.memory.text)
    needed = [name.casefold() for name in _NAME.findall(question) if name.casefold() in old]
    return all(name in new for name in ([*needed, begins[0].casefold()] if begins else needed))


def _said(one: Candidate) -> str:
    return f"{one.memory.origin.speaker or ''} {one.memory.text}".casefold()


def _day(one: Candidate) -> str:
    return one.memory.times.valid_from.date().isoformat()


def _placed(one: Candidate, raised: Mapping[str, float], marked: Mapping[str, str]) -> Candidate:
    score = raised.get(one.memory.id, 0.0)
    if score > one.score:
        one = one.rescored(score, before=one.score, newest=score)
    day = marked.get(one.memory.id)
    return one if day is None else replace(one, notes=(*one.notes, f"{EARLIER}{day} says otherwise"))
