"""The stage that reads the question and the first candidates together: which is the answer, and which still holds?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import exp, log
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Literal

from memorist.errors import InvalidInput, ModelUnavailable
from memorist.model import INSTRUCTIONS, Candidate, Evidence, Memory
from memorist.model.marks import Contradicted
from memorist.models.embedding_text import is_talk
from memorist.ports import ListReading, ReadInList, list_reading_of
from memorist.recall.persons import asker_of
from memorist.recall.prepare import with_goal
from memorist.recall.rerank import ANSWERS, is_latin
from memorist.recall.stage import Draft, Env, Stage, sigmoid
from memorist.recall.told import is_about_asking, no_answers
from memorist.text.chatter import ending, question_in, render_turn
from memorist.text.words import is_one_word

if TYPE_CHECKING:
    from memorist.asking import LLMAsker
    from memorist.recall.pipeline import Pipeline

TOGETHER, KNOWN = "together", "known"
"""Its evidence: whether a text answers, read beside the others, and whether any of them does; as logits."""
READERS: Mapping[str, Literal["reranker", "llm"]] = {"auto": "reranker", "llm": "llm"}
"""What the setting `reader` may be, and who reads then."""
FIRST, SURE = 20.0, 4.0
"""The logits of what a language model names: more than any score outweighs, and the chance of 98 % that it is right."""
HOPELESS = -4.0
"""An answer logit below which a text is not read beside others: it would only stand in the way."""
SLACK = 0.05
"""Added to the standard deviation of scores."""
LONGEST_READ = 2000
"""Characters of a text that the model could read at most."""


Order = Sequence[Candidate]


@dataclass(frozen=True, slots=True)
class ReadTogether(Stage):
    """The first `depth` candidates exchange scores, so that the best of them come first by what reading them says.

    Their order is that of ln softmax(together) − chance of being outdated + weight · z, where z is (score − mean) /
    (standard deviation + 0.05) of these candidates: scores that hardly differ count little.

    The reranker reads them as one list, oldest first, each with its date, below the question with the day it is asked
    and who asks: so it sees that a memory was corrected, which no reading of single texts can tell. A turn of at most
    `short` characters is read with the turn before it, because it may be an answer or a correction.

    A candidate that held once is marked if the chance of that is at least `outdated` and a later one that ranks above
    it answers; the note reads `earlier: 2025-03-10 says otherwise`. Nothing changes where there is at most one text to
    read, where the reranker reads no lists or not the language of the question, nor for a query of one word or about
    what was asked. With `by` set to `llm` (the setting `reader`), the language model reads the first `many` candidates
    instead, in one call. Keeps the scale.
    """

    kind = "read_together"
    takes = ("candidates",)
    optional = ("reranker",)
    depth: int = 5
    many: int = 12
    weight: float = 1.5
    short: int = 60
    outdated: float = 0.8
    by: Literal["reranker", "llm"] = "reranker"

    def required(self) -> tuple[str, ...]:
        """A language model, if it reads."""
        return ("llm",) if self.by == "llm" else ()

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates, re-ranked and with evidence of their reading."""
        if is_one_word(draft.query.text) or is_about_asking(draft.query.text):
            return draft
        head, reading = None, None
        if self.by == "llm" and env.llm is not None:
            try:
                head, reading = self._by_model(draft, env.llm)
                draft = draft.noting(f"read by {env.llm.model_for('read')}")
            except ModelUnavailable as error:
                draft = draft.noting(f"read by the reranker: {error.problem}")
        if head is None:
            head, reading = self._by_reranker(draft, env)
        if reading is None:
            return draft
        said = {candidate.memory.id: row for candidate, row in zip(head, reading.texts, strict=True)}
        scores = [candidate.score for candidate in head]
        mean, spread = fmean(scores), pstdev(scores) + SLACK
        values = {
            candidate.memory.id: fit + self.weight * (candidate.score - mean) / spread
            for candidate, fit in zip(head, _fits(reading.texts), strict=True)
        }
        order = sorted(head, key=lambda candidate: (-values[candidate.memory.id], -candidate.score))
        marked = self._marked(_with_evidence(order, said, reading.known), said, _asked_at(draft))
        placed = {
            candidate.memory.id: candidate
            if candidate.score == score
            else candidate.rescored(score, before=candidate.score)
            for candidate, score in zip(marked, sorted(scores, reverse=True), strict=True)
        }
        rank = {id: place for place, id in enumerate(placed)}
        kept = [placed.get(candidate.memory.id, candidate) for candidate in draft.candidates]
        kept.sort(key=lambda candidate: (-candidate.score, rank.get(candidate.memory.id, len(rank))))
        return replace(draft, candidates=tuple(kept))

    def _by_reranker(self, draft: Draft, env: Env) -> tuple[Order, ListReading | None]:
        head = [candidate for candidate in _that_may_answer(draft, self.depth) if is_latin(candidate.memory.text)]
        if env.reranker is None or len(head) < 2:
            return head, None
        return head, list_reading_of(env.reranker, _question(draft), self._texts(head, draft, env))

    def _texts(self, head: Order, draft: Draft, env: Env) -> list[str]:
        brief = [
            candidate.memory.id
            for candidate in head
            if is_talk(candidate.memory) and len(candidate.memory.text) <= self.short
        ]
        around = env.store.neighbours(brief, 1, 0) if brief else {}
        return [_written(candidate.memory, around.get(candidate.memory.id, ())[:-1], draft) for candidate in head]

    def _by_model(self, draft: Draft, asker: LLMAsker) -> tuple[Order, ListReading | None]:
        """A model names what answers and what is outdated, which counts as a reading without doubt."""
        from memorist.asking import query
        from memorist.asking.query import Source

        head = [
            candidate
            for candidate in _that_may_answer(draft, self.many)
            if INSTRUCTIONS not in candidate.memory.worth.flags
        ]
        if not head:
            return head, None
        sources = [
            Source(number, candidate.memory.text, candidate.memory.times.valid_from, candidate.memory.origin.speaker)
            for number, candidate in enumerate(head, 1)
        ]
        answers, outdated = query.read(asker, with_goal(draft), _asked_at(draft).date(), asker_of(draft), sources)
        said = [
            ReadInList(
                FIRST - answers.index(number) if number in answers else 0.0,
                SURE if number in answers else -SURE,
                SURE if number in outdated else -SURE,
            )
            for number in range(1, len(head) + 1)
        ]
        return head, ListReading(said, SURE if answers else -SURE)

    def _marked(self, order: Order, said: Mapping[str, ReadInList], now: datetime) -> Order:
        """The candidates; one that held once is marked if a later one that ranks above it answers, and not a plan."""
        marked: list[Candidate] = []
        newest = datetime.min.replace(tzinfo=UTC)
        for candidate in order:
            told, row = candidate.memory.times.valid_from, said[candidate.memory.id]
            is_contradicted = sigmoid(row.outdated) >= self.outdated and newest > told and not candidate.is_outdated
            marked.append(
                replace(candidate, marks=(*candidate.marks, Contradicted(newest.date())))
                if is_contradicted
                else candidate
            )
            newest = max(newest, told) if row.answers > 0 and told <= now else newest
        return marked


