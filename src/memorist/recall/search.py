"""The stages that run signals side by side, or one after another until there is enough."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter

from memorist.errors import ModelUnavailable
from memorist.model import Found, Kind
from memorist.recall.stage import Draft, Env, Signal, Stage, missing, pool_share


@dataclass(frozen=True, slots=True)
class Search(Stage):
    """Search by every signal in parallel, `limit` hits each, or `times` the request's limit.

    With `adaptive` it grows with the store: limit / 3 · (1 + log2(size / 100)) from 100 to 100,000 memories, and
    never less than the request's limit. Each signal keeps its own score scale.
    """

    kind = "search"
    signals: tuple[Signal, ...]
    limit: int = 100
    times: int | None = None
    adaptive: bool = False

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with what each signal found, or why it did not look."""
        first, *others = self.signals
        pool = self.pool(draft.request.limit, env.view.size)
        waiting = {signal.kind: env.pool.submit(look, signal, draft, env, pool) for signal in others}
        found = {first.kind: look(first, draft, env, pool)}  # commonly the longest, so no thread is to be woken for it
        found |= {kind: future.result() for kind, future in waiting.items()}
        return replace(draft, found={**draft.found, **found})

    def pool(self, asked: int, size: int) -> int:
        """How many hits each signal is asked for; never fewer than the caller wants."""
        base = self.times * asked if self.times is not None else self.limit
        return max(asked, round(base * pool_share(size)) if self.adaptive else base)


@dataclass(frozen=True, slots=True)
class Cascade(Stage):
    """abmind's order: each of `until_enough` looks only while fewer distinct ids than the limit were found.

    They look among memories only: notes are left to those of `always`, which look in any case. Each is asked for
    `times` the request's limit.
    """

    kind = "cascade"
    until_enough: tuple[Signal, ...]
    always: tuple[Signal, ...] = ()
    times: int = 3

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with what each signal found, or why it did not look."""
        found, limit = dict(draft.found), draft.request.limit
        memories = without_notes(draft)
        for signal in self.until_enough:
            enough = len({hit.id for one in found.values() for hit in one.hits}) >= limit
            full = Found(skipped=f"{limit} found already")
            found[signal.kind] = full if enough else look(signal, memories, env, self.times * limit)
        for signal in self.always:
            found[signal.kind] = look(signal, draft, env, self.times * limit)
        return replace(draft, found=found)


def without_notes(draft: Draft) -> Draft:
    """The draft with a filter that admits no notes."""
    where = draft.request.where
    kinds = tuple(kind for kind in (Kind if where.kinds is None else where.kinds) if kind is not Kind.NOTE)
    return replace(draft, request=replace(draft.request, where=replace(where, kinds=kinds)))


def look(signal: Signal, draft: Draft, env: Env, limit: int) -> Found:
    """One signal's search, timed; a service it lacks or that fails is told, never raised."""
    if service := missing(signal, env):
        return Found(skipped=f"no {service}")
    started = perf_counter()
    try:
        hits = signal.search(draft, env, limit)
    except ModelUnavailable as error:
        return Found(skipped=error.problem)
    return Found(tuple(hits), (perf_counter() - started) * 1000)
