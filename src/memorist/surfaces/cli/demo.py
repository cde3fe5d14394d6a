"""The command that shows what this is: a small story, remembered, recalled and explained."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

import memorist
from memorist.config import Config
from memorist.surfaces.cli.lines import count, size
from memorist.surfaces.cli.options import Json
from memorist.surfaces.cli.output import one_line, print_json, progress, say, say_cut
from memorist.surfaces.cli.target import target

MARGIN = 3


def demo(context: typer.Context, as_json: Json = False) -> None:
    """Play a small real story: remember, recall, travel in time, explain."""
    usual = Config()
    embedder = target(context).embedder or usual.embedder
    with TemporaryDirectory() as folder:
        file = Path(folder) / "demo.db"
        with memorist.open(file, space="demo", recipe=usual.recipe, embedder=embedder, config={}) as engine:
            scenes = play_all(engine, quiet=as_json)
    if as_json:
        print_json(scenes)
    else:
        _print_next()


def play_all(engine: memorist.Engine, *, quiet: bool) -> dict[str, Any]:
    """Run every scene, printing each as it ends unless quiet."""
    from memorist.surfaces.cli.play import Play
    from memorist.surfaces.cli.story import TURNS

    if not quiet:
        say("All of this happens now, on this machine: real memories in a temporary file.")
    play, scenes = Play(engine), dict[str, Any]()
    for number, (name, title, show) in enumerate(SCENES, 1):
        if name == "remember":
            with progress("Remembering", len(TURNS), quiet=quiet) as more:
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
    say(f"{len(moments)} moments kept in {scene['seconds']:.2f} s, {each:.0f} ms each.", indent=MARGIN)


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


def _print_explained(scene: dict[str, Any], indent: int = MARGIN) -> None:
    value = "" if scene["value"] is None else f"{scene['value']:.4g}  "
    say((value, "green"), one_line(scene["description"]), indent=indent)
    for detail in scene["details"]:
        _print_explained(detail, indent + 2)


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


def _print_next() -> None:
    say()
    say(("What next", "bold"))
    for command, what in (
        ('memorist remember "…"', "keep something of your own"),
        ('memorist recall "…" --explain', "find it, and see why"),
        ("memorist recipes", "the ways of searching, to change at will"),
        ("memorist doctor", "check this installation"),
        ("memorist --help", "everything else"),
    ):
        say((f"{command:<32}", "cyan"), what, indent=MARGIN)
    say("In Python: ", ("import memorist; memory = memorist.open('agent.db')", "cyan"), indent=MARGIN)


SCENES = (
    ("remember", "Remember what Alice tells her assistant", _print_remembered),
    ("recall", "Recall", _print_recalled),
    ("context", "Put into a prompt", _print_context),
    ("recipes", "One question by every recipe", _print_recipes),
    ("time_travel", "Travel in time", _print_travelled),
    ("explain", "Explain the first answer", _print_explained),
    ("stats", "Count", _print_counted),
)
