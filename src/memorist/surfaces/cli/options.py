"""Every option of the commands, defined once: names come from the verbs' keywords, sentences from here."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Annotated, Any

import typer

from memorist.config import SETTINGS
from memorist.model import Kind, RecallRequest, Tier, Verbosity, Worth
from memorist.surfaces.cli.keywords import json_object

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.", rich_help_panel="Output")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
MemoryId = Annotated[
    str, typer.Argument(metavar="ID", help="The memory's id, or the beginning of it.", show_default=False)
]


def recipe_names() -> list[str]:
    """The recipes that ship, by their files: completion must be fast, and importing them loads numpy."""
    package = find_spec("memorist.recall.recipes")
    folders = package.submodule_search_locations if package is not None else None
    return [module.name.replace("_", "-") for module in iter_modules(folders)] if folders else []


def setting(name: str) -> Any:
    """The option for a setting, which may also come from the environment or a file."""
    one = next(one for one in SETTINGS if one.name == name)
    return typer.Option(f"--{name}", metavar=name.upper(), help=f"{one.meaning} Also {one.variable}.")


def _option(panel: str, kind: Any, metavar: str | None, help: str, *names: str, **more: Any) -> Any:
    default = more.pop("default", None)
    sentence = help if default is None else f"{help} Default: {default}."
    info = typer.Option(*names, metavar=metavar, help=sentence, rich_help_panel=panel, show_default=False, **more)
    return Annotated[kind, info]


_what, _when, _worth, _whence, _which, _how = (
    partial(_option, panel)
    for panel in (
        "What it is",
        "When",
        "What it is worth",
        "Where it comes from",
        "Which memories",
        "How to search",
    )
)
_kinds, _tiers = ", ".join(Kind), ", ".join(Tier)
_usual, _asked = Worth(), RecallRequest.__dataclass_fields__

REMEMBER = {
    "at": _when(str, "WHEN", "When it was said or happened.", default="now"),
    "ingested_at": _when(str, "WHEN", "When it became known.", default="now"),
    "expires_at": _when(str, "WHEN", "When it stops being true."),
    "kind": _what(Kind, "KIND", f"What sort of thing it is: {_kinds}.", default=Kind.EPISODIC),
    "scope": _what(str, "LABEL", "Whom or what it concerns, such as user:ann.", default="global"),
    "topic": _what(str, "TEXT", "What it is about."),
    "tier": _what(Tier, "TIER", f"How close to the centre of attention it lives: {_tiers}.", default=Tier.WORKING),
    "keywords": _what(list[str], "TEXT", "A word to find it by as well; may be repeated."),
    "original": _what(str, "TEXT", "What was said, if TEXT is a translation of it."),
    "key": _what(str, "TEXT", "A name for it; another text under the same name is its new version."),
    "metadata": _what(
        dict[str, Any], "JSON", "Anything else, as a JSON object; kept, not searched.", parser=json_object
    ),
    "importance": _worth(float, "NUMBER", "How much it matters, 0 to 1.", default=_usual.importance),
    "confidence": _worth(float, "NUMBER", "How sure it is, 0 to 1.", default=_usual.confidence),
    "salience": _worth(float, "NUMBER", "How much it stands out, 0 to 1.", default=_usual.salience),
    "trust": _worth(
        int, "NUMBER", "Who says it: 3 owner, 2 the agent itself, 1 peer, 0 untrusted.", default=_usual.trust
    ),
    "credibility": _worth(
        int, "NUMBER", "How credible it is, 1 best to 5; 6 cannot be judged.", default=_usual.credibility
    ),
    "classification": _worth(
        int, "NUMBER", "How secret it is, 0 to 3; recall shows up to 2.", default=_usual.classification
    ),
    "emotion": _worth(float, "NUMBER", "How it felt, -5 to 5.", default=_usual.emotion),
    "emotion_tags": _worth(list[str], "TEXT", "A word for how it felt; may be repeated."),
    "flags": _worth(list[str], "TEXT", "A mark of your own; may be repeated."),
    "source": _whence(str, "TEXT", "The file, page or person it comes from."),
    "session": _whence(str, "NAME", "The conversation or run it belongs to."),
    "position": _whence(int, "NUMBER", "Its place in that session."),
    "speaker": _whence(str, "NAME", "Who said it."),
}

RELATE = {
    "text": _what(str, "TEXT", "The fact in words.", default="made of its parts"),
    "scope": REMEMBER["scope"],
    "source": REMEMBER["source"],
    "valid_from": _when(str, "WHEN", "When it became true.", default="now"),
    "valid_to": _when(str, "WHEN", "When it stopped being true."),
    "ingested_at": REMEMBER["ingested_at"],
}

FILTERS = {
    "scope": _which(list[str], "LABEL", "Those of this scope; may be repeated."),
    "kinds": _which(list[Kind], "KIND", f"Those of this kind, one of {_kinds}; may be repeated."),
    "topic": _which(str, "TEXT", "Those about this topic."),
    "tier": _which(Tier, "TIER", f"Those of this tier: {_tiers}."),
    "since": _which(str, "WHEN", "Those said or true from this moment on, such as 2024-06-03."),
    "until": _which(str, "WHEN", "Those said or true up to this moment."),
    "as_of": _which(str, "WHEN", "Those that were true at this moment."),
    "known_at": _which(str, "WHEN", "Those that were known at this moment."),
    "include_expired": _which(bool, None, "Those no longer true as well.", "--include-expired"),
    "max_classification": _which(int, "NUMBER", "Those no more secret than this, 0 to 3."),
}

RECALL = FILTERS | {
    "limit": _how(int, "NUMBER", "The most memories to find.", default=_asked["limit"].default),
    "recipe": _how(str, "NAME", "The recipe to search by.", autocompletion=recipe_names),
    "entity_hints": _how(list[str], "NAME", "Somebody or something it is about; may be repeated."),
    "session": _how(str, "NAME", "The session that asks; what it was shown already is left out."),
    "repeat": _how(bool, None, "Do not leave that out.", "--repeat"),
    "situation": _how(
        dict[str, Any], "JSON", 'The moment of asking: {"hour", "weekday", "topic"}.', parser=json_object
    ),
    "translated": _how(bool, None, "The question was translated into English already.", "--translated"),
    "max_tokens": _how(int, "NUMBER", "The longest context, in tokens.", default="the recipe's"),
    "track": _how(
        bool, None, "Count this recall in the usage of what it finds.", "--track/--no-track", default="track"
    ),
    "verbosity": _how(
        Verbosity,
        "LEVEL",
        "Whether the JSON holds touched memories: summary or detailed.",
        default=_asked["verbosity"].default,
    ),
}
