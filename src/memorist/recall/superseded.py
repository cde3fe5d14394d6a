"""Stages for outdated statements: they mark them, and rank the current value or the newer statement above them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from math import inf
from typing import TYPE_CHECKING

from memorist.model import STATES, Candidate, Evidence, Filter, Memory
from memorist.model.marks import CandidateMark, Contradicted, Current, Ended, Replaced
from memorist.recall.persons import of_two_people
from memorist.recall.stage import Draft, Env, Stage, ranked
from memorist.recall.told import denies
from memorist.text.chatter import asks_about_the_past, asks_for_several, question_in
from memorist.text.patterns import lazy
from memorist.text.signature import content_stems
from memorist.text.words import words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LONGEST_CHAIN = 50
"""The longest chain of values to follow from an old one to the current one."""


@dataclass(frozen=True, slots=True)
class Superseded(Stage):
    """Mark candidates that state an outdated fact, and rank them, at `share` of their score, below the current value.

    A candidate that states the current value takes the outdated one's score if that is higher. If no candidate states
    it, the current fact itself is added with that score. The note reads `superseded: Oslo since 2023-03-01`, or
    `ended: 2023-03-01` if no other value followed, and `current: Oslo since 2023-03-01` on the current value. Keeps the
    scale.
    """

    kind = "superseded"
    takes = ("candidates",)
    effect = "adds"
    share: float = 0.5

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with outdated candidates marked and ranked below the current values."""
        stated = _stated(draft.candidates, env)
        where = draft.request.where
        ended = {
            id: [fact for fact in facts if not where.still_valid(fact.times)]
            for id, facts in stated.items()
            if not all(where.still_valid(fact.times) for fact in facts)
        }
        if not ended:
            return draft
        current = _current((fact for facts in ended.values() for fact in facts), where, env)
        kept = [candidate for candidate in draft.candidates if candidate.memory.id not in ended]
        old = [candidate for candidate in draft.candidates if candidate.memory.id in ended]
        covered = {id for candidate in kept for id in _about(candidate, stated)}
        added = _added(old, ended, current, covered, where, env)
        stated |= _stated(added, env)
        replaced = ((current[fact.id], candidate.score) for candidate in old for fact in ended[candidate.memory.id])
        kept = _raised(kept, stated, _best((now.id, score) for now, score in replaced if now is not None))
        scores = _best((id, candidate.score) for candidate in (*kept, *added) for id in _about(candidate, stated))
        marked = [self._marked(candidate, ended[candidate.memory.id], current, scores) for candidate in old]
        valid = {now.id: now for now in current.values() if now is not None}
        newest = [
            _as_current(candidate, [valid[id] for id in _about(candidate, stated) if id in valid])
            for candidate in (*kept, *added)
        ]
        return replace(draft, candidates=ranked([*newest, *marked]))

    def _marked(
        self,
        candidate: Candidate,
        facts: Sequence[Memory],
        current: Mapping[str, Memory | None],
        scores: Mapping[str, float],
    ) -> Candidate:
        after = [now for fact in facts if (now := current[fact.id]) is not None]
        least = min((scores[now.id] for now in after if now.id in scores), default=candidate.score)
        marks = dict.fromkeys(_end_of(fact, current[fact.id]) for fact in facts)
        return replace(candidate, score=self.share * min(candidate.score, least), marks=(*candidate.marks, *marks))


def _stated(candidates: Sequence[Candidate], env: Env) -> dict[str, list[Memory]]:
    """The facts that each candidate is or states."""
    ids = [candidate.memory.id for candidate in candidates]
    links = env.store.links(ids, STATES) if ids else []
    facts = env.store.get(list(dict.fromkeys(link.target for link in links)))
    stated = defaultdict[str, list[Memory]](list)
    for link in links:
        if link.target in facts:
            stated[link.source].append(facts[link.target])
    return stated


def _about(candidate: Candidate, stated: Mapping[str, Sequence[Memory]]) -> tuple[str, ...]:
    """The ids of the candidate and of the facts that it states."""
    id = candidate.memory.id
    return id, *(fact.id for fact in stated.get(id, ()))


