"""Measures of retrieval: from rankings and judgements to figures, per question and on average."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log2
from statistics import fmean
from typing import TypeVar

import numpy as np

from memorist.errors import InvalidInput
from memorist_bench.model import Answer, BenchRun, Dataset, Group, Question

K = TypeVar("K")

KS = (1, 5, 10, 20, 50)
BUDGETS = (250, 500, 1_000, 2_000, 4_000)
PERCENTILES = (50, 95, 99)
UPDATE = "update"
"""The type of questions whose `also` are outdated."""

Figures = Mapping[str, float]
"""Figures by name: `recall@5`, `any@5`, `all@5`, `ndcg@10`, `mrr@10`, `p50_ms`, `tokens` and so on."""


@dataclass(frozen=True, slots=True)
class QuestionFigures:
    """The figures of one question; `turns` is empty if it has no gold, only its abstention can be judged.

    `sessions` is None if the dataset has none, `at_tokens` empty if not counted.
    """

    question: Question
    answer: Answer
    turns: Figures
    sessions: Figures | None
    at_tokens: Mapping[int, float]

    @property
    def key(self) -> tuple[str, str]:
        """Its group and question: runs are paired by it."""
        return self.answer.group, self.answer.question


@dataclass(frozen=True, slots=True)
class MeasurePart:
    """Means over questions: judged by turn, judged by session, and recall within a budget of context tokens.

    Questions without gold count in `queries`, `abstained` and `context_tokens` alone; `turns` is empty if none has any.
    """

    queries: int
    turns: Figures
    sessions: Figures | None
    at_tokens: Mapping[int, float]
    abstained: float
    context_tokens: float


@dataclass(frozen=True, slots=True)
class Abstention:
    """How well a recipe recognises questions without an answer, if the dataset has any.

    `auroc` ranks by confidence (None if the recipe has none); the others are the shares of questions abstained from.
    """

    auroc: float | None
    of_answerable: float
    of_unanswerable: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of a recipe on a dataset.

    `overall` counts every question; `answerable` only those with an answer (None if all have one). `outdated` is the
    share of updates whose current answer came after an outdated one, or not at all; None if there are none.
    """

    recipe: str
    overall: MeasurePart
    answerable: MeasurePart | None
    types: Mapping[str, MeasurePart]
    latency: Figures
    stages: Mapping[str, Figures]
    tokens: float
    abstention: Abstention | None
    outdated: float | None
    rows: tuple[QuestionFigures, ...]

    @property
    def figures(self) -> Figures:
        """The headline figures as one mapping: `overall` by turn, the number of queries, latency and tokens."""
        tokens = {"tokens": self.tokens, "context_tokens": self.overall.context_tokens}
        return {"queries": self.overall.queries, **self.overall.turns, **self.latency, **tokens}


def summarise(dataset: Dataset, run: BenchRun) -> Summary:
    """The figures of a run; questions that were not asked do not count."""
    rows = tuple(_rows(dataset, run))
    if not any(row.turns for row in rows):
        raise InvalidInput(
            f"Recipe {run.recipe!r} answered no question with a judged document",
            remedy="Run it on at least one such question.",
        )
    answerable = [row for row in rows if row.question.answerable]
    return Summary(
        recipe=run.recipe,
        overall=means_over(rows),
        answerable=means_over(answerable) if 0 < len(answerable) < len(rows) else None,
        types=_by_type(rows),
        latency=percentiles([row.answer.ms for row in rows]),
        stages=_by_stage(rows),
        tokens=fmean(row.answer.tokens for row in rows),
        abstention=_abstention(rows),
        outdated=_outdated(rows),
        rows=rows,
    )


def means_over(rows: Sequence[QuestionFigures]) -> MeasurePart:
    """Means over rows; every question has the same weight."""
    return MeasurePart(
        queries=len(rows),
        turns=_means([row.turns for row in rows if row.turns]),
        sessions=_means([row.sessions for row in rows if row.sessions is not None]) or None,
        at_tokens=_means([row.at_tokens for row in rows if row.at_tokens]),
        abstained=fmean(row.answer.abstained for row in rows),
        context_tokens=fmean(row.answer.context_tokens for row in rows),
    )


def judge(ranked: Sequence[str], gold: Mapping[str, float], ks: Sequence[int] = KS) -> dict[str, float]:
    """Every measure of one ranking, best first, against its gold; repeated ids count once.

    recall@k: share of the gold found; any@k, all@k: whether any of it, or all of it, was found; mrr@k: 1 / rank of
    the first hit. ndcg@k: DCG@k / ideal DCG@k with gain = relevance and discount log2(rank + 1), as in trec_eval and
    BEIR (Järvelin and Kekäläinen 2002).
    """
    relevant = {id: grade for id, grade in gold.items() if grade > 0}
    if not relevant:
        raise InvalidInput("A question without gold cannot be judged", remedy="Leave it out of the questions.")
    gains = [relevant.get(id, 0.0) for id in dict.fromkeys(ranked)]
    ideal = sorted(relevant.values(), reverse=True)
    first = next((rank for rank, gain in enumerate(gains, 1) if gain), 0)
    found = {k: sum(gain > 0 for gain in gains[:k]) for k in ks}
    return {
        **{f"recall@{k}": found[k] / len(relevant) for k in ks},
        **{f"any@{k}": float(found[k] > 0) for k in ks},
        **{f"all@{k}": float(found[k] == len(relevant)) for k in ks},
        **{f"ndcg@{k}": _dcg(gains[:k]) / _dcg(ideal[:k]) for k in ks},
        **{f"mrr@{k}": 1 / first if 0 < first <= k else 0.0 for k in ks},
    }


