"""Remember what was recalled."""

from __future__ import annotations

from dataclasses import dataclass

from memorist.errors import StoreError
from memorist.recall.stage import Draft, Env, Stage


@dataclass(frozen=True, slots=True)
class Track(Stage):
    """Count a recall of every memory that contributed, and tell the session what it was shown.

    Those are every hit of the named `signals`; without names, the touched ones, else the answer's. `track=False` on
    the request turns it off.
    """

    kind = "track"
    signals: tuple[str, ...] = ()

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same draft; a store that cannot be written now costs the count, never the answer."""
        request = draft.request
        if not request.track:
            return draft
        shown = [one.memory.id for one in draft.candidates]
        hits = [hit.id for name in self.signals if name in draft.found for hit in draft.found[name].hits]
        used = hits if self.signals else [one.id for one in draft.touched] or shown
        try:
            if used:
                env.store.touch(list(dict.fromkeys(used)), request.now)
            if request.session is not None and shown:
                env.store.show(request.session, shown, request.now)
        except StoreError as error:
            return draft.noting(f"usage not counted: {error.problem}")
        return draft
