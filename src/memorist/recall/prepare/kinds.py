"""Which kinds of memory answer a question."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memorist.model import Kind
from memorist.recall.stage import Draft, Env, Stage

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
