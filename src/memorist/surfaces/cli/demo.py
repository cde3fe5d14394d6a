"""The demo command: a short story, told with a real memory."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from shutil import rmtree, which
from statistics import median
from tempfile import TemporaryDirectory, mkdtemp
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

import memorist
from memorist.config import Config
from memorist.errors import InvalidInput, MissingService
from memorist.model import Recall, to_data
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.options import command, option
from memorist.surfaces.cli.output import count, one_line, print_explanation, progress, say, say_cut, size

if TYPE_CHECKING:
    from memorist.engine.engine import Engine


app = typer.Typer()
HOME = "alice.home"
WORK = "alice.work"


def _said(at: str, text: str, speaker: str = "Alice", **fields: Any) -> dict[str, Any]:
    return {"text": text, "at": at, "ingested_at": at, "speaker": speaker, **fields}


def _noted(at: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"text": text, "at": at, "ingested_at": at, "kind": "semantic", **fields}


TURNS: tuple[dict[str, Any], ...] = (
    _noted("2024-01-10", "Alice lives in Oslo.", key=HOME, importance=0.8),
    _noted("2024-01-10", "Alice takes photographs for the newspaper Nordlys.", key=WORK, importance=0.7),
    _said("2024-01-14", "My son Emil is allergic to hazelnuts, so never suggest pralines.", importance=0.9),
    _said("2024-01-22", "My sister Ingrid teaches the violin in Bergen."),
    _said("2024-02-02", "The plumber sent invoice INV-2024-0117 over 4,300 kroner."),
    _said("2024-02-09", "I have paid the plumber."),
    _said("2024-02-20", "Our cat Pixel came back through the cellar window after a night away!", emotion=4),
    _said("2024-03-03", "My passport runs out in September; remind me to renew it."),
    _said("2024-03-15", "Jonas and I run ten kilometres along the river every Sunday."),
    _said("2024-03-28", "A museum in Stockholm has asked me to photograph its collection."),
    _said("2024-04-11", "I signed with the museum; the newspaper gets my last picture in May."),
    _said("2024-04-19", "我最喜欢喝龙井茶，从来不喝咖啡。", speaker="林晓"),
    _said("2024-05-02", "The removal firm comes on the third of June at eight; Jonas has the keys."),
    _said("2024-05-17", "I left my tripod at Ingrid's."),
    _noted("2024-06-03", "Alice lives in Stockholm.", key=HOME, importance=0.8),
    _noted("2024-06-03", "Alice takes photographs for the Modern Museum.", key=WORK, importance=0.7),
    _said("2024-06-10", "The new flat is on the fourth floor, and the lift does not work."),
    _said("2024-06-21", "Emil starts school at Maria Square in August."),
    _said("2024-07-19", "I have taken up rowing on the lake."),
    _noted("2024-08-12", "To get the router going: unplug it, count to thirty, plug it in.", kind="procedural"),
    _said("2024-08-30", "The piano tuner, Mr Halvorsen, comes again in the autumn."),
)

QUESTIONS: tuple[tuple[str, str], ...] = (
    ("Is there anything my boy cannot eat?", "by meaning, not by words"),
    ("How do I repair the internet connection?", "by meaning, not by words"),
    ("INV-2024-0117", "by an exact number"),
    ("Where is my trippod?", "despite a typo"),
    ("林晓喜欢喝什么茶？", "in Chinese"),
)

THE_QUESTION = "Where does Alice live?"
BEFORE_THE_MOVE = "2024-03-01"


class Play:
    """The scenes, on one engine; records how long each recall took."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._ms: list[float] = []

    def remember(self, progress: Callable[[int], None]) -> dict[str, Any]:
        """Store the whole story."""
        started = perf_counter()
        kept = self._engine.remember_many(TURNS, progress=progress)
        return {
            "moments": [{"at": turn["at"], "text": turn["text"]} for turn in TURNS],
            "memories": len({memory.id for memory in kept}),
            "seconds": round(perf_counter() - started, 3),
        }

    def recall(self) -> list[dict[str, Any]]:
        """Ask a few questions, each difficult in its own way."""
        return [{"how": how, **self._ask(question)} for question, how in QUESTIONS]

    def context(self) -> dict[str, Any]:
        """Ask for the context that goes into a prompt."""
        found = self._engine.recall(THE_QUESTION, limit=3)
        self._ms.append(found.trace.total_ms)
        return {"query": found.query, "context": found.context, "tokens": found.tokens}

    def recipes(self) -> list[dict[str, Any]]:
        """Ask one question with every recipe."""
        return [self._ask_by(name) for name in self._engine.recipes]

    def time_travel(self) -> list[dict[str, Any]]:
        """Ask the same question before and after the answer changed."""
        return [{"as_of": moment, **self._ask(THE_QUESTION, as_of=moment)} for moment in (BEFORE_THE_MOVE, None)]

    def explain(self) -> dict[str, Any]:
        """Explain the first answer."""
        found = self._engine.recall(THE_QUESTION, track=False)
        return to_data(self._engine.explain(found, found.items[0].memory.id))

    def stats(self) -> dict[str, Any]:
        """Count the memories."""
        return to_data(self._engine.stats()) | {"ms_per_recall": round(median(self._ms), 3)}

    def _ask_by(self, recipe: str) -> dict[str, Any]:
        try:
            return {**self._ask(THE_QUESTION, recipe=recipe), "skipped": None}
        except MissingService as error:
            return {"query": THE_QUESTION, "recipe": recipe, "skipped": error.problem}

    def _ask(self, question: str, **options: Any) -> dict[str, Any]:
        found = self._engine.recall(question, **options)
        self._ms.append(found.trace.total_ms)
        return _summary(found)