def _current(facts: Iterable[Memory], where: Filter, env: Env) -> dict[str, Memory | None]:
    """The value that replaced each fact and is valid at the time of the recall; None if there is none."""
    chains: dict[str, Memory] = {fact.id: fact for fact in facts}
    current: dict[str, Memory | None] = dict.fromkeys(chains)
    known: dict[str, Memory] = {}
    for _ in range(LONGEST_CHAIN):
        following = {id: fact.superseded_by for id, fact in chains.items() if fact.superseded_by is not None}
        known |= env.store.get([id for id in dict.fromkeys(following.values()) if id not in known])
        chains = {id: known[after] for id, after in following.items() if after in known}
        current |= {id: fact for id, fact in chains.items() if where.still_valid(fact.times)}
        chains = {id: fact for id, fact in chains.items() if current[id] is None}
        if not chains:
            break
    return current


def _raised(
    kept: Sequence[Candidate], stated: Mapping[str, Sequence[Memory]], old_scores: Mapping[str, float]
) -> list[Candidate]:
    """The candidates, those that state a current value raised to the score of its old value."""
    raised: list[Candidate] = []
    for candidate in kept:
        about = _about(candidate, stated)
        score = max([candidate.score, *(old_scores[id] for id in about if id in old_scores)])
        raised.append(
            candidate
            if score == candidate.score
            else candidate.rescored(score, before=candidate.score, superseding=score)
        )
    return raised


def _added(
    old: Sequence[Candidate],
    ended: Mapping[str, Sequence[Memory]],
    current: Mapping[str, Memory | None],
    covered: set[str],
    where: Filter,
    env: Env,
) -> list[Candidate]:
    """The current values that no candidate states: the facts themselves, or the texts in which rules read them."""
    best: dict[str, Candidate] = {}
    for candidate in old:
        for fact in ended[candidate.memory.id]:
            now = current[fact.id]
            if now is not None and now.id not in covered and now.id not in best:
                evidence = {"supersedes": Evidence(None, candidate.score, candidate.score)}
                best[now.id] = Candidate(now, candidate.score, evidence, "current")
    if not best:
        return []
    from memorist.recall.folding import stating_texts

    texts = stating_texts((candidate.memory for candidate in best.values() if candidate.memory.is_folded), where, env)
    shown = {id: replace(one, memory=texts.get(id, one.memory)) for id, one in best.items()}
    known = {candidate.memory.id for candidate in old}
    added = {
        candidate.memory.id: candidate
        for candidate in shown.values()
        if not candidate.memory.is_folded and where.admits(candidate.memory)
    }
    return [one for id, one in added.items() if id not in known]