def with_reader(recipe: Pipeline, reader: str) -> Pipeline:
    """The recipe as the setting `reader` wants it."""
    if reader not in READERS:
        raise InvalidInput(f"There is no reader {reader!r}", remedy=f"Choose {' or '.join(READERS)}.")
    return recipe.mapped(lambda part: replace(part, by=READERS[reader]) if isinstance(part, ReadTogether) else part)


def _that_may_answer(draft: Draft, most: int) -> list[Candidate]:
    """The first candidates that do not only ask, oldest first."""
    first = draft.candidates[:most]
    asking = no_answers(first, draft.query.text)
    told = (candidate for candidate in first if candidate.memory.id not in asking and not _is_hopeless(candidate))
    return sorted(
        told, key=lambda candidate: (candidate.memory.times.valid_from, candidate.memory.origin.position or 0)
    )


def _with_evidence(order: Order, said: Mapping[str, ReadInList], known: float) -> list[Candidate]:
    """The candidates with what the reading says of each."""
    any_answers = Evidence(None, known, sigmoid(known))
    return [
        replace(
            candidate,
            evidence={**candidate.evidence, TOGETHER: Evidence(rank, logit, sigmoid(logit)), KNOWN: any_answers},
        )
        for rank, candidate in enumerate(order, 1)
        for logit in [said[candidate.memory.id].answers]
    ]


def _is_hopeless(candidate: Candidate) -> bool:
    """Whether the reranker, which read it alone, is sure that it does not answer."""
    return ANSWERS in candidate.evidence and candidate.evidence[ANSWERS].score < HOPELESS


def _asked_at(draft: Draft) -> datetime:
    return draft.request.where.as_of or draft.request.now


def _question(draft: Draft) -> str:
    """The question as the model reads it: `[12 June 2025] Maren: Where is my tripod?`"""
    at, speaker = _asked_at(draft), asker_of(draft)
    asked = question_in(with_goal(draft))
    return f"[{at.day} {at:%B} {at.year}] {f'{speaker}: ' if speaker else ''}{asked}"


def _written(memory: Memory, before: Sequence[Memory], draft: Draft) -> str:
    """A memory with its day and, if it is shown, the end of the turn before."""
    begins = memory.times.valid_from
    seen = [turn for turn in before if turn.scope == memory.scope and draft.request.where.admits(turn)]
    near = ending(seen[0].text, seen[0].origin.speaker) if seen else None
    text = render_turn(memory.text[:LONGEST_READ], speaker=memory.origin.speaker, at=begins, before=near)
    return f"Planned for {begins.day} {begins:%B %Y}: {text}" if begins > memory.times.ingested_at else text


def _fits(texts: Sequence[ReadInList]) -> list[float]:
    """ln softmax of the scores, each less the chance that a later text says otherwise."""
    largest = max(said.score for said in texts)
    total = largest + log(sum(exp(said.score - largest) for said in texts))
    return [said.score - total - sigmoid(said.outdated) for said in texts]