def recall_at_tokens(answer: Answer, gold: Mapping[str, float], budgets: Sequence[int] = BUDGETS) -> dict[int, float]:
    """The share of the gold among the items that fit into each token budget."""
    sizes = {budget: bisect_right(answer.tokens_at, budget) for budget in budgets}
    relevant = {id for id, grade in gold.items() if grade > 0}
    return {budget: len(relevant & set(answer.ranked[:size])) / len(relevant) for budget, size in sizes.items()}


def abstention_auroc(answerable: Sequence[float], unanswerable: Sequence[float]) -> float:
    """P(confidence of an answerable question > that of an unanswerable one), ties count ½: Mann–Whitney U / (m n)."""
    if not answerable or not unanswerable:
        raise InvalidInput("Confidences of both kinds are needed", remedy="Use a dataset with unanswerable questions.")
    low = np.sort(np.asarray(unanswerable, dtype=np.float64))
    below = np.searchsorted(low, answerable, side="left")
    not_above = np.searchsorted(low, answerable, side="right")
    return float((below + not_above).mean() / (2 * len(low)))


def percentiles(milliseconds: Sequence[float]) -> dict[str, float]:
    """`p50_ms`, `p95_ms` and `p99_ms`, with linear interpolation."""
    values = np.percentile(np.asarray(milliseconds, dtype=np.float64), PERCENTILES)
    return {f"p{percent}_ms": float(value) for percent, value in zip(PERCENTILES, values, strict=True)}


def _rows(dataset: Dataset, run: BenchRun) -> Iterable[QuestionFigures]:
    questions = {(group.name, question.id): question for group in dataset.groups for question in group.questions}
    sessions = {group.name: _sessions_of(group) for group in dataset.groups}
    counted = any(answer.tokens_at for answer in run.answers)
    for answer in run.answers:
        question = questions.get((answer.group, answer.question))
        if question is None:
            raise InvalidInput(
                f"Group {answer.group!r} of {dataset.name} has no question {answer.question!r}",
                remedy="Summarise a run with the dataset it was measured on.",
            )
        if not question.gold:
            yield QuestionFigures(question, answer, turns={}, sessions=None, at_tokens={})
            continue
        session_of = sessions[answer.group]
        yield QuestionFigures(
            question=question,
            answer=answer,
            turns=judge(answer.ranked, question.gold),
            sessions=None if session_of is None else _judge_sessions(answer.ranked, question.gold, session_of),
            at_tokens=recall_at_tokens(answer, question.gold) if counted else {},
        )


def _judge_sessions(ranked: Sequence[str], gold: Mapping[str, float], session_of: Mapping[str, str]) -> Figures:
    grades: dict[str, float] = {}
    for id, grade in gold.items():
        grades[session_of[id]] = max(grade, grades.get(session_of[id], 0.0))
    return judge([session_of.get(id, id) for id in ranked], grades)


def _sessions_of(group: Group) -> Mapping[str, str] | None:
    """The session of each document, or its own id if it has none; None if no document has a session."""
    if all(document.session is None for document in group.documents):
        return None
    return {document.id: document.session or document.id for document in group.documents}


def _by_type(rows: Sequence[QuestionFigures]) -> dict[str, MeasurePart]:
    types: defaultdict[str, list[QuestionFigures]] = defaultdict(list)
    for row in rows:
        if row.question.type is not None:
            types[row.question.type].append(row)
    return {name: means_over(types[name]) for name in sorted(types)}


def _by_stage(rows: Sequence[QuestionFigures]) -> dict[str, dict[str, float]]:
    times: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows:
        for stage, milliseconds in row.answer.stages.items():
            times[stage].append(milliseconds)
    return {stage: percentiles(values) for stage, values in times.items()}


def _abstention(rows: Sequence[QuestionFigures]) -> Abstention | None:
    answerable = [row.answer for row in rows if row.question.answerable]
    unanswerable = [row.answer for row in rows if not row.question.answerable]
    if not answerable or not unanswerable:
        return None
    sure, unsure = _confidences(answerable), _confidences(unanswerable)
    return Abstention(
        auroc=abstention_auroc(sure, unsure) if sure and unsure else None,
        of_answerable=fmean(answer.abstained for answer in answerable),
        of_unanswerable=fmean(answer.abstained for answer in unanswerable),
    )


def _outdated(rows: Sequence[QuestionFigures]) -> float | None:
    updates = [row for row in rows if row.question.type == UPDATE and row.question.gold]
    return fmean(map(_outdated_first, updates)) if updates else None


def _outdated_first(row: QuestionFigures) -> bool:
    """Whether the first document that says what held before precedes the first that says what holds."""
    first = next((id for id in row.answer.ranked if id in row.question.gold or id in row.question.also), None)
    return first is not None and first not in row.question.gold


def _confidences(answers: Sequence[Answer]) -> list[float]:
    return [answer.confidence for answer in answers if answer.confidence is not None]


def _dcg(gains: Sequence[float]) -> float:
    return fsum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1) if gain)


def _means(figures: Sequence[Mapping[K, float]]) -> dict[K, float]:
    return {name: fmean(figure[name] for figure in figures) for name in figures[0]} if figures else {}
