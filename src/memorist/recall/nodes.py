"""mnemosyne-graph's first step: score every node of the kinds that a question asks for, by a value function."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import entry_points
from math import exp, isfinite
from numbers import Real
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal, cast

from memorist.errors import InvalidInput
from memorist.model import PROVENANCE, Candidate, Evidence, Filter, Found, Hit, Kind, Memory, Usage
from memorist.recall.factors import age_hours
from memorist.recall.stage import Draft, Env, GraphWalk, Stage, ranked, sigmoid

if TYPE_CHECKING:
    from memorist.ports import Vector

Params = Mapping[str, float]
ValueFunction = Callable[[float, Memory, Usage | None, Params], float]
"""(relevance, memory, usage or None, parameters of the memory's kind) → score.

In addition to the six parameters, `hours` holds the hours since the memory was last accessed.
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
}
"""The parameters per kind, as the original documents them."""

RULES: Mapping[str, tuple[Callable[[float], bool], str]] = {
    "threshold": (lambda value: value >= 0, "a number of at least 0"),
    "top_k": (lambda value: value >= 1 and value == int(value), "a whole number of at least 1"),
    "lambda": (lambda value: value >= 0, "a number of at least 0"),
    "k": (lambda value: value > 0, "a number above 0"),
    "base_floor": (lambda value: 0 <= value <= 1, "a number from 0 to 1"),
    "beta": (lambda value: value >= 0, "a number of at least 0"),
}
"""Which values of a parameter make sense, in code and in words."""

TARGETS: Mapping[str, tuple[Kind, ...]] = {
    "semantic": (Kind.SEMANTIC,),
    "procedural": (Kind.PROCEDURAL,),
    "episodic": (Kind.EPISODIC, Kind.SUBGOAL),
    "mixed": (Kind.EPISODIC, Kind.SEMANTIC, Kind.PROCEDURAL, Kind.SUBGOAL),
}
RATES = tuple(float(f"{digit}e-{zeros}") for zeros in range(10) for digit in (5, 2, 1))
"""The values of λ that a remark may propose: round numbers, the largest first."""
ThresholdOn = Literal["relevance", "score"]


