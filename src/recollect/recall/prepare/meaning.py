"""What a question is about: its mode, concepts, synonyms and entities."""

from __future__ import annotations

from dataclasses import dataclass, replace

from recollect.model import Entity
from recollect.recall.stage import Draft, Env, Stage
from recollect.recall.understand import expand_query, key_phrases, query_mode
from recollect.text.names import name_candidates


@dataclass(frozen=True, slots=True)
class ClassifyMode(Stage):
    """Tell what sort of memory a question wants: semantic, procedural, episodic or mixed. By rules."""

    kind = "mode"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its mode."""
        mode = query_mode(draft.query.text)
        return replace(draft, query=replace(draft.query, mode=mode)).noting(f"mode {mode} by rules")


@dataclass(frozen=True, slots=True)
class Tags(Stage):
    """Name the query's concepts in 2 to 5 short phrases. By rules: its key phrases."""

    kind = "tags"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its tags."""
        return replace(draft, query=replace(draft.query, tags=key_phrases(draft.query.text))).noting("tags by rules")


@dataclass(frozen=True, slots=True)
class Expand(Stage):
    """Add words of the same meaning for the keyword search, from a small table of everyday synonyms."""

    kind = "expand"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its expansion; the text itself stays as it was asked."""
        return replace(draft, query=replace(draft.query, expansion=expand_query(draft.query.text)))


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
