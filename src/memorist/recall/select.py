"""Stages that select: probability, minimum score, scope, repetition and limit; and the one that counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import takewhile
from math import inf, log, prod

from memorist.errors import ModelUnavailable, StoreError
from memorist.model import NOISE, Candidate, Evidence, Memory
from memorist.models.embedding_text import is_talk, text_without_speaker
from memorist.ports import AnswerReranker
from memorist.recall.prepare import is_unreadable
from memorist.recall.read_together import KNOWN, TOGETHER
from memorist.recall.rerank import ANSWERS
from memorist.recall.stage import Draft, Env, Stage, minimum_share, sigmoid
from memorist.text.chatter import only_asks, question_in
from memorist.text.words import is_one_word

Found = Mapping[str, Evidence]
"""What the signals and the reranker found of a candidate."""
EVIDENCE = {ANSWERS: 0.23, TOGETHER: 0.37, KNOWN: 0.09, "temporal": 0.24}
LOGITS = (ANSWERS, TOGETHER, KNOWN)
"""Evidence that counts as a logit."""
FIRST = 5
"""How many items the confidence is about."""
MOST_LOST = 3.0
"""The most that the logits fall where what others said fits as well."""


@dataclass(frozen=True, slots=True)
class Judge(Stage):
    """probability = σ(bias + evidence − fall · ln rank − loss): how probably each candidate answers the question.

    Evidence is Σ weight · value: the reranker's logits that a text answers, read alone and beside the others, `unread`
    if it did not read the text alone, `unlisted` if it read only others together; its logit that any of them answers;
    and the norm of other signals, 0 where there is none. The rank counts because the order knows more than the readers.

    The loss is the same for all candidates. A question that names a speaker asks about that person. The best evidence
    of what may be about the person should be `lead` above the best of what somebody else said without mentioning the
    person; loss = `person` · what is missing, at most 3. And a store that knows anything of the subject has a text with
    a cosine of `near` with the question; loss = `far` · what the closest text misses, 0 if no vectors were searched.

    A query of one word asks for what it is in, and one about what was asked ("When did I ask about cake?") for a
    question: such a text that the keyword signal found gains `word`.

    What `told` ranks below statements is no evidence and not close: to a reader, a question resembles its answer.

    Every candidate gets a probability if the reranker judged answers, else none does. Keeps scores and order.
    """

    kind = "judge"
    takes = ("candidates",)
    bias: float = -1.08
    weights: Mapping[str, float] = field(default_factory=lambda: dict(EVIDENCE))
    unread: float = -5.0
    unlisted: float = -5.0
    fall: float = 0.75
    person: float = 0.65
    lead: float = 1.7
    far: float = 61.0
    near: float = 0.16
    word: float = 1.5

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with a probability of each candidate."""
        from memorist.recall.told import is_about_asking, no_answers

        if not any(ANSWERS in candidate.evidence for candidate in draft.candidates):
            return draft
        alone, of_questions = is_one_word(draft.query.text), is_about_asking(draft.query.text)
        sought = [alone or (of_questions and only_asks(candidate.memory.text)) for candidate in draft.candidates]
        questions = no_answers(draft.candidates, draft.query.text)
        found = self.completed(
            [{} if candidate.memory.id in questions else candidate.evidence for candidate in draft.candidates]
        )
        asked, others = _asked_and_others(draft)
        judged = zip(draft.candidates, self.probabilities(found, others, sought), strict=True)
        draft = replace(draft, candidates=tuple(replace(one, probability=chance) for one, chance in judged))
        if loss := self.of_others(found, others):
            draft = draft.doubting(f"asked about {', '.join(asked)}, but what others said fits too: {-loss:.1f}")
        if loss := self.of_distance(found):
            draft = draft.doubting(f"nothing stored is about the subject: {-loss:.1f}")
        return draft

    def probabilities(
        self, found: Sequence[Found], others: Sequence[bool], sought: Sequence[bool] | None = None
    ) -> list[float]:
        """The probability of each candidate, from what was found of it and whether it is somebody else's.

        `sought` says of each whether the query asks for a text of its form.
        """
        found = self.completed(found)
        base = self.bias - self.of_others(found, others) - self.of_distance(found)
        gains = (
            self.word if yes and "keyword" in one else 0.0
            for one, yes in zip(found, sought or [False] * len(found), strict=True)
        )
        logits = (
            base + gain + self.evidence(one) - self.fall * log(rank)
            for rank, (one, gain) in enumerate(zip(found, gains, strict=True), 1)
        )
        return [round(sigmoid(logit), 4) for logit in logits]

    def of_others(self, found: Sequence[Found], others: Sequence[bool]) -> float:
        """What the logits lose because what somebody else said fits as well."""
        own, away = (
            max((self.evidence(one) for one, other in zip(found, others, strict=True) if other is side), default=-inf)
            for side in (False, True)
        )
        return min(MOST_LOST, self.person * max(0.0, self.lead + away - own)) if away > -inf else 0.0

    def of_distance(self, found: Sequence[Found]) -> float:
        """What the logits lose because no text is about the subject of the question."""
        closest = max((evidence["vector"].score for evidence in found if "vector" in evidence), default=self.near)
        return self.far * max(0.0, self.near - max(0.0, closest))

    def completed(self, found: Sequence[Found]) -> Sequence[Found]:
        """What was found of each; where some were read together, what that says of the others.

        If none was, the judgement of a text alone counts as the one beside others.
        """
        known = next((evidence[KNOWN] for evidence in found if KNOWN in evidence), None)
        if known is None:
            return [
                {**evidence, TOGETHER: evidence[ANSWERS]} if ANSWERS in evidence else evidence for evidence in found
            ]
        missing = {TOGETHER: Evidence(None, self.unlisted, sigmoid(self.unlisted)), KNOWN: known}
        return [{**missing, **evidence} for evidence in found]

    def evidence(self, found: Found) -> float:
        """What was found of a candidate, as a number."""
        said = {ANSWERS: self.unread} | {name: one.score if name in LOGITS else one.norm for name, one in found.items()}
        return sum(self.weights.get(name, 0.0) * value for name, value in said.items())