def _summary(found: Recall) -> dict[str, Any]:
    return {
        "query": found.query,
        "recipe": found.recipe,
        "ms": round(found.trace.total_ms, 3),
        "tokens": found.tokens,
        "found": len(found.items),
        "first": to_data(found.items[0]) if found.items else None,
    }


MARGIN = 3


@command(app)
def demo(
    target: Target,
    as_json: bool,
    keep: Annotated[Path | None, option("FILE", "Keep the story in this file. Default: a temporary one.")] = None,
) -> Iterator[object]:
    """Play a short story with a real memory: remember, recall, travel in time, explain."""
    usual = Config()
    models, embedder = target.models or usual.models, target.embedder or usual.embedder
    with _place(keep, passing=as_json) as file:
        with memorist.open(
            file, space="demo", recipe=usual.recipe, models=models, embedder=embedder, config={}
        ) as engine:
            scenes = play_all(engine, quiet=as_json)
        yield scenes
    _print_next(file)


@contextmanager
def _place(keep: Path | None, *, passing: bool) -> Generator[Path]:
    """The file to play in: the one given, or a temporary one, which stays for a look at it unless it is `passing`."""
    if keep is not None:
        if keep.exists():
            raise InvalidInput(f"{keep} exists already", remedy="Name a new file; the story begins with an empty one.")
        yield keep
    elif passing:
        with TemporaryDirectory() as folder:
            yield Path(folder) / "demo.db"
    else:
        folder = mkdtemp(prefix="memorist-demo-")
        try:
            yield Path(folder) / "demo.db"
        except BaseException:
            rmtree(folder, ignore_errors=True)
            raise


def play_all(engine: memorist.Engine, *, quiet: bool) -> dict[str, Any]:
    """Run every scene; unless quiet, print each as it ends."""
    if not quiet:
        say("All of this runs now, on this machine, with real memories in a temporary file.")
    play, scenes = Play(engine), dict[str, Any]()
    for number, (name, title, show) in enumerate(SCENES, 1):
        if name == "remember":
            with progress("Remembering", lambda: len(TURNS), quiet=quiet) as more:
                scenes[name] = play.remember(more)
        else:
            scenes[name] = getattr(play, name)()
        if not quiet:
            say()
            say((f"{number}  {title}", "bold"))
            show(scenes[name])
    return scenes


def _print_remembered(scene: dict[str, Any]) -> None:
    moments = scene["moments"]
    for moment in moments[:4]:
        _row(moment["at"], moment["text"])
    say((f"… {len(moments) - 4} more, up to {moments[-1]['at']}", "dim"), indent=MARGIN)
    each = 1000 * scene["seconds"] / len(moments)
    say(f"{len(moments)} moments stored in {scene['seconds']:.2f} s, {each:.0f} ms each.", indent=MARGIN)


