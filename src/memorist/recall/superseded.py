"""The stage for outdated facts: it marks them, and ranks the current value above them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from memorist.model import STATES, Candidate, Evidence, Filter, Memory
from memorist.model.marks import CandidateMark, Current, Ended, Replaced
from memorist.recall.stage import Draft, Env, Stage, ranked

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


def _day(memory: Memory) -> date:
    return memory.times.valid_from.date()
