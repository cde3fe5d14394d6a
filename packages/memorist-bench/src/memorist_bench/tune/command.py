"""The tune command: fit a recipe's numbers to feedback and judged questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.options import command, flag, option, recipe_names
from memorist.surfaces.cli.output import count, one_line, progress, say, say_table

if TYPE_CHECKING:
    from memorist_bench.tune.run import Tuned


app = typer.Typer()


@command(app)
def tune(
    target: Target,
    as_json: bool,
    recipe: Annotated[
        str | None,
        option("NAME", "The recipe to tune. Default: the configured one.", autocompletion=recipe_names),
    ] = None,
    questions: Annotated[
        list[Path] | None,
        option("FILE", "Judged questions, in a form that bench reads or without memories; may be repeated."),
    ] = None,
    seed: Annotated[int | None, option("NUMBER", "Another seed for the search and the folds.", min=0)] = None,
    apply: Annotated[bool, flag("--apply", "Write the change; without it, it is only shown.")] = False,
    undo: Annotated[bool, flag("--undo", "Restore the settings file as it was before the last change.")] = False,
) -> Iterator[object]:
    """Fit a recipe's numbers to feedback and judged questions. A dry run unless --apply is given.

    The evidence is the feedback on recalls in this memory, and the files given with --questions. Numbers change only if
    questions that the fit has not seen are answered better, beyond chance.
    """
    settings = target.settings()
    if undo:
        yield from _undo(recipe or settings.recipe, target.config)
        return
    from memorist_bench.tune.run import tune as run
    from memorist_bench.tune.search import SEED

    with progress("Tuning", lambda: None, quiet=as_json) as more:
        tuned = run(
            settings,
            recipe=recipe,
            questions=questions or (),
            file=target.config,
            apply=apply,
            seed=SEED if seed is None else seed,
            progress=more,
        )
    yield _as_data(tuned)
    _print(tuned)


def _undo(recipe: str, given: str | None) -> Iterator[object]:
    from memorist_bench.tune.settings_file import file_for, undo

    file = undo(file_for(recipe, given))
    yield {"file": str(file), "undone": True}
    say(("✓ ", "green"), f"{one_line(str(file))} is as it was before.")


def _as_data(tuned: Tuned) -> dict[str, Any]:
    verdict = tuned.verdict
    return {
        "recipe": tuned.recipe,
        "questions": verdict.questions,
        "sources": dict(tuned.sources),
        "measure": tuned.measure,
        "now": verdict.now,
        "gain": {"mean": verdict.gain.mean, "low": verdict.gain.low, "high": verdict.gain.high, "p": verdict.p},
        "better": verdict.better,
        "worse": verdict.worse,
        "fitted_gain": verdict.fitted,
        "trials": verdict.trials,
        "changes": [{"number": change.number, "from": change.before, "to": change.after} for change in tuned.changes],
        "file": None if tuned.edit is None else str(tuned.edit.file),
        "diff": None if tuned.edit is None else tuned.edit.diff(),
        "applied": tuned.applied,
    }


def _p(value: float) -> str:
    return f"p = {value:.3f}" if value >= 0.001 else "p < 0.001"


def _print(tuned: Tuned) -> None:
    verdict, gain = tuned.verdict, tuned.verdict.gain
    sources = ", ".join(f"{number:,} from {one_line(name)}" for name, number in tuned.sources.items() if number)
    say(f"{count(verdict.questions, 'judged question', 'judged questions')}: {sources}.")
    say(f"nDCG@10 of recipe {one_line(tuned.recipe)} now: {verdict.now:.3f}.")
    say(
        f"Gain on questions that the fit has not seen: {gain.mean:+.3f} "
        f"({gain.low:+.3f} to {gain.high:+.3f}, {_p(verdict.p)}; "
        f"{verdict.better:,} better, {verdict.worse:,} worse)."
    )
    if tuned.edit is None:
        say(("No change: ", "bold"), "the gain is within chance.")
        return
    say_table(
        (((change.number, "bold"), f"{change.before:g} → {change.after:g}") for change in tuned.changes),
        indent=2,
    )
    for line in tuned.edit.diff().splitlines():
        say((line, {"+": "green", "-": "red"}.get(line[:1], "dim")))
    if tuned.applied:
        say(("✓ ", "green"), "Written. To undo: memorist tune --undo")
    else:
        say("--apply writes this.")
