"""The times that a question names or is asked from."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memorist.recall.stage import Draft, Env, Stage
from memorist.text.dates import find_dates, normalise_dates


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
