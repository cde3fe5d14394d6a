"""Stages that combine the hits of all signals into one ranking."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memorist.model import Candidate, Evidence, Found
from memorist.model.recall import Parts
from memorist.recall.stage import Draft, Env, Stage, pool_for, ranked
from memorist.text.words import is_one_word

Norm = Callable[[int, float], float]
"""(rank from 1, score) → the number that a formula uses for a hit of one signal."""
Said = tuple[int | None, float, float, Parts]
"""The values of an `Evidence`, which is made for the hits that are kept: rank, score, norm and parts."""
_NORM = 2


@dataclass(frozen=True, slots=True)
class ReciprocalRank(Stage):
    """Reciprocal rank fusion: score = Σ weight / (k + rank), ranks from 1.

    Takes any scales, because only ranks count; gives about 0.01 to 0.05 for k = 60. The best `keep` remain, or as many
    as the request's limit if that is larger; with `adaptive`, their number depends on the size of the store. Cormack,
    Clarke and Büttcher, SIGIR 2009.
    """

    kind = "rrf"
    takes = ("hits",)
    gives = "candidates"
    effect = "adds"
    k: float = 60
    keep: int = 60
    weights: Mapping[str, float] | None = None
    adaptive: bool = False

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its hits as candidates."""
        weights = self.weights or {}

        def contributions(signal: str) -> Norm:
            weight = weights.get(signal, 1.0)
            return lambda rank, _score: weight / (self.k + rank)

        evidence = _gather(draft.found, contributions)
        scores = {id: sum(named[_NORM] for named in signals.values()) for id, signals in evidence.items()}
        kept = pool_for(self.keep, draft.request.limit, env.view.size, adaptive=self.adaptive)
        return replace(draft, candidates=_load(draft, env, evidence, scores, kept))


_ABSOLUTE = ("vector", "temporal")
"""Signals whose scores mean the same in every recall: a cosine, and 1 for a memory inside the time window."""


@dataclass(frozen=True, slots=True)
class WeightedSum(Stage):
    """score = Σ weight · norm + importance · the memory's importance.

    Norms are in 0 to 1. A closeness in time is one already. A cosine is clamped, and is also computed for candidates
    that only other signals found, as the vector signal does: the largest of any of the memory's vectors. Every other
    score is divided by the signal's best score in this recall; a signal that did not find the memory counts 0. Gives 0
    to 1 for weights that sum to 1. With `keep`, only the best `keep` by Σ weight · norm remain (at least the request's
    limit). If a signal found nothing, its weight goes to the signal that `fallback` names for it. With `one_word`, the
    keyword signal has this weight for a query of one word: a name or a number of a ticket, whose vector means little.
    """

    kind = "weighted_sum"
    takes = ("hits",)
    gives = "candidates"
    effect = "adds"
    weights: Mapping[str, float] = field(default_factory=lambda: {"vector": 0.5, "keyword": 0.3})
    importance: float = 0.2
    keep: int | None = None
    fallback: Mapping[str, str] = field(default_factory=dict[str, str])
    one_word: float | None = None

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its hits as candidates."""
        best = {name: found.hits[0].score for name, found in draft.found.items() if found.hits}

        def norms(signal: str) -> Norm:
            most = 1.0 if signal in _ABSOLUTE or best[signal] <= 0 else best[signal]
            return lambda _rank, score: _clamped(score / most)

        evidence = _gather(draft.found, norms)
        if "vector" in self.weights:
            _add_cosines(evidence, draft, env)
        weights = self._weights(draft)
        scores = {
            id: sum([weights.get(name, 0.0) * one[_NORM] for name, one in signals.items()])
            for id, signals in evidence.items()
        }
        kept = len(scores) if self.keep is None else max(self.keep, draft.request.limit)
        loaded = _load(draft, env, evidence, scores, kept)
        return replace(draft, candidates=ranked([self._score(candidate, weights) for candidate in loaded]))

    def _weights(self, draft: Draft) -> dict[str, float]:
        weights, found = dict(self.weights), draft.found
        if self.one_word is not None and is_one_word(draft.query.text):
            weights["keyword"] = self.one_word
        for name, other in self.fallback.items():
            if name not in found or not found[name].hits:
                weights[other] = weights.get(other, 0.0) + weights.pop(name, 0.0)
        return weights

    def _score(self, candidate: Candidate, weights: Mapping[str, float]) -> Candidate:
        parts = {name: weights.get(name, 0.0) * one.norm for name, one in candidate.evidence.items()}
        parts["importance"] = self.importance * candidate.memory.worth.importance
        return candidate.rescored(sum(parts.values()), **parts)


@dataclass(frozen=True, slots=True)
class First(Stage):
    """The score from the first signal that found the memory, in the order they ran; later ones only confirm it.

    Takes and gives scores of 0 to 1.
    """

    kind = "first"
    takes = ("hits",)
    gives = "candidates"
    effect = "adds"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with every hit as a candidate."""
        evidence = _gather(draft.found, _as_it_is)
        scores = {id: next(iter(signals.values()))[_NORM] for id, signals in evidence.items()}
        return replace(draft, candidates=_load(draft, env, evidence, scores, len(scores)))


@dataclass(frozen=True, slots=True)
class Best(Stage):
    """The highest score that any signal gave the memory. Takes signals with a common scale and keeps it."""

    kind = "best"
    takes = ("hits",)
    gives = "candidates"
    effect = "adds"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with every hit as a candidate."""
        evidence = _gather(draft.found, _as_it_is)
        scores = {id: max(signal[_NORM] for signal in signals.values()) for id, signals in evidence.items()}
        return replace(draft, candidates=_load(draft, env, evidence, scores, len(scores)))


def _as_it_is(_signal: str) -> Norm:
    return lambda _rank, score: score


def _gather(found: Mapping[str, Found], norms: Callable[[str], Norm]) -> dict[str, dict[str, Said]]:
    """What every hit says, by memory id and then by signal."""
    said: dict[str, dict[str, Said]] = {}
    for signal, result in found.items():
        if not result.hits:
            continue
        norm = norms(signal)
        for rank, hit in enumerate(result.hits, 1):
            score = hit.score
            said.setdefault(hit.id, {})[signal] = (rank, score, norm(rank, score), hit.parts)
    return said


def _load(
    draft: Draft, env: Env, said: Mapping[str, Mapping[str, Said]], scores: Mapping[str, float], keep: int
) -> tuple[Candidate, ...]:
    """The `keep` best ids as candidates, best first, without memories that were forgotten or changed since."""
    best = sorted([(-score, id) for id, score in scores.items()])[:keep]
    memories = env.store.get([id for _, id in best])
    admits = draft.request.where.admits
    return tuple(
        Candidate(memories[id], -score, {name: Evidence(*one) for name, one in said[id].items()})
        for score, id in best
        if id in memories and admits(memories[id])
    )


def _clamped(score: float) -> float:
    """A score limited to 0 to 1."""
    return score if 0.0 < score < 1.0 else 1.0 if score >= 1.0 else 0.0


def _add_cosines(said: dict[str, dict[str, Said]], draft: Draft, env: Env) -> None:
    vector = draft.query.embedding()
    without: Sequence[str] = [id for id, signals in said.items() if "vector" not in signals]
    if vector is None or not without:
        return
    for id, cosine in env.view.cosines(vector, without).items():
        said[id]["vector"] = (None, cosine, _clamped(cosine), ())
