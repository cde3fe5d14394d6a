"""Stages that read the question before the search: its filter, dates, entities and vectors.

A query has probes. The first one is its question. Within a session, the question with the goal before it and each of
the last steps are further probes, and a memory is as close as it is to the closest probe. Words are searched for in the
question alone, because those of goal and steps outnumber it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta

from memorist.model import Entity, Kind, isoformat
from memorist.recall.stage import Draft, Env, Stage
from memorist.text.chatter import QUESTION_TOKENS, question_in
from memorist.text.patterns import lazy
from memorist.text.tokens import pieces
from memorist.text.words import NOT_LATIN, language, words

ROUTING = (Kind.TAG, Kind.INTENT, Kind.SOURCE)
"""Kinds that connect other memories and carry little content themselves."""
CONTENT = tuple(kind for kind in Kind if kind not in (*ROUTING, Kind.NOTE))


def probes(draft: Draft) -> tuple[str, ...]:
    """The parts of the query, in pieces that models read as a whole."""
    question, *others = parts(draft)
    return tuple(
        dict.fromkeys((question, *(piece for other in others for piece in pieces(other, 2 * QUESTION_TOKENS))))
    )


def parts(draft: Draft) -> tuple[str, ...]:
    """The question, the question with the goal, and each step."""
    around = draft.request.surroundings
    longer = (with_goal(draft),) if around.goal else ()
    return (question_in(draft.query.text), *longer, *around.steps)


def with_goal(draft: Draft) -> str:
    """The question, with the goal of the session before it."""
    return f"{draft.request.surroundings.goal} {question_in(draft.query.text)}".strip()


def whole(draft: Draft) -> str:
    """The query for a language model, as mnemosyne-graph's original writes it: goal, recent steps, question."""
    around, text = draft.request.surroundings, draft.query.text
    if not (around.goal or around.steps):
        return text
    goal = f"Goal: {around.goal}\n" if around.goal else ""
    steps = "".join(["Recent context:\n", *(f"- {step}\n" for step in around.steps), "\n"]) if around.steps else ""
    return f"{goal}{steps}Query: {text}"


@dataclass(frozen=True, slots=True)
class Content(Stage):
    """Exclude tags, intents and sources, which only connect other memories, unless the caller names kinds.

    Notes are excluded too, because they repeat what other memories say. `notes` includes them.
    """

    kind = "content"
    takes = ("question",)
    notes: bool = False

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with kinds in its filter."""
        where = draft.request.where
        if where.kinds is not None:
            return draft
        kinds = (*CONTENT, Kind.NOTE) if self.notes else CONTENT
        return replace(draft, request=replace(draft.request, where=replace(where, kinds=kinds)))


@dataclass(frozen=True, slots=True)
class AsKnown(Stage):
    """Look back with the knowledge of that time: known_at = as_of, as memoria defines it.

    If nothing was known then, the trace says so: an import keeps its own time of knowing only with `ingested_at`.
    """

    kind = "as_known"
    takes = ("question",)

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with both clocks at the same moment, unless the caller set `known_at`."""
        where, now = draft.request.where, draft.request.now
        if where.known_at == now:
            where = replace(where, known_at=where.as_of)
            draft = replace(draft, request=replace(draft.request, where=where))
        if where.known_at is None or where.known_at >= now:
            return draft
        known = env.store.scan(replace(where.visibility, as_of=None), 1).items
        remedy = f"import with ingested_at, or pass known_at={isoformat(now)}"
        return draft if known else draft.noting(f"nothing was known on {where.known_at.date()}: {remedy}")


