"""Stages that select: probability, minimum score, scope, repetition, diversity and limit; and the one that counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from heapq import nlargest
from math import inf
from statistics import fmean
from typing import Literal

from memorist.errors import StoreError
from memorist.model import Candidate
from memorist.recall.rerank import ANSWERS
from memorist.recall.stage import Draft, Env, Stage, minimum_share, sigmoid
from memorist.text.chatter import question_in

NEAR, INSIDE = 0.5, 1.0
"""A cosine with the question that no unrelated text has, and the evidence of the signal `temporal` for a memory inside
the time that the question names."""
EVIDENCE = {ANSWERS: 0.8, "temporal": 1.0}
TOGETHER, APART = 3, 2.0
"""How many of the best candidates speak for the confidence, and how far below the best one they count at most."""


@dataclass(frozen=True, slots=True)
class Judge(Stage):
    """logit = bias + Σ weight · evidence, probability = σ(logit): how probably each candidate answers the question.

    Evidence is the reranker's logit that a text answers, and the norm of other signals; 0 where there is none, and
    `unread` for candidates that the reranker did not read. The confidence is σ(lift + mean of the three largest logits,
    none counted as more than 2 below the largest): where something answers, more than one text is often near it.

    A question that names a speaker asks about that person. The best candidate that may be about the person should have
    a logit `lead` above the best that somebody else said without mentioning the person; the mean falls by `person` ·
    what is missing.

    The recall abstains if the confidence is below `least`, counting that loss only where somebody else's candidate has
    the best logit of all. It never abstains if the query asks for something to be done, or if a candidate that may be
    about the person happened at a time that the query names, contains all its words, or has a cosine of 0.5 with it;
    the cosine does not count where somebody else's is the best. Without a vector, or a reranker that judges answers,
    there is no probability, and the recall never abstains. Keeps scores and order.
    """

    kind = "judge"
    takes = ("candidates",)
    bias: float = -2.45
    weights: Mapping[str, float] = field(default_factory=lambda: dict(EVIDENCE))
    unread: float = -3.0
    lift: float = 3.3
    person: float = 0.75
    lead: float = 3.5
    least: float = 0.35

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with probabilities and a confidence."""
        if not all(any(name in one.evidence for one in draft.candidates) for name in ("vector", ANSWERS)):
            return draft
        logits = [self._logit(one) for one in draft.candidates]
        judged = (
            replace(one, probability=round(sigmoid(logit), 4))
            for one, logit in zip(draft.candidates, logits, strict=True)
        )
        asked, others = _asked_and_others(draft)
        own, away = _best(logits, others, side=False), _best(logits, others, side=True)
        loss = self.person * max(0.0, self.lead + away - own)
        sure = self.lift + _mean_of_best(logits)
        confidence, strays = round(sigmoid(sure - loss), 4), away > own
        draft = replace(draft, candidates=tuple(judged), confidence=confidence)
        if loss > 0:
            draft = draft.noting(f"asked about {', '.join(asked)}, but what others said fits too: {-loss:.1f}")
        about = [one for one, other in zip(draft.candidates, others, strict=True) if not other]
        if sigmoid(sure - loss * strays) >= self.least or _is_answered(draft, about, near=not strays):
            return draft
        return replace(draft, abstained=True).noting(
            f"nothing relevant: the candidates answer the question with a probability of {confidence:.0%}"
        )

    def _logit(self, one: Candidate) -> float:
        said = {name: found.score if name == ANSWERS else found.norm for name, found in one.evidence.items()}
        read = 0.0 if ANSWERS in said else self.unread
        return self.bias + read + sum(self.weights.get(name, 0.0) * value for name, value in said.items())


def _asked_and_others(draft: Draft) -> tuple[Sequence[str], Sequence[bool]]:
    """The speakers whom the question names and, for each candidate, whether it is somebody else's."""
    speakers = [one.memory.origin.speaker for one in draft.candidates]
    if not any(speakers):
        return (), [False] * len(speakers)
    from memorist.recall.persons import asked_about, of_others

    asked = asked_about(question_in(draft.query.text), speakers)
    return asked, of_others(draft.candidates, asked)


def _best(logits: Sequence[float], others: Sequence[bool], *, side: bool) -> float:
    """The largest logit of somebody else's candidates, or of the rest; −∞ if there are none."""
    return max((logit for logit, other in zip(logits, others, strict=True) if other is side), default=-inf)


def _mean_of_best(logits: Sequence[float]) -> float:
    best, *others = nlargest(TOGETHER, logits)
    return fmean((best, *(max(one, best - APART) for one in others)))