@dataclass(frozen=True, slots=True)
class Nodes(Stage):
    """Hop 0: score = value function(relevance), relevance = max(max over probes cos(probe), max over tags cos(tag), 0).

    The mode decides which kinds are scored. A text that no lesson was learnt from may hold knowledge of any kind, so it
    is scored in every mode. Each kind has a threshold, tested on the relevance or, with `threshold_on`, on the score,
    and a top-k. If nothing passes, the mode becomes mixed. If recency alone keeps out matches that are closer than all
    that come, the trace says so, with the λ that keeps them. `params` overrides threshold, top_k, lambda, k, base_floor
    and beta per kind. Gives 0 to 1.
    """

    kind = "nodes"
    takes = ("question",)
    gives = "candidates"
    effect = "adds"
    needs = ("embedder",)
    function: str | ValueFunction = "default"
    threshold_on: ThresholdOn = "relevance"
    params: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])

    def __post_init__(self) -> None:
        check_params(self.params, "The recipe")

    def __call__(self, draft: Draft, env: Env) -> Draft:
        """The draft with the best nodes of each kind."""
        passed = self._passed(draft, env, vectors_of(draft))
        if not passed and draft.query.mode not in (None, "mixed"):
            note = f"nothing {draft.query.mode} passed its threshold: searched as mixed"
            draft = replace(draft, query=replace(draft.query, mode="mixed")).remarking(note)
            passed = self._passed(draft, env, vectors_of(draft))
        candidates = self.best_of_each_kind(passed)
        if note := self._pushed_out(passed, candidates[: draft.request.limit]):
            draft = draft.remarking(note)
        hits = tuple(Hit(candidate.memory.id, candidate.evidence["relevance"].score) for candidate in candidates)
        found = {**draft.found, "relevance": Found(tuple(sorted(hits, key=lambda hit: (-hit.score, hit.id))))}
        return replace(draft, candidates=candidates, found=found, walk=GraphWalk(per_hop=(len(candidates),)))

    def initial(self, draft: Draft, env: Env, vectors: Vector | None) -> tuple[Candidate, ...]:
        """The best nodes for these probe vectors."""
        return self.best_of_each_kind(self._passed(draft, env, vectors))

    def _passed(self, draft: Draft, env: Env, vectors: Vector | None) -> list[Candidate]:
        """The nodes that pass their threshold: those of the mode's kinds, and texts without lessons."""
        kinds = targets(draft)
        searched = allowed_kinds(dict.fromkeys((*TARGETS[draft.query.mode or "mixed"], Kind.EPISODIC)), draft)
        if vectors is None or not searched:
            return []
        found = self.passing(relevances(env, vectors, replace(draft.request.where, kinds=searched)), draft, env)
        if Kind.EPISODIC in searched and Kind.EPISODIC not in kinds:
            taught = with_lessons(
                [candidate.memory.id for candidate in found if candidate.memory.kind is Kind.EPISODIC], env
            )
            found = [candidate for candidate in found if candidate.memory.id not in taught]
        return found

    def valued(self, relevances: Mapping[str, float], draft: Draft, env: Env) -> list[Candidate]:
        """The nodes that the filter admits, with their scores."""
        memories = [memory for memory in env.store.get(list(relevances)).values() if draft.request.where.admits(memory)]
        return [self._candidate(memory, relevances[memory.id], draft) for memory in memories]

    def passing(self, relevances: Mapping[str, float], draft: Draft, env: Env) -> list[Candidate]:
        """The nodes that the filter admits and that pass the threshold of their kind."""
        return [
            candidate
            for candidate in self.valued(relevances, draft, env)
            if self.tested(candidate) >= self.threshold(candidate)
        ]

    def best_of_each_kind(self, candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
        """The top-k of each kind, in one ranking."""
        kinds: dict[str, list[Candidate]] = defaultdict(list)
        for candidate in candidates:
            kinds[candidate.memory.kind].append(candidate)
        best = [
            candidate
            for kind, group in kinds.items()
            for candidate in ranked(group)[: int(self.params_of(kind)["top_k"])]
        ]
        return ranked(best)

    def _pushed_out(self, passed: Sequence[Candidate], kept: Sequence[Candidate]) -> str | None:
        """A remark if recency alone kept matches out that are closer than all that came, and the λ that keeps them."""

        def first(rate: float) -> set[str]:
            return {candidate.memory.id for candidate in self._at_rate(rate, passed)[: len(kept)]}

        closest = max(map(_relevance, kept), default=1.0)
        closer = [candidate for candidate in passed if _relevance(candidate) > closest and "recency" in candidate.parts]
        out = {candidate.memory.id: candidate for candidate in closer if candidate.memory.id in first(0.0)}
        if not out:
            return None
        least = min(self.params_of(candidate.memory.kind)["lambda"] for candidate in out.values())
        rate = next((rate for rate in RATES if rate < least and out.keys() <= first(rate)), 0.0)
        were, them = ("match was", "it") if len(out) == 1 else ("matches were", "them")
        ago = _ago(min(candidate.parts["hours"] for candidate in out.values()))
        return f"{len(out)} close {were} last used over {ago} ago; `lambda = {_plain(rate)}` keeps {them}"

    def _at_rate(self, rate: float, passed: Iterable[Candidate]) -> tuple[Candidate, ...]:
        """The best of each kind if every λ were this one."""
        return self.best_of_each_kind(
            candidate.rescored(_score_at(rate, candidate), **candidate.parts) for candidate in passed
        )

    def tested(self, candidate: Candidate) -> float:
        """The number that a threshold tests."""
        return _relevance(candidate) if self.threshold_on == "relevance" else candidate.score

    def threshold(self, candidate: Candidate) -> float:
        """The threshold of the candidate's kind."""
        return self.params_of(candidate.memory.kind)["threshold"]

    def params_of(self, kind: str) -> Params:
        """The parameters of a kind, with overrides."""
        return {**PARAMS[kind], **self.params.get(kind, {})}

    def _candidate(self, memory: Memory, relevance: float, draft: Draft) -> Candidate:
        params = {**self.params_of(memory.kind), "hours": age_hours(memory, draft.request.now, "access")}
        score = self._value(relevance, memory, params)
        evidence = {"relevance": Evidence(None, relevance, relevance)}
        found = Candidate(memory, score, evidence)
        if memory.usage is None or self.function != "default":
            return found.rescored(score, relevance=relevance, hours=params["hours"])
        return found.rescored(
            score,
            relevance=relevance,
            hours=params["hours"],
            recency=recency(params["hours"], params),
            frequency=frequency(memory.usage, params),
            reward=reward(memory.usage, params),
        )

    def _value(self, relevance: float, memory: Memory, params: Params) -> float:
        """What the value function says, which may be anybody's code."""
        function, which = value_function(self.function), f"The value function {self.function}"
        try:
            score = function(relevance, memory, memory.usage, params)
        except Exception as error:
            problem = f"{which} failed on memory {memory.id}: {type(error).__name__}: {error}"
            raise InvalidInput(problem, remedy="Correct it, or name another value function.") from error
        if not isinstance(score, Real) or not isfinite(score):
            raise InvalidInput(f"{which} returned {score!r} for memory {memory.id}", remedy="Return a finite number.")
        return float(score)


def _relevance(candidate: Candidate) -> float:
    return candidate.evidence["relevance"].score


def _score_at(rate: float, candidate: Candidate) -> float:
    """The score with another λ; the same for a node whose score has no recency."""
    parts = candidate.parts
    if "recency" not in parts:
        return candidate.score
    return parts["relevance"] * exp(-rate * parts["hours"]) * parts["frequency"] * parts["reward"]


def _ago(hours: float) -> str:
    number, unit = (hours // 24, "day") if hours >= 24 else (hours // 1, "hour")
    return f"{number:,.0f} {unit}{'' if number == 1 else 's'}"


def _plain(rate: float) -> str:
    return f"{rate:.9f}".rstrip("0").rstrip(".")


def check_params(params: Mapping[str, Mapping[str, float]], where: str) -> None:
    """Refuse a kind or a parameter that does not exist, and a value that makes no sense."""
    for kind, given in params.items():
        if kind not in PARAMS:
            raise InvalidInput(f"{where} sets an unknown kind: {kind!r}", remedy=f"Choose from {', '.join(PARAMS)}.")
        for name, value in given.items():
            if name not in PARAMS[kind]:
                problem = f"{where} sets an unknown parameter of {kind}: {name!r}"
                raise InvalidInput(problem, remedy=f"Choose from {', '.join(PARAMS[kind])}.")
            makes_sense, wanted = RULES[name]
            if not isfinite(value) or not makes_sense(value):
                raise InvalidInput(f"{where} sets {name} of {kind} to {value:g}", remedy=f"It must be {wanted}.")


def targets(draft: Draft) -> tuple[Kind, ...]:
    """The kinds that the mode asks for and the request allows."""
    return allowed_kinds(TARGETS[draft.query.mode or "mixed"], draft)


def allowed_kinds(kinds: Iterable[Kind], draft: Draft) -> tuple[Kind, ...]:
    """Those of these kinds that the request allows."""
    chosen = draft.request.where.kinds
    return tuple(kind for kind in kinds if chosen is None or kind in chosen)


def with_lessons(ids: Sequence[str], env: Env) -> set[str]:
    """The texts among these that a session learnt a lesson from."""
    return {link.target for link in env.store.links(ids, PROVENANCE)}.intersection(ids) if ids else set()


def vectors_of(draft: Draft) -> Vector | None:
    """The vectors of the query's probes and its tags, as rows."""
    import numpy as np

    vector, tags = draft.query.embedding(), draft.query.tag_vectors
    if vector is None:
        return None
    return np.atleast_2d(vector) if tags is None else np.vstack([vector, tags])


def relevances(env: Env, vectors: Vector, where: Filter) -> dict[str, float]:
    """The relevance of every node that the filter admits: the largest cosine of any view with any probe, at least 0."""
    return {hit.id: max(0.0, hit.score) for hit in env.view.search_vector(vectors, where, max(env.view.size, 1))}


def default_value(relevance: float, memory: Memory, usage: Usage | None, params: Params) -> float:
    """relevance · recency · frequency · reward; only relevance for a node without usage."""
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
    """1 / (1 + exp(−β · mean reward)); 1 without a history."""
    return 1.0 if usage.mean_reward is None else sigmoid(params["beta"] * usage.mean_reward)


def value_function(given: str | ValueFunction) -> ValueFunction:
    """A value function itself, or by name: `default`, an entry point, `module:function` or `FILE.py:function`."""
    return _named(given) if isinstance(given, str) else given


@cache
def _named(name: str) -> ValueFunction:
    if name == "default":
        return default_value
    if ":" in name:
        return _imported(name)
    found = {entry.name: entry for entry in entry_points(group="memorist.value_functions")}
    if name not in found:
        choices = ", ".join(sorted(["default", *found]))
        remedy = f"Choose one of {choices}, or write module:function."
        raise InvalidInput(f"There is no value function {name!r}", remedy=remedy)
    return found[name].load()


def _imported(name: str) -> ValueFunction:
    from importlib import import_module

    module, _, attribute = name.rpartition(":")
    try:
        found: object = getattr(_loaded(module) if module.endswith(".py") else import_module(module), attribute)
    except InvalidInput:  # the file is there, and broken
        raise
    except (ImportError, AttributeError, ValueError):
        found = None
    if not callable(found):
        raise InvalidInput(
            f"There is no value function {name!r}", remedy="Name an importable module and a function of it."
        )
    return cast("ValueFunction", found)


def _loaded(file: str) -> ModuleType:
    """The module in a file, as `import` would make it, under a name that no other file has."""
    import sys
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(f"{Path(file).stem} of {file}", file)
    if spec is None or spec.loader is None:
        raise ImportError(file)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up there
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        problem = f"{file} cannot be imported: {type(error).__name__}: {error}"
        raise InvalidInput(problem, remedy="Correct it, or name another value function.") from error
    return module