@dataclass(frozen=True, slots=True)
class Dates(Stage):
    """Find the dates in the query, absolute or relative to now, in English and Chinese.

    They become its time windows, in which the signal `temporal` searches. A weekday, a day or a month without a year is
    the past or the coming one as the verb says: "did we meet in May", "do we meet in May". Two kinds of dates are no
    windows: the present ("at the moment", and "today" beside another date), and, where the question asks for a time, an
    open range ("when do we go home after Christmas?"). A question without a date that asks for what is next ("my next
    appointment", "what is coming up?") is about the time from now on.

    With `terms`, every date, its month and its year are also terms of the keyword search, beside the words of the
    query: each matches memories that mention a date in it, however they write it.
    """

    kind = "dates"
    takes = ("question",)
    terms: bool = False

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the time windows of its question and, with `terms`, the dates to search for."""
        from memorist.text.dates import find_dates

        asked, now = question_in(draft.query.text), draft.request.now
        spans = find_dates(asked, now, prefer="tense")
        if not spans:
            ahead = ((now, datetime(MAXYEAR, 12, 31, tzinfo=UTC)),) if _ASKS_AHEAD.search(asked) else ()
            return replace(draft, query=replace(draft.query, windows=ahead))
        periods = tuple(dict.fromkeys((span.start, span.end) for span in spans))
        draft = replace(draft, query=replace(draft.query, windows=_windows(periods, asked, now)))
        if not self.terms:
            return draft
        from memorist.text.dates.numbers import iso

        terms = tuple(dict.fromkeys(around for period in periods for around in _with_month_and_year(*period)))
        draft = replace(draft, query=replace(draft.query, dates=terms))
        return draft.noting(f"dates: {', '.join(iso(*period) for period in periods)}")


Window = tuple[datetime, datetime]

_ASKS_WHEN = lazy(
    r"\b(?:when|how long|how soon|(?:what|which) (?:date|day|time|week|month|year))\b"
    r"|什么时候|何时|哪一?天|几[号点月]|多久",
    re.IGNORECASE,
)


_ASKS_AHEAD = lazy(
    r"\b(?:upcoming|coming up|comes? up|next time|(?:the|my|our|your|his|her|their|'s) next \w)|下一?次|接下来",
    re.IGNORECASE,
)


def _windows(periods: tuple[Window, ...], asked: str, now: datetime) -> tuple[Window, ...]:
    """The periods that a question asks about, without the present and, if it asks for a time, without open ranges."""
    day = timedelta(days=1)
    kept = [period for period in periods if period[1] - period[0] > timedelta(seconds=1)]
    others = [(start, end) for start, end in kept if not (start <= now < end and end - start <= day)]
    kept = others or kept
    if _ASKS_WHEN.search(asked):
        kept = [(start, end) for start, end in kept if start.year > MINYEAR and end.year < MAXYEAR]
    return tuple(kept)


def _with_month_and_year(start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """A period, and the month and the year that contain it."""
    yield start, end
    day = start.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    for first, days in ((day, 31), (day.replace(month=1), 366)):
        if first.year < MAXYEAR:
            after = (first + timedelta(days=days)).replace(day=1)
            if end <= after:
                yield first, after


@dataclass(frozen=True, slots=True)
class FindEntities(Stage):
    """Find the known entities that the query mentions by name or alias. The caller's hints come first."""

    kind = "entities"
    takes = ("question",)

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the entities of its question."""
        from memorist.text.phrases import name_candidates

        names = [*draft.request.entity_hints, *name_candidates(draft.query.text)]
        known = env.store.entities(names) if names else []
        entities = tuple({entity.id: entity for entity in known}.values())
        draft = replace(draft, query=replace(draft.query, entities=_by_mention(entities, names)))
        return draft if entities else draft.noting("no entity of the query is known")


def _by_mention(entities: tuple[Entity, ...], names: list[str]) -> tuple[Entity, ...]:
    """Entities in the order in which the names mention them."""
    folded = [name.casefold() for name in names]

    def place(entity: Entity) -> tuple[int, str]:
        called = [name.casefold() for name in (entity.name, *entity.aliases)]
        return min((folded.index(name) for name in called if name in folded), default=len(folded)), entity.id

    return tuple(sorted(entities, key=place))


@dataclass(frozen=True, slots=True)
class Embed(Stage):
    """Turn the probes of the query, its question first, and its tags if it has any, into vectors.

    With `ahead`, the work starts at once in another thread, and its result is dropped if no signal uses it. `latin`
    names embedding models that only read Latin script: if the store's vectors come from one of them, a query in
    another script gets no vector, because it would be meaningless; the keyword search still finds matches. `unread`
    names the scripts that other models do not read, each by its language: `el`, `he`, `hi`, `ru`, `ar`, `th`, `cjk`.
    If not `enabled`, no question gets a vector, and none is sent to an embedder. `wanted` is the model whose vectors
    somebody expects: the trace says if the vectors are those of another.
    """

    kind = "embed"
    takes = ("question",)
    optional = ("embedder",)
    ahead: bool = False
    latin: tuple[str, ...] = ()
    unread: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    enabled: bool = True
    wanted: str | None = None

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the vectors of its query; one that the embedder cannot read has none, nor has a blank one."""
        embedder, query = env.embedder, draft.query
        texts = [probe for probe in probes(draft) if probe.strip()]
        if embedder is None or not self.enabled or not texts:
            return draft
        asked, texts = texts[0], [text for text in texts if not is_unreadable(text, env, self.latin, self.unread)]
        if asked not in texts:
            return draft.noting("no vector: the embedder does not read the script of this question")
        if self._is_unexpected(env):
            draft = draft.noting(
                "the vectors are not of the wanted model: the setting `embedder` decides which makes them"
            )
        if self.ahead:
            pending = env.pool.submit(lambda: embedder.embed(texts, purpose="query"))
            return replace(draft, query=replace(query, pending=pending))
        vectors = embedder.embed([*texts, *query.tags], purpose="query")
        tags = vectors[len(texts) :] if query.tags else None
        return replace(draft, query=replace(query, vector=vectors[: len(texts)], tag_vectors=tags))

    def _is_unexpected(self, env: Env) -> bool:
        made_by = env.view.embedding
        return None not in (self.wanted, made_by) and not f"{made_by}".startswith(f"{self.wanted}:")


def is_unreadable(text: str, env: Env, latin: Collection[str], unread: Mapping[str, Collection[str]]) -> bool:
    """Whether the model of the store's vectors does not read the script of a text; see `Embed` for the tables."""
    model = (env.view.embedding or "").partition(":")[0]
    scripts = NOT_LATIN if model in latin else unread.get(model, ())
    return bool(scripts) and language(words(text)) in scripts