def _is_answered(draft: Draft, about: Sequence[Candidate], *, near: bool) -> bool:
    """Whether a query has an answer among these candidates, however improbable they look; `near` by cosine, too."""
    from memorist.text.wishes import is_request

    if draft.query.is_dated and any(_happened_then(one) for one in about):
        return True
    if near and any("vector" in one.evidence and one.evidence["vector"].score >= NEAR for one in about):
        return True
    question = question_in(draft.query.text)
    return is_request(question) or _contains_all(question, about)


def _happened_then(one: Candidate) -> bool:
    found = one.evidence.get("temporal")
    return found is not None and found.norm >= INSIDE


def _contains_all(query: str, candidates: Sequence[Candidate]) -> bool:
    """Whether a candidate contains every content word of the question."""
    from memorist.text.signature import content_stems
    from memorist.text.words import words

    asked = set(content_stems(words(query)))
    return bool(asked) and any(asked <= set(content_stems(words(one.memory.text))) for one in candidates)


@dataclass(frozen=True, slots=True)
class Relevant(Stage):
    """Drop candidates that answer the question with a probability below `least`, or the caller's `min_confidence`.

    The first `always` stay unless the caller set a minimum, so that a recall that abstains still shows what is nearest.
    Candidates without a probability stay.
    """

    kind = "relevant"
    takes = ("candidates",)
    effect = "removes"
    least: float = 0.005
    always: int = 3

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The candidates that may answer the question."""
        asked = draft.request.min_confidence
        least, always = (self.least, self.always) if asked is None else (asked, 0)
        kept = tuple(
            one
            for place, one in enumerate(draft.candidates)
            if place < always or one.probability is None or one.probability >= least
        )
        dropped = len(draft.candidates) - len(kept)
        draft = replace(draft, candidates=kept)
        return draft.noting(f"{dropped} below a probability of {least:.1%}") if dropped else draft


@dataclass(frozen=True, slots=True)
class MinimumScore(Stage):
    """Drop candidates whose score, on a scale of 0 to 1, is below the minimum.

    With `adaptive`, the minimum falls as the store grows: score · (1 − 0.05 · log2(size / 100)) from 100 to 100,000
    memories.
    """

    kind = "minimum_score"
    takes = ("candidates",)
    effect = "removes"
    score: float = 0.3
    adaptive: bool = False

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The candidates that reach the minimum."""
        minimum = self.minimum(env.view.size)
        kept = tuple(one for one in draft.candidates if one.score >= minimum)
        dropped = len(draft.candidates) - len(kept)
        draft = replace(draft, candidates=kept)
        return draft.noting(f"{dropped} below the minimum of {minimum:.4g}") if dropped else draft

    def minimum(self, size: int) -> float:
        """The minimum for a store of this size."""
        return self.score * minimum_share(size) if self.adaptive else self.score


@dataclass(frozen=True, slots=True)
class Scope(Stage):
    """Drop candidates that the request's filter does not admit: a safeguard, as every search already filters."""

    kind = "scope"
    takes = ("candidates",)
    effect = "removes"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The candidates that the filter admits."""
        where = draft.request.where
        return replace(draft, candidates=tuple(one for one in draft.candidates if where.admits(one.memory)))


@dataclass(frozen=True, slots=True)
class Noise(Stage):
    """Drop candidates whose vector has a cosine of at least `similarity` with one in the noise bank.

    The bank holds built-in examples and short texts in which `remember` found nothing; `docs/explanation/upkeep.md`
    says which.
    """

    kind = "noise"
    takes = ("candidates",)
    effect = "removes"
    optional = ("embedder",)
    similarity: float = 0.82

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The candidates with content."""
        if env.embedder is None or not draft.candidates:
            return draft
        from memorist.models.noise_bank import bank_vectors

        bank = bank_vectors(env.embedder, tuple(env.store.noise()))
        vectors = env.view.vectors([one.memory.id for one in draft.candidates])
        noisy = {id for id, row in vectors.items() if float((bank @ row).max()) >= self.similarity}
        draft = replace(draft, candidates=tuple(one for one in draft.candidates if one.memory.id not in noisy))
        return draft.noting(f"{len(noisy)} dropped as noise") if noisy else draft


@dataclass(frozen=True, slots=True)
class Unseen(Stage):
    """Drop memories that this session was shown in the last `hours`, unless the request has `repeat=True`.

    Those that would be answers, because they are the best or probably answer it, are named in the context, and
    the recall does not abstain. If it abstained before, nothing is held back. A recall with `track=False` holds back
    what other recalls showed; what it shows itself leaves no trace, so it is not held back later. Without `adaptive`,
    nothing is held back.
    """

    kind = "unseen"
    takes = ("candidates",)
    effect = "removes"
    hours: float = 24.0
    adaptive: bool = True

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The candidates that are new to the session."""
        request = draft.request
        if request.session is None or request.repeat or draft.abstained or not self.adaptive:
            return draft
        seen = env.store.shown(request.session, request.now - timedelta(hours=self.hours))
        kept = tuple(one for one in draft.candidates if one.memory.id not in seen)
        answers = _answering(draft.candidates[: request.limit])
        dropped = len(draft.candidates) - len(kept)
        draft = replace(draft, candidates=kept, held_back=tuple(one for one in answers if one.memory.id in seen))
        return draft.noting(f"{dropped} held back: already shown in this session") if dropped else draft


def _answering(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best candidate, and those that probably answer the question."""
    return [one for place, one in enumerate(candidates) if place == 0 or one.likely]


