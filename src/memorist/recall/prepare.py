"""Stages that read the query before the search: its date, mode, tags, entities and vector."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memorist.asking import query
from memorist.model import Entity, Kind
from memorist.recall.llm_or_rules import By, LlmOrRules
from memorist.recall.stage import Draft, Env, Stage
from memorist.recall.understand import expand_query, key_phrases, query_mode
from memorist.text.dates import find_dates, normalise_dates
from memorist.text.phrases import name_candidates
from memorist.text.words import NOT_LATIN, language, words


@dataclass(frozen=True, slots=True)
class Embed(Stage):
    """Turn the query, and its tags if there are any, into vectors.

    With `ahead` the work starts at once in another thread, and is dropped if no signal asks for it. Where the store's
    vectors are of a model in `latin`, which reads only Latin letters, a query in another script has none: its vector
    would say nothing, and words find it.
    """

    kind = "embed"
    optional = ("embedder",)
    ahead: bool = False
    latin: tuple[str, ...] = ()

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its query's vector; a blank query has none."""
        embedder, query = env.embedder, draft.query
        if embedder is None or not query.text.strip():
            return draft
        if self._unread(query.text, env):
            return draft.noting("no vector: the embedder does not read the script of this question")
        if self.ahead:
            pending = env.pool.submit(lambda: embedder.embed([query.text], purpose="query")[0])
            return replace(draft, query=replace(query, pending=pending))
        vectors = embedder.embed([query.text, *query.tags], purpose="query")
        tags = vectors[1:] if query.tags else None
        return replace(draft, query=replace(query, vector=vectors[0], tag_vectors=tags))

    def _unread(self, text: str, env: Env) -> bool:
        made_by = (env.view.embedding or "").partition(":")[0]
        return made_by in self.latin and language(words(text)) in NOT_LATIN


ROUTING = (Kind.TAG, Kind.INTENT, Kind.SOURCE)
"""Kinds that lead to others and say little themselves."""
CONTENT = tuple(kind for kind in Kind if kind not in ROUTING)


@dataclass(frozen=True, slots=True)
class Content(Stage):
    """Leave tags, intents and sources out of the search unless the caller names kinds: they only lead to others."""

    kind = "content"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with kinds in its filter."""
        where = draft.request.where
        if where.kinds is not None:
            return draft
        return replace(draft, request=replace(draft.request, where=replace(where, kinds=CONTENT)))


@dataclass(frozen=True, slots=True)
class ClassifyMode(LlmOrRules):
    """Tell what sort of memory a question wants: semantic, procedural, episodic or mixed."""

    kind = "mode"
    by: By = "auto"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its mode."""
        text = draft.query.text
        mode, who = self.judged("mode", env, lambda asker: query.mode(asker, text), lambda: query_mode(text))
        return replace(draft, query=replace(draft.query, mode=mode)).noting(f"mode {mode} by {who}")


@dataclass(frozen=True, slots=True)
class Tags(LlmOrRules):
    """Name the query's concepts in 2 to 5 short phrases; by rules, its key phrases."""

    kind = "tags"
    by: By = "auto"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its tags."""
        text = draft.query.text
        tags, who = self.judged("tags", env, lambda asker: query.tags(asker, text), lambda: key_phrases(text))
        return replace(draft, query=replace(draft.query, tags=tags)).noting(f"tags by {who}")


@dataclass(frozen=True, slots=True)
class Expand(LlmOrRules):
    """Add words of the same meaning for the keyword search; by rules, from a small table of everyday synonyms.

    By rules unless asked otherwise: a search should not wait for a model.
    """

    kind = "expand"
    by: By = "rules"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its expansion; the text itself stays as it was asked."""
        text = draft.query.text
        words, who = self.judged("expand", env, lambda asker: query.expansion(asker, text), lambda: expand_query(text))
        expanded = replace(draft, query=replace(draft.query, expansion=words))
        return expanded if self.by == "rules" else expanded.noting(f"expanded by {who}")


@dataclass(frozen=True, slots=True)
class FindEntities(Stage):
    """Find entities that the store knows, by name or alias, in the query; the caller's hints come first."""

    kind = "entities"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the entities its question is about."""
        names = [*draft.request.entity_hints, *name_candidates(draft.query.text)]
        known = env.store.entities(names) if names else []
        entities = tuple({entity.id: entity for entity in known}.values())
        draft = replace(draft, query=replace(draft.query, entities=_in_order(entities, names)))
        return draft if entities else draft.noting("no entity of the query is known")


def _in_order(entities: tuple[Entity, ...], names: list[str]) -> tuple[Entity, ...]:
    folded = [name.casefold() for name in names]

    def place(entity: Entity) -> tuple[int, str]:
        called = [name.casefold() for name in (entity.name, *entity.aliases)]
        return min((folded.index(name) for name in called if name in folded), default=len(folded)), entity.id

    return tuple(sorted(entities, key=place))


@dataclass(frozen=True, slots=True)
class AsKnown(Stage):
    """Look back with the knowledge of then: known_at = as_of, as memoria's page has it."""

    kind = "as_known"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with both clocks at one moment, unless the caller set the second."""
        where = draft.request.where
        if where.known_at != draft.request.now:
            return draft
        return replace(draft, request=replace(draft.request, where=replace(where, known_at=where.as_of)))


@dataclass(frozen=True, slots=True)
class Dates(Stage):
    """Find the dates that the query names, absolute or relative to now, in English and Chinese.

    The first becomes the time window; with `rewrite` all are replaced by ISO dates in the searched text.
    """

    kind = "dates"
    rewrite: bool = False

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the window of its question."""
        text, now = draft.query.text, draft.request.now
        spans = find_dates(text, now)
        if not spans:
            return draft
        rewritten = normalise_dates(text, now) if self.rewrite else text
        return replace(draft, query=replace(draft.query, text=rewritten, window=(spans[0].start, spans[0].end)))
