"""Stages that change scores by factors, and the value function of mnemosyne-graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from math import exp, prod

from memorist.errors import InvalidInput
from memorist.model import Candidate, Memory, Usage
from memorist.recall.rerank import sigmoid
from memorist.recall.stage import Draft, Env, Factor, Stage, ranked

Params = Mapping[str, float]
ValueFunction = Callable[[float, Memory, Usage | None, Params], float]
"""(relevance, memory, usage or None, parameters of the memory's kind) → score.

Besides the six parameters, `hours` tells how long ago the memory was last accessed.
"""

COMMON: Params = {"lambda": 0.01, "k": 5, "base_floor": 0.3, "beta": 1.0}
PARAMS: Mapping[str, Params] = {
    "semantic": {"threshold": 0.0, "top_k": 20, **COMMON},
    "procedural": {"threshold": 0.8, "top_k": 10, **COMMON},
    "episodic": {"threshold": 0.0, "top_k": 30, **COMMON},
    "subgoal": {"threshold": 0.75, "top_k": 10, **COMMON},
    "tag": {"threshold": 0.9, "top_k": 10, **COMMON},
    "source": {"threshold": 0.0, "top_k": 50, **COMMON},
    "intent": {"threshold": 0.7, "top_k": 10, **COMMON},
    "note": {"threshold": 0.0, "top_k": 20, **COMMON},
}
"""The page's defaults; `note` is ours."""


def default_value(relevance: float, memory: Memory, usage: Usage | None, params: Params) -> float:
    """relevance · recency · frequency · reward; relevance alone for a node without usage."""
    if usage is None:
        return relevance
    return relevance * recency(params["hours"], params) * frequency(usage, params) * reward(usage, params)


def recency(hours: float, params: Params) -> float:
    """exp(−λ · hours since the last access): 24 h 0.787, 168 h 0.186 for λ 0.01."""
    return exp(-params["lambda"] * hours)


def frequency(usage: Usage, params: Params) -> float:
    """max(base_floor, n / (n + k)): n 1 → 0.3, 5 → 0.5, 20 → 0.8."""
    return max(params["base_floor"], usage.recalls / (usage.recalls + params["k"]))


def reward(usage: Usage, params: Params) -> float:
    """1 / (1 + exp(−β · mean reward)); exactly 1 with no history."""
    return 1.0 if usage.mean_reward is None else sigmoid(params["beta"] * usage.mean_reward)


@cache
def value_function(name: str) -> ValueFunction:
    """A value function by name: `default`, or an entry point of the group `memorist.value_functions`."""
    if name == "default":
        return default_value
    found = {entry.name: entry for entry in entry_points(group="memorist.value_functions")}
    if name not in found:
        choices = ", ".join(sorted(["default", *found]))
        raise InvalidInput(f"There is no value function {name!r}", remedy=f"Choose one of {choices}.")
    return found[name].load()


@dataclass(frozen=True, slots=True)
class Weigh(Stage):
    """score × Π factors. Takes any positive scale and keeps it."""

    kind = "weigh"
    factors: tuple[Factor, ...]

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates in their new order."""
        return _rescored(draft, env, self.factors, lambda score, parts: score * prod(parts))


@dataclass(frozen=True, slots=True)
class Add(Stage):
    """score + Σ factors. Takes and gives scores of about 0 to 1."""

    kind = "add"
    factors: tuple[Factor, ...]

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates in their new order."""
        return _rescored(draft, env, self.factors, lambda score, parts: score + sum(parts))


def _rescored(
    draft: Draft, env: Env, factors: Sequence[Factor], combine: Callable[[float, Iterable[float]], float]
) -> Draft:
    candidates: list[Candidate] = []
    for one in draft.candidates:
        parts = {factor.kind: factor(one, draft, env) for factor in factors}
        candidates.append(one.rescored(combine(one.score, parts.values()), **parts))
    return replace(draft, candidates=ranked(candidates))


@dataclass(frozen=True, slots=True)
class Confirm(Stage):
    """score × penalty for what signal `of` found and signal `by` did not; nothing when `by` did not look."""

    kind = "confirm"
    of: str = "fuzzy"
    by: str = "vector"
    penalty: float = 0.5

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The same candidates in their new order."""
        looked = self.by in draft.found and draft.found[self.by].skipped is None
        if not looked:
            return draft
        return replace(draft, candidates=ranked([self._doubted(one) for one in draft.candidates]))

    def _doubted(self, candidate: Candidate) -> Candidate:
        if self.of not in candidate.evidence or self.by in candidate.evidence:
            return candidate
        return candidate.rescored(candidate.score * self.penalty, unconfirmed=self.penalty)
