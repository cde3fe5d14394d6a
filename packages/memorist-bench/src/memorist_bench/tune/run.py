"""One run: gather the evidence, record its signals, search, decide, and show or make the change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memorist.config import Config
from memorist.errors import InvalidInput
from memorist.ports import Progress
from memorist.profiles import find_profile, with_profile
from memorist.recall.pipeline import Pipeline
from memorist.recall.recipes import RECIPES, custom_recipes
from memorist_bench.tune.evidence import JudgedQuestions, gather_questions
from memorist_bench.tune.numbers import Number, Steps, as_settings, first_moved, move_numbers, numbers_of
from memorist_bench.tune.replay import MEASURE, Replay
from memorist_bench.tune.search import SEED, CrossValidation, Floats, Trials, check_enough, decide
from memorist_bench.tune.settings_file import Edit, content, edit, file_for


@dataclass(frozen=True, slots=True)
class TunedNumber:
    """A number that moves."""

    number: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Tuned:
    """The result of a run. Without a change, `changes` and `settings` are empty and there is no edit."""

    recipe: str
    sources: Mapping[str, int]
    verdict: CrossValidation
    changes: tuple[TunedNumber, ...]
    settings: Mapping[str, Any]
    edit: Edit | None
    applied: bool = False
    measure: str = MEASURE


def tune(
    config: Config,
    *,
    recipe: str | None = None,
    questions: Sequence[Path] = (),
    file: str | None = None,
    apply: bool = False,
    seed: int = SEED,
    progress: Progress | None = None,
) -> Tuned:
    """Fit the numbers of a recipe to feedback and judged questions; with `apply`, write them to the settings file.

    `file` is the settings file to change instead of the one found. `progress` counts questions asked and trials run.
    """
    name = recipe or config.recipe
    pipeline = _recipe(name, config)
    numbers = numbers_of(pipeline)
    target = file_for(name, file)
    before = content(target)
    plain = replace(config, llm=None, llm_steps={})
    with gather_questions(plain, pipeline, questions, datetime.now(UTC)) as evidence:
        check_enough(len(evidence.questions))
        verdict = _verdict(pipeline, numbers, evidence, seed, progress or _silent)
    settings = as_settings(pipeline, numbers, verdict.steps)
    tuned = Tuned(
        recipe=name,
        sources=evidence.sources,
        verdict=verdict,
        changes=_changes(numbers, verdict.steps),
        settings=settings,
        edit=edit(target, before, name, settings) if settings else None,
    )
    if not apply or tuned.edit is None:
        return tuned
    tuned.edit.apply()
    return replace(tuned, applied=True)


def _recipe(name: str, config: Config) -> Pipeline:
    known = {**RECIPES, **custom_recipes(config.recipes, shipped_parts=config.untrusted_recipes)}
    if name not in known:
        raise InvalidInput(f"There is no recipe {name!r}", remedy=f"Choose one of {', '.join(known)}.")
    return with_profile(known[name], find_profile(config.profile, config.profiles))


def _verdict(
    recipe: Pipeline, numbers: Sequence[Number], evidence: JudgedQuestions, seed: int, tell: Progress
) -> CrossValidation:
    replay = Replay(recipe, first_moved(recipe, numbers))
    for asked in evidence.questions:
        replay.record(asked)
        tell(1)

    def run(steps: Steps) -> Floats:
        tell(1)
        return replay.figures(move_numbers(recipe, numbers, steps))

    return decide(Trials(run, len(numbers)), len(evidence.questions), seed)


def _silent(_more: int) -> None:
    pass


def _changes(numbers: Sequence[Number], steps: Steps) -> tuple[TunedNumber, ...]:
    return tuple(
        TunedNumber(number.label, number.value, number.at(step))
        for number, step in zip(numbers, steps, strict=True)
        if step
    )
