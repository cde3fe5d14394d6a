"""The runner: checks a pipeline, runs its stages in order and writes the trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from time import perf_counter
from typing import Any, cast, get_args

from memorist.errors import InvalidInput, MissingService, ModelUnavailable, Remedy, VerbCall
from memorist.model import Candidate, Item, Query, Recall, RecallRequest, Spent, Step, Trace, fingerprint, isoformat
from memorist.recall.stage import Draft, Env, Form, Part, Stage, missing_service
from memorist.text.chatter import searched_part

REMEDIES = {
    "embedder": Remedy("Open it with an embedder, such as ", VerbCall("open", {"embedder": "local"}), "."),
    "reranker": Remedy("Open it with a reranker, such as ", VerbCall("open", {"reranker": "auto"}), "."),
    "llm": Remedy("Open it with a language model, such as ", VerbCall("open", {"llm": "ollama:llama3.2"}), "."),
}

FORMS: tuple[Form, ...] = get_args(Form)
LONGEST_QUERY = 2_000
"""Characters of a query that are searched: the last ones, where a question stands after pasted text.

On questions after 4,000 words of talk, more of them find less.
"""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A named recipe: stages that run one after another.

    `names` are those that the recipe's document gives to parameters, each with the parameters that it sets.
    `fixed` are the parameters that settings or options changed.
    """

    name: str
    stages: tuple[Stage, ...]
    about: str = field(default="", compare=False)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]], compare=False)
    fixed: tuple[str, ...] = field(default=(), compare=False)
    _parts: tuple[Part, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_order(self.name, self.stages)
        # Looked for once, because every recall asks for them.
        object.__setattr__(self, "_parts", tuple(part for stage in self.stages for part in _parts_of(stage)))

    def check(self, env: Env) -> None:
        """Raise MissingService, before any search, if a required service is not configured."""
        for part in self.parts():
            for service in part.required():
                if not env.has(service):
                    raise MissingService(
                        f"Recipe {self.name!r} needs a service for its stage {part.kind!r}: {service}",
                        remedy=REMEDIES[service],
                    )

    def parts(self) -> tuple[Part, ...]:
        """Every stage, and every part nested in one."""
        return self._parts

    def uses(self, service: str) -> bool:
        """Whether a part asks for a service, such as the reranker."""
        return any(service in (*part.required(), *part.optional) for part in self.parts())

    @property
    def follows_tags(self) -> bool:
        """Whether a part reads the tags of memories."""
        return any(part.follows_tags for part in self.parts())

    def mapped(self, change: Callable[[Part], Part]) -> Pipeline:
        """This pipeline with every part changed, nested parts first."""
        return replace(self, stages=_mapped(self.stages, change))

    def run(self, request: RecallRequest, env: Env) -> Recall:
        """Answer one request."""
        self.check(env)
        started, before = perf_counter(), _spent(env)
        draft = first_draft(request)
        steps = [Step("query", 0.0, (), before=0, after=0, notes=draft.notes)] if draft.notes else []
        for stage in self.stages:
            draft, new_steps = _traced(stage, draft, env)
            steps.extend(new_steps)
        return _answer(self.name, draft, steps, _milliseconds(started), env, _spent(env).since(before))

    def without(self, kind: str) -> Pipeline:
        """This pipeline without the stages of that kind."""
        self._require(kind)
        return replace(self, stages=tuple(stage for stage in self.stages if stage.kind != kind))

    def replacing(self, kind: str, stage: Stage) -> Pipeline:
        """This pipeline with every stage of that kind replaced."""
        self._require(kind)
        return replace(self, stages=tuple(stage if old.kind == kind else old for old in self.stages))

    def _require(self, kind: str) -> None:
        kinds = [stage.kind for stage in self.stages]
        if kind not in kinds:
            raise InvalidInput(f"Recipe {self.name!r} has no stage {kind!r}", remedy=f"It has {', '.join(kinds)}.")


PRODUCERS: Mapping[Form, str] = {
    "hits": "a stage that searches: search or cascade",
    "candidates": "a stage that makes candidates: rrf, weighted_sum, first, best or nodes",
    "context": "a stage that assembles the context",
}
"""The stages that bring a draft to a form."""


def _check_order(name: str, stages: Sequence[Stage]) -> None:
    """Refuse stages that cannot work in this order: each takes the form of draft that those before it give."""
    form = FORMS[0]
    for place, stage in enumerate(stages):
        if stage.takes and form not in stage.takes:
            raise _out_of_order(name, stages[: place + 1])
        form = stage.gives or form


def _out_of_order(name: str, stages: Sequence[Stage]) -> InvalidInput:
    """The refusal of the last of these stages, which names the stage that must follow it, or what must precede it."""
    stage, most = stages[-1], max(map(FORMS.index, stages[-1].takes))
    past = next((earlier for earlier in stages[:-1] if earlier.gives and FORMS.index(earlier.gives) > most), None)
    gives = next((stage for stage in reversed(stages[:-1]) if stage.gives), None)
    met = past or gives
    made = "nothing has searched yet" if met is None else f"{met.kind!r} before it gives {met.gives}"
    problem = f"its stage {len(stages)}, {stage.kind!r}, takes {' or '.join(stage.takes)}, but {made}"
    needed = PRODUCERS.get(stage.takes[0], "")
    before = f"Move {stage.kind!r} before {past.kind!r}, or leave it out." if past else f"Put before it {needed}."
    return InvalidInput(f"Recipe {name!r} cannot work: {problem}", remedy=before)


def first_draft(request: RecallRequest) -> Draft:
    """The draft that the first stage gets."""
    searched = searched_part(request.query, LONGEST_QUERY)
    draft = Draft(request, Query(searched))
    if added := request.surroundings.counted:
        draft = draft.noting(f"asked in a session: with {added}")
    if searched == request.query:
        return draft
    which = "last" if request.query.endswith(searched) else "first"
    return draft.noting(f"only the {which} {LONGEST_QUERY:,} characters of the query were searched")


def _parts_of(part: Part) -> Iterator[Part]:
    yield part
    for parameter in fields(part):  # pyright: ignore[reportArgumentType]  # every concrete part is a dataclass
        value: Any = getattr(part, parameter.name)
        for inner in value if isinstance(value, tuple) else (value,):  # pyright: ignore[reportUnknownVariableType]
            if isinstance(inner, Part):
                yield from _parts_of(inner)


def _mapped(value: Any, change: Callable[[Part], Part]) -> Any:
    """A part, or the value of a parameter, with every part in it changed."""
    if type(value) is tuple:
        return tuple(_mapped(member, change) for member in cast("tuple[Any, ...]", value))
    if not isinstance(value, Part):
        return value
    part: Any = value
    return change(replace(part, **{field.name: _mapped(getattr(part, field.name), change) for field in fields(part)}))


def _milliseconds(since: float) -> float:
    return (perf_counter() - since) * 1000


def run_stage(stage: Stage, draft: Draft, env: Env) -> tuple[Draft, str | None]:
    """The draft after a stage, and why the stage was skipped, if it was."""
    if service := missing_service(stage, env):
        return draft, f"no {service}"
    try:
        return stage(draft, env), None
    except ModelUnavailable as error:
        if not stage.optional:
            raise
        return draft, error.problem


def _traced(stage: Stage, draft: Draft, env: Env) -> tuple[Draft, list[Step]]:
    started = perf_counter()
    after, skipped = run_stage(stage, draft, env)
    step = Step(
        stage=stage.kind,
        ms=_milliseconds(started),
        candidates=after.candidates,
        before=draft.count,
        after=len(after.candidates) if draft.candidates else after.count,
        skipped=skipped,
        notes=after.notes[len(draft.notes) :],
    )
    return after, [step, *_signal_steps(stage, draft, after)]


def _signal_steps(stage: Stage, draft: Draft, after: Draft) -> list[Step]:
    return [
        Step(f"{stage.kind}.{name}", found.ms, (), before=0, after=len(found.hits), skipped=found.skipped)
        for name, found in after.found.items()
        if found is not draft.found.get(name)
    ]


def _spent(env: Env) -> Spent:
    return Spent() if env.llm is None else env.llm.spent


def _answer(name: str, draft: Draft, steps: list[Step], total_ms: float, env: Env, spent: Spent) -> Recall:
    request = draft.request
    detailed = request.verbosity == "detailed"
    touched = draft.walk.touched or draft.as_touched()
    memories = env.store.get([touch.id for touch in touched]) if detailed else {}
    most = max((len(step.candidates) for step in steps), default=0)
    trace = Trace(
        steps=tuple(steps),
        found=draft.found,
        total_ms=total_ms,
        mode=draft.query.mode,
        tags=draft.query.tags,
        candidate_count=most,
        candidates_per_hop=draft.walk.per_hop or (most,),
        scores={touch.id: touch.score for touch in touched},
        phase_timings=_phase_timings(steps, draft.walk.refinement_ms),
        llm=spent if spent.calls else None,
    )
    abstained = draft.abstained or not (draft.candidates or draft.held_back)
    return Recall(
        id=fingerprint(
            "recall",
            name,
            request.query,
            isoformat(request.now),
            [candidate.memory.id for candidate in draft.candidates],
        ),
        query=request.query,
        recipe=name,
        now=request.now,
        items=tuple(_item(rank, found, request) for rank, found in enumerate(draft.candidates, 1)),
        context=draft.context,
        tokens=draft.tokens,
        standing=draft.standing,
        reasoned=draft.walk.reasoned,
        touched=tuple(replace(touch, memory=memories.get(touch.id)) for touch in touched) if detailed else touched,
        abstained=abstained,
        why_abstained="; ".join(dict.fromkeys(draft.doubts)) or None if abstained else None,
        remarks=draft.remarks,
        cites_sources=draft.cites_sources,
        confidence=draft.confidence,
        shown_before=tuple(candidate.memory.id for candidate in draft.held_back),
        trace=trace,
        request=request,
    )


def _item(rank: int, found: Candidate, request: RecallRequest) -> Item:
    memory = found.memory
    return Item(
        memory.as_known_at(request.where.known_at),
        found.score,
        rank,
        found.evidence,
        found.phase,
        found.hop,
        (*map(str, found.marks), *found.notes, *filter(None, (memory.times.planned(request.now),))),
        found.probability,
    )


PHASES = {
    **dict.fromkeys(("content", "as_known", "dates", "expand", "mode", "tags", "entities", "embed"), "understand"),
    **dict.fromkeys(("search", "cascade"), "search"),
    **dict.fromkeys(("rrf", "weighted_sum", "first", "best"), "fuse"),
    "nodes": "hop_0",
    "hops": "multi_hop",
    "reason": "reasoning",
}
"""The phase of a stage, by the stage's kind; every other stage is a phase of its own."""


def _phase_timings(steps: Sequence[Step], refinement: float | None) -> dict[str, float]:
    """Milliseconds per phase, in the order the phases ran; the refinement runs inside the hops and is subtracted."""
    timings: dict[str, float] = {}
    for step in steps:
        if step.signal is None:  # the time of a signal is part of its search
            phase = PHASES.get(step.stage, step.stage)
            timings[phase] = timings.get(phase, 0.0) + step.ms
    if refinement is not None:
        timings["refinement"] = refinement
        timings["multi_hop"] -= refinement
    return timings
