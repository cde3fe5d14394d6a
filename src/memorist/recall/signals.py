"""Signals over words, vectors, dates and notes; those over the graph of facts are in `graph`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from math import prod
from typing import Literal

from memorist.model import Candidate, Hit, Kind
from memorist.recall.factors import (
    CredibilityFactor,
    EmotionFactor,
    EmotionLog,
    LinearRecency,
    RecallCount,
    RelevanceFactor,
    TierFactor,
    TrustFactor,
)
from memorist.recall.stage import Draft, Env, Factor, Signal, followed_rank

OTHERS = "others"
"""In a table of numbers by model: every model that the table does not name."""


@dataclass(frozen=True, slots=True)
class Keyword(Signal):
    """BM25 over stems and CJK bigrams of the query and its expansion; positive, usually above 1.

    The dates that the stage `dates` made terms of match memories that mention a date in them.

    With `spelling`, if no memory has any of the words, memories with similarly spelt words are found by trigrams: 0
    to 1.
    """

    kind = "keyword"
    spelling: bool = False

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The memories that share the query's rarest words."""
        text, where = " ".join((draft.query.text, *draft.query.expansion)), draft.request.where
        found = env.view.search_text(text, where, limit, dates=draft.query.dates)
        return found if found or not self.spelling else env.view.search_trigram(text, where, limit)

    def place(self, draft: Draft, env: Env, id: str) -> tuple[int, float] | None:
        """Its place without the hits before it; by spelling only if no memory has any of the words."""
        own = replace(env, view=env.view.following(id))
        by_spelling = self.spelling and not env.view.search_text(
            " ".join((draft.query.text, *draft.query.expansion)), draft.request.where, 1, dates=draft.query.dates
        )
        return followed_rank(replace(self, spelling=by_spelling).search(draft, own, 1))


@dataclass(frozen=True, slots=True)
class Vector(Signal):
    """The largest cosine between the query and any of a memory's vectors, −1 to 1, at least `least`.

    `least` is one number, or a table of numbers by the name of the model that made the vectors, with `others` for every
    other model: the same closeness in meaning has another cosine in each. `alone` is for a recipe without another
    signal: it cannot run without an embedder.
    """

    kind = "vector"
    optional = ("embedder",)
    least: float | Mapping[str, float] = -1.0
    alone: bool = False

    def required(self) -> tuple[str, ...]:
        """An embedder, if nothing else searches."""
        return ("embedder",) if self.alone else ()

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The nearest memories."""
        vector = draft.query.embedding()
        if vector is None:
            return []
        hits, least = env.view.search_vector(vector, draft.request.where, limit), self.least_of(env.view.embedding)
        return [hit for hit in hits if hit.score >= least]

    def least_of(self, generation: str | None) -> float:
        """The smallest cosine that counts, for vectors of a generation."""
        if not isinstance(self.least, Mapping):
            return self.least
        model = (generation or "").partition(":")[0]
        return self.least.get(model, self.least.get(OTHERS, -1.0))

    def place(self, draft: Draft, env: Env, id: str) -> tuple[int, float] | None:
        """Its place without the hits before it."""
        return followed_rank(self.search(draft, replace(env, view=env.view.following(id)), max(env.view.size, 1)))


@dataclass(frozen=True, slots=True)
class Trigram(Signal):
    """Similarly spelt words: typos and variants of names and identifiers; 0 to 1."""

    kind = "trigram"

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The memories whose words are most similar to the query's."""
        return env.view.search_trigram(draft.query.text, draft.request.where, limit)

    def place(self, draft: Draft, env: Env, id: str) -> tuple[int, float] | None:
        """Its place without the hits before it."""
        return followed_rank(self.search(draft, replace(env, view=env.view.following(id)), 1))