def _asked_and_others(draft: Draft) -> tuple[Sequence[str], Sequence[bool]]:
    """The speakers whom the question names and, for each candidate, whether it is somebody else's."""
    speakers = [candidate.memory.origin.speaker for candidate in draft.candidates]
    if not any(speakers):
        return (), [False] * len(speakers)
    from memorist.recall.persons import asked_about, of_others

    asked = asked_about(question_in(draft.query.text), speakers)
    return asked, of_others(draft.candidates, asked)


@dataclass(frozen=True, slots=True)
class Confidence(Stage):
    """confidence = 1 − (1 − best) · Π (1 − other)^`apart`: how probably the first five candidates contain an answer.

    `best` is the largest of their probabilities, and `other` each of the rest. An `apart` of 1 is the noisy-or of
    independent events; more than 1, because few questions have two answers, and events that exclude each other add up.
    The recall abstains if the confidence is below `least` and no answer was held back.

    No candidates are no answer if the reranker judges answers. It is unknown what candidates without a probability
    answer: then there is no confidence, and the recall does not abstain. Stands after every stage that changes the
    candidates. Keeps scores and order.
    """

    kind = "confidence"
    takes = ("candidates",)
    optional = ("reranker",)
    apart: float = 2.2
    least: float = 0.2

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its confidence, and whether it abstains."""
        first = [candidate.probability for candidate in draft.candidates[:FIRST]]
        known = [probability for probability in first if probability is not None]
        if len(known) < len(first) or not (known or isinstance(env.reranker, AnswerReranker)):
            return draft
        confidence = confidence_of(known, self.apart)
        draft = replace(draft, confidence=confidence, abstained=confidence < self.least and not draft.held_back)
        return draft.doubting(f"{confidence:.0%} for an answer, below {self.least:.0%}") if draft.abstained else draft


def confidence_of(probabilities: Sequence[float], apart: float) -> float:
    """1 − (1 − best) · Π (1 − other)^apart, rounded like the probabilities; 0 for none."""
    best, *others = sorted(probabilities, reverse=True) or [0.0]
    return round(1 - (1 - best) * prod((1 - other) ** apart for other in others), 4)


@dataclass(frozen=True, slots=True)
class Relevant(Stage):
    """Drop candidates that answer the question with a probability below `least`, or the caller's `min_confidence`.

    The first `always` stay unless the caller set a minimum, so that a recall that abstains still shows what is nearest.
    All stay if the caller asks for more than `many` items and sets no minimum: who wants many gets many. Candidates
    without a probability stay.
    """

    kind = "relevant"
    takes = ("candidates",)
    effect = "removes"
    least: float = 0.003
    always: int = 3
    many: int = 10

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The candidates that may answer the question."""
        asked = draft.request.min_confidence
        if asked is None and draft.request.limit > self.many:
            return draft
        least, always = (self.least, self.always) if asked is None else (asked, 0)
        kept = tuple(
            one
            for place, one in enumerate(draft.candidates)
            if place < always or one.probability is None or one.probability >= least
        )
        dropped = len(draft.candidates) - len(kept)
        draft = replace(draft, candidates=kept)
        return draft.doubting(f"{dropped} below a probability of {least:.1%}") if dropped else draft


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
        kept = tuple(candidate for candidate in draft.candidates if candidate.score >= minimum)
        dropped = len(draft.candidates) - len(kept)
        draft = replace(draft, candidates=kept)
        return draft.doubting(f"{dropped} below the minimum of {minimum:.4g}") if dropped else draft

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
        return replace(
            draft, candidates=tuple(candidate for candidate in draft.candidates if where.admits(candidate.memory))
        )


