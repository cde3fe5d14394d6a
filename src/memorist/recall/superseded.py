"""What a memory stated may hold no longer: say so, and put what holds now before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memorist.model import STATES, Candidate, Evidence, Filter, Memory
from memorist.recall.stage import Draft, Env, Stage, ranked

OUTDATED = ("superseded: ", "ended: ")
"""How the notes begin that tell of what holds no longer."""
LONGEST_CHAIN = 50
"""Values that are followed from an old one to the present."""


@dataclass(frozen=True, slots=True)
class Superseded(Stage):
    """Candidates that state what no longer holds: their score times `share`, below what holds now, with a note.

    What states what holds now takes the old one's score where that is larger; where none of the candidates does, the
    fact itself joins them at that score.
    The note reads `superseded: Oslo since 2023-03-01`, or `ended: 2023-03-01` where nothing followed. Keeps the scale.
    """

    kind = "superseded"
    effect = "adds"
    share: float = 0.5

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with outdated candidates marked and below their successors."""
        stated = _stated(draft.candidates, env)
        where = draft.request.where
        ended = {
            id: [fact for fact in facts if _has_ended(fact, where)]
            for id, facts in stated.items()
            if any(_has_ended(fact, where) for fact in facts)
        }
        if not ended:
            return draft
        current = {fact.id: _current(fact, where, env) for facts in ended.values() for fact in facts}
        kept = [one for one in draft.candidates if one.memory.id not in ended]
        old = [one for one in draft.candidates if one.memory.id in ended]
        holding = {one.memory.id for one in kept} | {fact.id for one in kept for fact in stated.get(one.memory.id, ())}
        joined = [one for one in _joined(old, ended, current, holding) if where.admits(one.memory)]
        kept = _raised(kept, stated, _earned(old, ended, current))
        scores = _scores([*kept, *joined], stated)
        marked = [self._marked(one, ended[one.memory.id], current, scores) for one in old]
        return replace(draft, candidates=ranked([*kept, *joined, *marked]))

    def _marked(
        self,
        candidate: Candidate,
        facts: Sequence[Memory],
        current: Mapping[str, Memory | None],
        scores: Mapping[str, float],
    ) -> Candidate:
        after = [now for fact in facts if (now := current[fact.id]) is not None]
        least = min((scores[now.id] for now in after if now.id in scores), default=candidate.score)
        notes = dict.fromkeys(_note(fact, current[fact.id]) for fact in facts)
        return replace(candidate, score=self.share * min(candidate.score, least), notes=(*candidate.notes, *notes))


def _stated(candidates: Sequence[Candidate], env: Env) -> dict[str, list[Memory]]:
    """The facts that each candidate is or states."""
    ids = [one.memory.id for one in candidates]
    links = env.store.links(ids, STATES) if ids else []
    facts = env.store.get(list(dict.fromkeys(link.target for link in links)))
    stated = defaultdict[str, list[Memory]](list)
    for link in links:
        if link.target in facts:
            stated[link.source].append(facts[link.target])
    return stated


def _has_ended(fact: Memory, where: Filter) -> bool:
    return "no longer true or expired" in Filter(as_of=where.as_of, known_at=where.known_at).refusals(fact)


def _current(fact: Memory, where: Filter, env: Env) -> Memory | None:
    """The value that holds at the recall's moment, from an old one on; None where nothing followed, or may be seen."""
    for _ in range(LONGEST_CHAIN):
        if fact.superseded_by is None:
            return None
        following = env.store.get([fact.superseded_by]).get(fact.superseded_by)
        if following is None:
            return None
        fact = following
        if not _has_ended(fact, where):
            return fact
    return None


def _earned(
    old: Sequence[Candidate], ended: Mapping[str, Sequence[Memory]], current: Mapping[str, Memory | None]
) -> dict[str, float]:
    """The best score that an old value's candidate had, by the fact that holds now."""
    best: dict[str, float] = {}
    for one in old:
        for fact in ended[one.memory.id]:
            if (now := current[fact.id]) is not None:
                best[now.id] = max(best.get(now.id, 0.0), one.score)
    return best


def _raised(
    kept: Sequence[Candidate], stated: Mapping[str, Sequence[Memory]], earned: Mapping[str, float]
) -> list[Candidate]:
    """What states a value that holds now, at the score that the value before it earned, if that is larger."""
    raised: list[Candidate] = []
    for one in kept:
        about = (one.memory.id, *(fact.id for fact in stated.get(one.memory.id, ())))
        score = max([one.score, *(earned[id] for id in about if id in earned)])
        raised.append(one if score == one.score else one.rescored(score, before=one.score, superseding=score))
    return raised


def _joined(
    old: Sequence[Candidate],
    ended: Mapping[str, Sequence[Memory]],
    current: Mapping[str, Memory | None],
    holding: set[str],
) -> list[Candidate]:
    joined: dict[str, Candidate] = {}
    for one in old:
        for fact in ended[one.memory.id]:
            now = current[fact.id]
            if now is not None and now.id not in holding and now.id not in joined:
                evidence = {"supersedes": Evidence(None, one.score, one.score)}
                joined[now.id] = Candidate(now, one.score, evidence, "current")
    return list(joined.values())


def _scores(candidates: Sequence[Candidate], stated: Mapping[str, Sequence[Memory]]) -> dict[str, float]:
    """The best score of a candidate that is or states each fact."""
    best: dict[str, float] = {}
    for one in candidates:
        for id in (one.memory.id, *(fact.id for fact in stated.get(one.memory.id, ()))):
            best[id] = max(best.get(id, 0.0), one.score)
    return best


def _note(fact: Memory, now: Memory | None) -> str:
    if now is None or now.fact is None:
        return f"{OUTDATED[1]}{(fact.times.valid_to or fact.times.valid_from).date()}"
    return f"{OUTDATED[0]}{now.fact.object} since {now.times.valid_from.date()}"