def _best(scores: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The best score of each id."""
    best: dict[str, float] = {}
    for id, score in scores:
        best[id] = max(best.get(id, 0.0), score)
    return best


def _as_current(candidate: Candidate, valid: Sequence[Memory]) -> Candidate:
    """A candidate with a mark for each current value that it states."""
    marks = dict.fromkeys(Current(memory.fact.object, _day(memory)) for memory in valid if memory.fact is not None)
    return replace(candidate, marks=(*candidate.marks, *marks)) if marks else candidate


def _end_of(fact: Memory, now: Memory | None) -> CandidateMark:
    if now is None or now.fact is None:
        return Ended((fact.times.valid_to or fact.times.valid_from).date())
    return Replaced(now.fact.object, _day(now))


LONGEST_STATEMENT = 800
"""Characters: a longer text says many things, and a later one on its topic does not replace it."""
APART = timedelta(hours=1)
"""How much later a statement must be to replace another."""
_SUBJECT = lazy(r"[^\W\d_]*-?\d[\w.-]*|\w+(?=:\s)")
_NAME = lazy(r"\b[^\W\d_]*\d[\w-]*|(?<!^)(?<![.!?] )\b(?=[^\W\d_])[^\W_a-z][\w-]*")


@dataclass(frozen=True, slots=True)
class PreferNewest(Stage):
    """A later candidate that answers the same question differently ranks above the earlier one, which is marked.

    Among the first `depth`, two candidates are taken for statements of the same thing if their vectors have a cosine of
    at least `similar`, or of `changed` if the later one announces a change ("is now", "moved to", "no longer"). A name
    of the question, or a code or label that the earlier one begins with, must not be missing in the later one. What two
    people say of themselves are two things, and a later one that repeats the answer of the earlier one says nothing
    else. What is planned, and a change that lies ahead, has not happened yet. Not for questions about the past, lists
    and requests, nor for what is known to be outdated. Keeps the scale; the note reads `earlier: 2025-03-10 says
    otherwise`.
    """

    kind = "prefer_newest"
    takes = ("candidates",)
    depth: int = 10
    similar: float = 0.75
    changed: float = 0.5

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, re-ranked."""
        head = [
            candidate
            for candidate in draft.candidates[: self.depth]
            if _is_statement(candidate.memory) and not candidate.is_outdated
        ]
        question = question_in(draft.query.text)
        if len(head) < 2 or draft.query.vector is None or not _wants_the_newest(question):
            return draft
        vectors, least = env.view.vectors([candidate.memory.id for candidate in head]), min(self.similar, self.changed)
        names = [name.casefold() for name in _NAME.findall(question)]
        raised: dict[str, float] = {}
        marked: dict[str, date] = {}
        for later in head:
            near = [(candidate, _likeness(later, candidate, vectors)) for candidate in head]
            near = [(one, like) for one, like in near if like >= least and _same_subject(later, one, names)]
            for earlier in self._replaced(later, near, draft.request.where.as_of or draft.request.now):
                if _says_again(later, earlier, question):
                    continue
                marked[earlier.memory.id] = max(marked.get(earlier.memory.id, date.min), _day(later.memory))
                raised[later.memory.id] = max(raised.get(later.memory.id, 0.0), earlier.score)
        if not marked:
            return draft
        changed = [_placed(candidate, raised, marked) for candidate in draft.candidates]
        order = sorted(changed, key=lambda one: (-one.score, -one.memory.times.valid_from.timestamp()))
        return replace(draft, candidates=tuple(order))

    def _replaced(self, later: Candidate, near: Sequence[tuple[Candidate, float]], now: datetime) -> list[Candidate]:
        """Those of the earlier candidates near it that a later one may say otherwise than."""
        if not near:
            return []  # it need not be read
        changing = _announces_change(later)
        if later.memory.times.valid_from > now or (changing and _lies_ahead(later, now)):
            return []
        limit = self.changed if changing else self.similar
        return [one for one, like in near if like >= limit]


def _likeness(later: Candidate, earlier: Candidate, vectors: Mapping[str, NDArray[np.float32]]) -> float:
    """The cosine with a statement that is earlier; −∞ with any other."""
    one, other = vectors.get(later.memory.id), vectors.get(earlier.memory.id)
    if one is None or other is None or later.memory.times.valid_from - earlier.memory.times.valid_from < APART:
        return -inf
    return float(one @ other)


def _wants_the_newest(question: str) -> bool:
    from memorist.text.wishes import is_request

    return not (asks_about_the_past(question) or asks_for_several(question) or is_request(question))


def _announces_change(one: Candidate) -> bool:
    from memorist.text.change import changes

    return changes(one.memory.text) is not None


def _lies_ahead(one: Candidate, now: datetime) -> bool:
    return any(mention.start > now for mention in one.memory.mentions)


def _is_statement(memory: Memory) -> bool:
    return len(memory.text) <= LONGEST_STATEMENT


def _same_subject(later: Candidate, earlier: Candidate, names: Sequence[str]) -> bool:
    """Whether a later candidate has the names of the question that the earlier one has, its label and its `I`."""
    if of_two_people(later.memory, earlier.memory):
        return False
    new, old = _said(later), _said(earlier)
    begins = _SUBJECT.match(earlier.memory.text)
    needed = [name for name in names if name in old]
    return all(name in new for name in ([*needed, begins[0].casefold()] if begins else needed))


_FORMER = frozenset(("from", "instead", "than", "formerly", "used"))
"""Words beside which a later statement may name an old value: `moved from Canal Street to Mill Lane`."""


def _says_again(later: Candidate, earlier: Candidate, question: str) -> bool:
    """Whether a later candidate has all words by which the earlier one answers: `I was promoted at Acme`."""
    from memorist.text.change import changes, outdates

    new, old = later.memory.text, earlier.memory.text
    said, known = {*words(new)}, {*words(old)}
    answer = {*content_stems(words(old))} - {*content_stems(words(question))}
    if not answer or not answer <= {*content_stems(words(_said(later)))}:
        return False
    change = changes(new)
    ends = change is not None and (change.kind != "new value" or outdates(new, old) is not None)
    return not ends and denies(new) == denies(old) and _FORMER.isdisjoint(said - known)


def _said(one: Candidate) -> str:
    return f"{one.memory.origin.speaker or ''} {one.memory.text}".casefold()


def _day(memory: Memory) -> date:
    return memory.times.valid_from.date()


def _placed(one: Candidate, raised: Mapping[str, float], marked: Mapping[str, date]) -> Candidate:
    score = raised.get(one.memory.id, 0.0)
    if score > one.score:
        one = one.rescored(score, before=one.score, newest=score)
    day = marked.get(one.memory.id)
    return one if day is None else replace(one, marks=(*one.marks, Contradicted(day)))