@dataclass(frozen=True, slots=True)
class Noise(Stage):
    """Drop candidates that were marked as noise when they were written, and those that resemble the noise bank.

    A text resembles the bank if it is one of its texts, or if it is short and its vector has a cosine of at least
    `similarity` with one of them. A turn of talk is embedded again for that, without its date and speaker, which hide
    what it says. The bank holds built-in examples and short texts in which `remember` found nothing;
    `docs/explanation/upkeep.md` says which. `latin` and `unread` name the scripts that embedders do not read, as for
    the stage `embed`: texts in them have no cosine.
    """

    kind = "noise"
    takes = ("candidates",)
    effect = "removes"
    similarity: float = 0.82
    latin: tuple[str, ...] = ()
    unread: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The candidates with content; without an embedder, or if it fails, no vectors are compared."""
        from memorist.models.noise_bank import PROTOTYPES

        learnt, memories = tuple(env.store.noise()), [candidate.memory for candidate in draft.candidates]
        bank = {*PROTOTYPES, *learnt}
        noisy = {
            memory.id for memory in memories if NOISE in memory.worth.flags or text_without_speaker(memory) in bank
        }
        try:
            noisy |= self._resembling([memory for memory in memories if memory.id not in noisy], learnt, env)
        except ModelUnavailable as error:
            draft = draft.noting(f"no vectors were compared: {error.problem}")
        draft = replace(
            draft, candidates=tuple(candidate for candidate in draft.candidates if candidate.memory.id not in noisy)
        )
        return draft.doubting(f"{len(noisy)} dropped as noise") if noisy else draft

    def _resembling(self, memories: Sequence[Memory], learnt: tuple[str, ...], env: Env) -> set[str]:
        """The short texts among these whose vectors are near one in the bank."""
        from memorist.models.noise_bank import LONGEST, bank_vectors

        short = [memory for memory in memories if len(memory.text) <= LONGEST and not self._is_unreadable(memory, env)]
        if env.embedder is None or not short:
            return set()
        bank = bank_vectors(env.embedder, learnt)
        turns = [memory for memory in short if is_talk(memory)]
        vectors = env.view.vectors([memory.id for memory in short if not is_talk(memory)])
        if turns:
            alone = env.embedder.embed([text_without_speaker(turn) for turn in turns], purpose="memory")
            vectors = {**vectors, **dict(zip([turn.id for turn in turns], alone, strict=True))}
        return {id for id, row in vectors.items() if float((bank @ row).max()) >= self.similarity}

    def _is_unreadable(self, memory: Memory, env: Env) -> bool:
        return is_unreadable(memory.text, env, self.latin, self.unread)


@dataclass(frozen=True, slots=True)
class DropShown(Stage):
    """Drop memories that this session was shown in the last `hours`, if the request has `fresh=True`.

    Those that rank above everything new are named in the context. What is dropped counts no further. A recall with
    `track=False` holds back what other recalls showed; what it shows itself leaves no trace, so it is not held back
    later. With `adaptive`, they are dropped unless the request has `fresh=False`.
    """

    kind = "drop_shown"
    takes = ("candidates",)
    effect = "removes"
    hours: float = 24.0
    adaptive: bool = False

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The candidates that are new to the session."""
        request = draft.request
        if request.session is None or not (self.adaptive if request.fresh is None else request.fresh):
            return draft
        seen = env.store.shown(request.session, request.now - timedelta(hours=self.hours))
        kept = tuple(candidate for candidate in draft.candidates if candidate.memory.id not in seen)
        best = tuple(takewhile(lambda one: one.memory.id in seen, draft.candidates[: request.limit]))
        dropped = len(draft.candidates) - len(kept)
        draft = replace(draft, candidates=kept, held_back=best)
        return draft.noting(f"{dropped} held back: already shown in this session") if dropped else draft


def _answering(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best candidate, and those that probably answer the question."""
    return [one for place, one in enumerate(candidates) if place == 0 or one.likely]


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
        found = [candidate.memory.id for candidate in draft.candidates]
        answers = [] if draft.abstained else [candidate.memory.id for candidate in _answering(draft.candidates)]
        shown = [id for id in answers if draft.shown is None or id in draft.shown]
        hits = [hit.id for name in self.signals if name in draft.found for hit in draft.found[name].hits]
        used = hits if self.signals else [touch.id for touch in draft.walk.touched] or found
        try:
            if used:
                env.store.touch(list(dict.fromkeys(used)), request.now)
            if request.session is not None and shown:
                env.store.show(request.session, shown, request.now)
        except StoreError as error:
            return draft.noting(f"usage not counted: {error.problem}")
        return draft