Similarity = Callable[[int, int], float]


@dataclass(frozen=True, slots=True)
class MMR(Stage):
    """Maximal marginal relevance: next = argmax λ · s − (1 − λ) · max similarity to those already chosen.

    λ is `balance`, and s the score divided by the best score. Similarity is the cosine of the vectors or the Jaccard
    coefficient of the words, without case, accents and punctuation. Orders every candidate and keeps the scores.
    Carbonell and Goldstein, SIGIR 1998.
    """

    kind = "mmr"
    takes = ("candidates",)
    balance: float = 0.7
    by: Literal["vectors", "words"] = "vectors"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates in MMR order."""
        similarity = _by_words(draft.candidates) if self.by == "words" else _by_vectors(draft.candidates, env)
        order = diverse_order([one.score for one in draft.candidates], similarity, self.balance)
        return replace(draft, candidates=tuple(draft.candidates[index] for index in order))


def diverse_order(scores: Sequence[float], similarity: Similarity, balance: float) -> list[int]:
    """Indices in MMR order; ties keep their order."""
    best = max(scores, default=0.0) or 1.0
    left = list(range(len(scores)))
    nearest = [0.0] * len(scores)
    order: list[int] = []
    while left:
        chosen = max(left, key=lambda index: balance * scores[index] / best - (1 - balance) * nearest[index])
        left.remove(chosen)
        order.append(chosen)
        for index in left:
            nearest[index] = max(nearest[index], similarity(index, chosen))
    return order


def distinct_words(text: str) -> frozenset[str]:
    """The words of a text as they are compared: "Deadline." is "deadline", and unspaced scripts give pairs."""
    from memorist.text.words import words

    return frozenset(words(text))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """|one ∩ other| / |one ∪ other|; 0 for two empty sets."""
    return len(one & other) / len(one | other) if one or other else 0.0


def _by_words(candidates: Sequence[Candidate]) -> Similarity:
    words = [distinct_words(one.memory.text) for one in candidates]
    return lambda one, other: jaccard(words[one], words[other])


def _by_vectors(candidates: Sequence[Candidate], env: Env) -> Similarity:
    import numpy as np

    vectors = env.view.vectors([one.memory.id for one in candidates])
    if not vectors:
        return lambda one, other: 0.0
    nothing = np.zeros_like(next(iter(vectors.values())))
    rows = np.stack([vectors.get(one.memory.id, nothing) for one in candidates])
    cosines: list[list[float]] = (rows @ rows.T).tolist()
    return lambda one, other: cosines[one][other]


@dataclass(frozen=True, slots=True)
class Limit(Stage):
    """Keep the first candidates, up to the limit of the request. Keeps the scores."""

    kind = "limit"
    takes = ("candidates",)
    effect = "removes"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The first candidates."""
        return replace(draft, candidates=draft.candidates[: draft.request.limit])


@dataclass(frozen=True, slots=True)
class Track(Stage):
    """Count a recall of every memory that contributed, and record which answers the session was shown.

    All hits of the named `signals` contributed; without `signals`, the touched memories, or else the candidates. The
    answers are the best candidate and those that probably answer the question, as far as they are in the context; there
    are none if the recall abstained. Off if the request has `track=False`.
    """

    kind = "track"
    takes = ("candidates", "context")
    signals: tuple[str, ...] = ()

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same draft. If the store cannot be written, the recall is not counted but still answers."""
        request = draft.request
        if not request.track:
            return draft
        found = [one.memory.id for one in draft.candidates]
        answers = [] if draft.abstained else [one.memory.id for one in _answering(draft.candidates)]
        shown = [id for id in answers if draft.shown is None or id in draft.shown]
        hits = [hit.id for name in self.signals if name in draft.found for hit in draft.found[name].hits]
        used = hits if self.signals else [one.id for one in draft.touched] or found
        try:
            if used:
                env.store.touch(list(dict.fromkeys(used)), request.now)
            if request.session is not None and shown:
                env.store.show(request.session, shown, request.now)
        except StoreError as error:
            return draft.noting(f"usage not counted: {error.problem}")
        return draft
