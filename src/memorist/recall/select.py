"""Stages that decide what stays: thresholds, scope, noise, diversity, confidence, limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from memorist.model import Candidate
from memorist.ports import Embedder, Store
from memorist.recall.rerank import sigmoid
from memorist.recall.stage import Draft, Env, Stage, minimum_share
from memorist.text.signature import content_stems
from memorist.text.words import words

if TYPE_CHECKING:
    from memorist.ports import Vector


@dataclass(frozen=True, slots=True)
class Confidence(Stage):
    """confidence = σ(slope · (best cosine − middle)): the chance that what was found answers the question.

    Below `least` the recall abstains, unless some candidate has every telling word of the question. Fitted on half
    answerable questions, half put to the wrong conversation, with the packaged embedder named in `model`; for vectors
    of another there is no confidence and no abstaining. Leaves candidates as they are.
    """

    kind = "confidence"
    model: str = "memorist-embed-1"
    slope: float = 20.5
    middle: float = 0.48
    least: float = 0.025

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with how sure it is."""
        found = draft.found.get("vector")
        if found is None or not found.hits or not (env.view.embedding or "").startswith(f"{self.model}:"):
            return draft
        cosine = found.hits[0].score
        sure = sigmoid(self.slope * (cosine - self.middle))
        draft = replace(draft, confidence=round(sure, 4))
        if sure >= self.least or _told(draft.query.text, draft.candidates):
            return draft
        return replace(draft, abstained=True).noting(
            f"nothing relevant: the nearest memory has a cosine of {cosine:.2f}, "
            f"which leaves a chance of {sure:.0%} that it answers"
        )


def _told(query: str, candidates: tuple[Candidate, ...]) -> bool:
    """Whether a candidate says every telling word of the question, whatever the embedder makes of it."""
    asked = set(content_stems(words(query)))
    return bool(asked) and any(asked <= set(content_stems(words(one.memory.text))) for one in candidates)


PROTOTYPES = (
    "Hello!",
    "Hi, how are you?",
    "Good morning!",
    "Thanks!",
    "You're welcome.",
    "Okay, got it.",
    "See you later.",
    "I don't know.",
    "I don't remember that.",
    "I have no information about this.",
    "I cannot recall anything about it.",
    "Do you remember what I told you?",
    "What do you know about me?",
    "What is in your memory?",
    "你好！",
    "谢谢！",
    "好的，明白了。",
    "再见。",
    "我不知道。",
    "我不记得了。",
    "你还记得我说过什么吗？",
    "你的记忆里有什么？",
)
"""Greetings, denials and questions about memory itself, in English and Chinese."""
CAP = 200
"""How many learnt texts the bank keeps; the oldest leaves."""
KNOWN = 0.95
"""A text this near to one in the bank teaches nothing."""


@dataclass(frozen=True, slots=True)
class Noise(Stage):
    """Drop candidates whose vector lies within `similarity` of the noise bank: our examples and those learnt."""

    kind = "noise"
    effect = "removes"
    optional = ("embedder",)
    similarity: float = 0.82

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """What says something."""
        if env.embedder is None or not draft.candidates:
            return draft
        bank = bank_vectors(env.embedder, tuple(env.store.noise()))
        vectors = env.view.vectors([one.memory.id for one in draft.candidates])
        noisy = {id for id, row in vectors.items() if float((bank @ row).max()) >= self.similarity}
        draft = replace(draft, candidates=tuple(one for one in draft.candidates if one.memory.id not in noisy))
        return draft.noting(f"{len(noisy)} dropped as noise") if noisy else draft


_banks: dict[tuple[str, tuple[str, ...]], Vector] = {}
_BANKS_KEPT = 8


def bank_vectors(embedder: Embedder, learnt: tuple[str, ...]) -> Vector:
    """The bank's vectors, a row per text; made once per embedding generation and state of the bank."""
    key = (embedder.generation, learnt)
    bank = _banks.get(key)
    if bank is None:
        if len(_banks) >= _BANKS_KEPT:
            _banks.clear()
        bank = _banks[key] = embedder.embed([*PROTOTYPES, *learnt], purpose="memory")
    return bank


def learn(store: Store, embedder: Embedder, texts: Iterable[str]) -> list[str]:
    """Teach the bank texts that say nothing; returns those that were new to it."""
    import numpy as np

    given = list(dict.fromkeys(texts))
    if not given:
        return []
    bank = bank_vectors(embedder, tuple(store.noise()))
    new: list[str] = []
    for text, vector in zip(given, embedder.embed(given, purpose="memory"), strict=True):
        if float((bank @ vector).max()) < KNOWN:
            bank = np.vstack([bank, vector])
            new.append(text)
    if new:
        store.learn_noise(new, keep=CAP)
    return new


Similarity = Callable[[int, int], float]


@dataclass(frozen=True, slots=True)
class MMR(Stage):
    """Maximal marginal relevance: next = argmax λ · s − (1 − λ) · max similarity to those chosen.

    s is the score divided by the best; similarity is the cosine of vectors, or the Jaccard coefficient of
    lower-cased words. Every candidate is ordered; scores stay as they are. Carbonell and Goldstein, SIGIR 1998.
    """

    kind = "mmr"
    balance: float = 0.7
    by: Literal["vectors", "words"] = "vectors"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates in another order."""
        similarity = _by_words(draft.candidates) if self.by == "words" else _by_vectors(draft.candidates, env)
        order = diverse_order([one.score for one in draft.candidates], similarity, self.balance)
        return replace(draft, candidates=tuple(draft.candidates[index] for index in order))


def diverse_order(scores: Sequence[float], similarity: Similarity, balance: float) -> list[int]:
    """Indices in MMR order; the first of equals stays first."""
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


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Shared words over all words; 0 for two empty sets."""
    return len(one & other) / len(one | other) if one or other else 0.0


def _by_words(candidates: Sequence[Candidate]) -> Similarity:
    words = [frozenset(one.memory.text.lower().split()) for one in candidates]
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
    """Keep the first `limit` candidates of the request. Leaves scores as they are."""

    kind = "limit"
    effect = "removes"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The best of the draft."""
        return replace(draft, candidates=draft.candidates[: draft.request.limit])


@dataclass(frozen=True, slots=True)
class MinimumScore(Stage):
    """Drop candidates whose score, on a scale of 0 to 1, is below the minimum.

    With `adaptive` it falls with the store: score · (1 − 0.05 · log2(size / 100)) from 100 to 100,000 memories.
    """

    kind = "minimum_score"
    effect = "removes"
    score: float = 0.3
    adaptive: bool = False

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """What is good enough."""
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
    """Guard: drop whatever the request's filter does not admit. Filters act inside every search already."""

    kind = "scope"
    effect = "removes"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """Only what may be seen."""
        where = draft.request.where
        return replace(draft, candidates=tuple(one for one in draft.candidates if where.admits(one.memory)))


@dataclass(frozen=True, slots=True)
class Unseen(Stage):
    """Hold back what this session has already been shown; `repeat=True` on the request brings it back."""

    kind = "unseen"
    effect = "removes"
    hours: float = 24.0

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """What is new to the session."""
        request = draft.request
        if request.session is None or request.repeat:
            return draft
        seen = env.store.shown(request.session, request.now - timedelta(hours=self.hours))
        kept = tuple(one for one in draft.candidates if one.memory.id not in seen)
        held = len(draft.candidates) - len(kept)
        draft = replace(draft, candidates=kept)
        return draft.noting(f"{held} held back: already shown in this session") if held else draft