@dataclass(frozen=True, slots=True)
class Signature(Signal):
    """Hamming similarity of word signatures of `bits` bits, 0 to 1, at least `least`; at most `most` hits.

    `bits` is a multiple of 64 up to 512. More bits tell a little better, and take as much more memory.
    """

    kind = "signature"
    least: float = 0.65
    most: int = 5
    bits: Literal[64, 128, 192, 256, 320, 384, 448, 512] = 256

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The memories with the most similar signatures."""
        most = min(limit, self.most)
        hits = env.view.search_signature(draft.query.text, draft.request.where, most, bits=self.bits)
        return [hit for hit in hits if hit.score >= self.least]


@dataclass(frozen=True, slots=True)
class Temporal(Signal):
    """Memories from the query's time windows, or that mention a time in one: 1 inside.

    Outside it is 1 / (1 + gap / (length of the window + a day)), up to `reach_days`, so that the same gap counts less
    if the question asks about a longer time. A mentioned time longer than the window counts the square root of the
    window's share of it. A window that lies ahead is searched by mentioned times alone: nothing was said in it yet.
    """

    kind = "temporal"
    reach_days: float = 3.0

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The memories in or near a window; none for a question without a date."""
        reach, now, where = timedelta(days=self.reach_days), draft.request.now, draft.request.where
        best: dict[str, float] = {}
        for start, end in draft.query.windows:
            for hit in env.view.search_time(start, end, where, limit, reach=reach, said=start <= now):
                best[hit.id] = max(hit.score, best.get(hit.id, 0.0))
        hits = sorted(best.items(), key=lambda one: (-one[1], one[0]))
        return [Hit(id, score) for id, score in hits[:limit]]


@dataclass(frozen=True, slots=True)
class Notes(Signal):
    """Paragraphs of daily, weekly and quarterly notes that share a word with the query, at a fixed score.

    Paragraphs with the same first 80 characters and the same date count once.
    """

    kind = "notes"
    score: float = 0.5

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """Matching paragraphs; for duplicates, the one with the best BM25."""
        where = draft.request.where
        if where.kinds is not None and Kind.NOTE not in where.kinds:
            return []
        hits = env.view.search_text(draft.query.text, replace(where, kinds=(Kind.NOTE,)), limit)
        memories = env.store.get([hit.id for hit in hits])
        distinct = {
            (memories[hit.id].text[:80], memories[hit.id].times.valid_from): hit.id
            for hit in reversed(hits)
            if hit.id in memories
        }
        return [Hit(id, self.score) for id in sorted(distinct.values())]


FACTORS: tuple[Factor, ...] = (
    RecallCount(),
    RelevanceFactor(),
    TrustFactor(),
    CredibilityFactor(),
    TierFactor(),
    LinearRecency(),
    EmotionFactor(),
)


@dataclass(frozen=True, slots=True)
class Fuzzy(Signal):
    """score = (bm25 + 0.5 · ln(1 + |emotion|)) · Π factors, divided by the best score unless `raw`.

    Three searches; a memory's BM25 is that of the first search that finds it. They match stems of the English text,
    then parts of words in the text and its keywords, then, if fewer than the limit were found and the query has not
    been translated, parts of words in the original text. A word that no memory has is taken for a typo: words spelt
    like it count instead. Each hit carries the numbers of the formula, for `explain`.
    """

    kind = "fuzzy"
    add: tuple[Factor, ...] = (EmotionLog(),)
    factors: tuple[Factor, ...] = FACTORS
    raw: bool = False

    def search(self, draft: Draft, env: Env, limit: int) -> list[Hit]:
        """The memories whose words match."""
        found: dict[str, float] = {}
        for hits in self._searches(draft, env, limit, found):
            for hit in hits:
                found.setdefault(hit.id, hit.score)
        memories = env.store.get(list(found))
        hits = [self.hit(Candidate(memories[id], found[id]), draft, env) for id in found if id in memories]
        hits = sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]
        best = 1.0 if self.raw or not hits else hits[0].score
        return [Hit(hit.id, hit.score / best, (*hit.parts, ("best", best))) for hit in hits]

    def _searches(self, draft: Draft, env: Env, limit: int, found: dict[str, float]) -> Iterator[list[Hit]]:
        text, where, view = draft.query.text, draft.request.where, env.view
        yield view.search_text(text, where, limit, fields=("text",))
        yield view.search_substring(text, where, limit, fields=("text",))
        if len(found) < draft.request.limit and not draft.request.translated:
            yield view.search_substring(text, where, limit, fields=("original",))

    def hit(self, candidate: Candidate, draft: Draft, env: Env) -> Hit:
        """The formula above for one candidate whose score is its BM25, and the numbers in it."""
        added = [("bm25", candidate.score), *((factor.kind, factor(candidate, draft, env)) for factor in self.add)]
        factors = [(factor.kind, factor(candidate, draft, env)) for factor in self.factors]
        score = sum(value for _, value in added) * prod(value for _, value in factors)
        return Hit(candidate.memory.id, score, (*added, *factors))
