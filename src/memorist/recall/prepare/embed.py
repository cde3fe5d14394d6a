"""Turn the query into vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memorist.recall.stage import Draft, Env, Stage
from memorist.text.languages import NOT_LATIN, language
from memorist.text.words import words


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
