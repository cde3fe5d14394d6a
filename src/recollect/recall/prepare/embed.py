"""Turn the query into vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace

from recollect.recall.stage import Draft, Env, Stage


@dataclass(frozen=True, slots=True)
class Embed(Stage):
    """Turn the query, and its tags if there are any, into vectors.

    With `ahead` the work starts at once in another thread, and is dropped if no signal asks for it.
    """

    kind = "embed"
    optional = ("embedder",)
    ahead: bool = False

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with its query's vector; a blank query has none."""
        embedder, query = env.embedder, draft.query
        if embedder is None or not query.text.strip():
            return draft
        if self.ahead:
            pending = env.pool.submit(lambda: embedder.embed([query.text], purpose="query")[0])
            return replace(draft, query=replace(query, pending=pending))
        vectors = embedder.embed([query.text, *query.tags], purpose="query")
        tags = vectors[1:] if query.tags else None
        return replace(draft, query=replace(query, vector=vectors[0], tag_vectors=tags))
