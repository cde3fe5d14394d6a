"""Stages that run signals: all of them, or one after another until there are enough hits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal

from memorist.errors import ModelUnavailable
from memorist.model import Found, Kind
from memorist.recall.stage import Draft, Env, Signal, Stage, missing_service, pool_for

SIDE_BY_SIDE = 20_000
"""The size of a store from which on all signals run in threads; below it, waking one takes as long as searching."""


@dataclass(frozen=True, slots=True)
class Search(Stage):
    """Run every signal, for `limit` hits each, or `times` the request's limit; at least for that limit.

    In a large store they run in parallel. In a small one they run one after another, beside what leaves the process:
    an embedder on a server, if the stage `embed` has begun with it, and signals that wait for a server themselves.
    With `adaptive`, the number depends on the size of the store. Each signal keeps its own score scale.
    """

    kind = "search"
    takes = ("question", "hits")
    gives = "hits"
    signals: tuple[Signal, ...]
    limit: int = 100
    times: int | None = None
    adaptive: bool = False

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the hits of each signal, or the reason why it was skipped."""
        first, *others = self.signals
        asked = draft.request.limit
        base = self.limit if self.times is None else self.times * asked
        hits = pool_for(base, asked, env.view.size, adaptive=self.adaptive)
        large = env.view.size >= SIDE_BY_SIDE
        # The first one last, and in this thread: it is usually the slowest, and may be waiting for the query's vector.
        in_order = (*others, first)
        away = [signal for signal in in_order if signal.waits or (large and signal is not first)]
        begun = {signal.kind: env.pool.submit(_run, signal, draft, env, hits) for signal in away}
        ran = {signal.kind: _run(signal, draft, env, hits) for signal in in_order if signal.kind not in begun}
        ran |= {kind: future.result() for kind, future in begun.items()}
        found = {signal.kind: ran[signal.kind] for signal in self.signals}
        return replace(draft, query=draft.query.settled(), found={**draft.found, **found})


MODES = {"fts": ("fuzzy",), "signature": ("signature",)}
"""The signals that a mode of `cascade` leaves, by their kinds; hybrid leaves all."""


@dataclass(frozen=True, slots=True)
class Cascade(Stage):
    """abmind's order: each signal of `until_enough` runs only if fewer distinct memories than the limit were found.

    These signals search neither notes nor facts that join two entities; the signals of `always` do, and always run.
    Each is asked for `times` the request's limit. In mode `fts` only the signal `fuzzy` of `until_enough` runs, in mode
    `signature` only that one. The signal `vector` does not run for a question without a vector.
    """

    kind = "cascade"
    takes = ("question", "hits")
    gives = "hits"
    until_enough: tuple[Signal, ...]
    always: tuple[Signal, ...] = ()
    times: int = 3
    mode: Literal["hybrid", "fts", "signature"] = "hybrid"

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the hits of each signal, or the reason why it was skipped."""
        found, limit = dict(draft.found), draft.request.limit
        memories, texts = _without_notes(draft), replace(env, view=env.view.without_facts())
        for signal in self.until_enough:
            if off := self._off(signal.kind, draft, env):
                found[signal.kind] = Found(skipped=off)
                continue
            enough = len({hit.id for signal in found.values() for hit in signal.hits}) >= limit
            skipped = Found(skipped=f"{limit} found already")
            found[signal.kind] = skipped if enough else _run(signal, memories, texts, self.times * limit)
        for signal in self.always:
            found[signal.kind] = _run(signal, draft, env, self.times * limit)
        return replace(draft, found=found)

    def _off(self, signal: str, draft: Draft, env: Env) -> str | None:
        """Why a signal may not run, if so; without a vector it would doubt what the others found."""
        if signal not in MODES.get(self.mode, (signal,)):
            return f"mode {self.mode}"
        vectorless = draft.query.vector is None and draft.query.pending is None
        return "no vector" if signal == "vector" and vectorless and env.has("embedder") else None


def _without_notes(draft: Draft) -> Draft:
    """The draft with a filter that admits no notes."""
    where = draft.request.where
    kinds = tuple(kind for kind in (Kind if where.kinds is None else where.kinds) if kind is not Kind.NOTE)
    return replace(draft, request=replace(draft.request, where=replace(where, kinds=kinds)))


def _run(signal: Signal, draft: Draft, env: Env, limit: int) -> Found:
    """The hits of one signal and the time taken. A missing or failing service becomes the skip reason."""
    if service := missing_service(signal, env):
        return Found(skipped=f"no {service}")
    started = perf_counter()
    try:
        hits = signal.search(draft, env, limit)
    except ModelUnavailable as error:
        return Found(skipped=error.problem)
    return Found(tuple(hits), (perf_counter() - started) * 1000)