def _print_recalled(scene: list[dict[str, Any]]) -> None:
    for asked in scene:
        say((asked["query"], "bold cyan"), (f"  {asked['how']}", "dim"), indent=MARGIN)
        _print_first(asked)


def _print_context(scene: dict[str, Any]) -> None:
    say((scene["query"], "bold cyan"), (f"  {scene['tokens']} tokens", "dim"), indent=MARGIN)
    for line in scene["context"].splitlines():
        say_cut(" " * MARGIN, one_line(line))


def _print_recipes(scene: list[dict[str, Any]]) -> None:
    say((scene[0]["query"], "bold cyan"), indent=MARGIN)
    for asked in scene:
        name = (f"{asked['recipe']:<17}", "green")
        if asked["skipped"]:
            say_cut(" " * MARGIN, name, (one_line(asked["skipped"]), "dim"))
        else:
            text = one_line(asked["first"]["text"]) if asked["first"] else "nothing"
            say_cut(" " * MARGIN, name, text, (f"  {asked['ms']:.1f} ms", "dim"))


def _print_travelled(scene: list[dict[str, Any]]) -> None:
    for asked in scene:
        moment = f"as of {asked['as_of']}" if asked["as_of"] else "now"
        say((asked["query"], "bold cyan"), (f"  {moment}", "dim"), indent=MARGIN)
        _print_first(asked)


def _print_counted(scene: dict[str, Any]) -> None:
    parts = (
        count(scene["memories"], "memory", "memories"),
        count(scene["versions"], "earlier version", "earlier versions"),
        size(scene["bytes"]),
        f"{scene['ms_per_recall']:.1f} ms per recall",
    )
    say(" · ".join(parts), indent=MARGIN)
    say((f"vectors by {scene['embedding'] or 'no model'}", "dim"), indent=MARGIN)


def _print_first(asked: dict[str, Any]) -> None:
    first = asked["first"]
    if first is None:
        say("nothing", indent=MARGIN)
        return
    _row(first["valid_from"][:10], first["text"])
    found_by = " · ".join(f"{name} #{one['rank']}" for name, one in first["signals"].items())
    say((f"{found_by} · {asked['ms']:.1f} ms", "dim"), indent=MARGIN + 12)


def _row(day: str, text: str) -> None:
    say_cut(" " * MARGIN, (day, "dim"), "  ", one_line(text))


def _print_next(file: Path) -> None:
    say()
    say(("What next", "bold"))
    say("See why the first answer was first, in a browser:", indent=MARGIN)
    program = _program()
    say((f"{program} inspect {shlex.quote(str(file))} \\", "cyan"), indent=MARGIN)
    say((f'  --ask "{THE_QUESTION}"', "cyan"), indent=MARGIN)
    for words, what in (
        ('remember "…"', "store something of your own"),
        ('recall "…" --explain', "find it, and see why"),
        ("install claude-code", "give a coding agent a memory"),
        ("doctor", "check this installation"),
        ("--help", "everything else"),
    ):
        say((f"{program} {words:<22}", "cyan"), what, indent=MARGIN)
    say("In Python: ", ("import memorist; memory = memorist.open('agent.db')", "cyan"), indent=MARGIN)


def _program() -> str:
    """How this program is called: by its name, unless no shell would find it."""
    if which("memorist"):
        return "memorist"
    beside = Path(sys.executable).with_name("memorist")
    return shlex.quote(os.path.relpath(beside)) if beside.exists() else f"{shlex.quote(sys.executable)} -m memorist"


SCENES = (
    ("remember", "Remember what Alice tells her assistant", _print_remembered),
    ("recall", "Recall", _print_recalled),
    ("context", "Put it into a prompt", _print_context),
    ("recipes", "Ask with every recipe", _print_recipes),
    ("time_travel", "Travel in time", _print_travelled),
    ("explain", "Explain the first answer", partial(print_explanation, indent=MARGIN)),
    ("stats", "Count", _print_counted),
)
