"""What a question is about: its mode, concepts, synonyms and entities."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memorist.asking import query
from memorist.model import Entity
from memorist.recall.by import By, Judged
from memorist.recall.stage import Draft, Env, Stage
from memorist.recall.understand import expand_query, key_phrases, query_mode
from memorist.text.names import name_candidates


@dataclass(frozen=True, slots=True)
class ClassifyMode(Judged):
    """Tell what sort of memory a question wants: semantic, procedural, episodic or mixed."""

    kind = "mode"
    by: By = "auto"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its mode."""
        text = draft.query.text
        mode, who = self.judged("mode", env, lambda asker: query.mode(asker, text), lambda: query_mode(text))
        return replace(draft, query=replace(draft.query, mode=mode)).noting(f"mode {mode} by {who}")


@dataclass(frozen=True, slots=True)
class Tags(Judged):
    """Name the query's concepts in 2 to 5 short phrases; by rules, its key phrases."""

    kind = "tags"
    by: By = "auto"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its tags."""
        text = draft.query.text
        tags, who = self.judged("tags", env, lambda asker: query.tags(asker, text), lambda: key_phrases(text))
        return replace(draft, query=replace(draft.query, tags=tags)).noting(f"tags by {who}")


@dataclass(frozen=True, slots=True)
class Expand(Judged):
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
