"""The steps a model can do, and the instructions of each: files beside this one, the same for every vendor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from memorist.errors import InvalidInput

STEPS = (
    "mode",
    "tags",
    "expand",
    "bridge",
    "reason",
    "annotate",
    "propositions",
    "instructions",
    "facts",
    "note",
)


def system_message(step: str, context: str = "", overlays: Mapping[str, str] | None = None) -> str:
    """A step's instructions, what holds for every step, and what a profile adds to them."""
    overlay = (overlays or {}).get(step, "")
    added = [f"# {title}\n\n{text.strip()}" for title, text in (("Domain", context), ("In addition", overlay)) if text]
    return "\n\n".join([prompt(step), *added, prompt("fence")])


@cache
def prompt(name: str) -> str:
    """The text of a prompt file."""
    from importlib.resources import files

    return (files("memorist.asking") / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip()


def require_steps(names: Iterable[str], where: str) -> None:
    """Refuse a step that does not exist."""
    for name in names:
        if name not in STEPS:
            raise InvalidInput(f"{where} names a step {name!r}, which is unknown", remedy=f"Known: {', '.join(STEPS)}.")
