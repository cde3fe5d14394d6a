"""Options shared by commands, and the memory they open."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

import memorist
from memorist import config
from memorist.config import SETTINGS
from memorist.errors import InvalidInput, NotFound
from memorist.model import Kind, Memory, RecallRequest, Tier, Verbosity, Worth
from memorist.recall.request import Filters

if TYPE_CHECKING:
    from memorist.engine.engine import Engine


Command = Callable[..., None]


def taking(options: Mapping[str, Any]) -> Callable[[Command], Command]:
    """Give a command with `**keywords` the options of a verb; it receives those that were given."""
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
        for name, option in options.items()
    ]

    def extend(command: Command) -> Command:
        own = [
            parameter
            for parameter in inspect.signature(command, eval_str=True).parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]

        @wraps(command)
        def run(**given: Any) -> None:
            absent = {one.name for one in added if given[one.name] is None or given[one.name] == []}
            command(**{name: value for name, value in given.items() if name not in absent})

        parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*own, *added)]
        run.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]  # read by Typer
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return extend


def json_object(text: str) -> dict[str, Any]:
    """An option's value that is a JSON object."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"it is not JSON: {error}.") from None
    if not isinstance(value, dict):
        raise typer.BadParameter('it is not a JSON object, such as {"name": "value"}.')
    return cast("dict[str, Any]", value)


Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.", rich_help_panel="Output")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
MemoryId = Annotated[
    str, typer.Argument(metavar="ID", help="The memory's id, or the beginning of it.", show_default=False)
]


def recipe_names() -> list[str]:
    """The recipes that ship, written out: completion must be fast, and importing them loads numpy."""
    return ["memorist", "mnemosyne-graph", "mnemo", "memoria", "abmind", "mnemosyne-hybrid"]


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


EVERYTHING: Filters = {
    "as_of": "9999-12-31",
    "known_at": "9999-12-31",
    "include_expired": True,
    "max_classification": 3,
}
"""What `list` has to be told to leave nothing out."""
SHORTEST_ID = 4


@dataclass(frozen=True, slots=True)
class Target:
    """The memory to open; what is None comes from the environment or a file."""

    db: str | None = None
    space: str | None = None
    embedder: str | None = None
    config: str | None = None

    def open(self) -> Engine:
        """Open it."""
        return memorist.open(self.db, space=self.space, embedder=self.embedder, config=self.config)

    def settings(self) -> config.Config:
        """The settings it is opened with."""
        return config.load(self.config, db=self.db, space=self.space, embedder=self.embedder)


def target(context: typer.Context) -> Target:
    """The target of the running command."""
    return cast("Target", context.obj)


def opened(context: typer.Context) -> Engine:
    """The memory the running command works on."""
    return target(context).open()


def chosen(engine: Engine, filters: Filters) -> Iterator[Memory]:
    """All memories that `forget` would choose by these filters."""
    cursor = None
    while True:
        page = engine.list(1000, cursor, **{**EVERYTHING, **filters})
        yield from page.items
        if (cursor := page.cursor) is None:
            return


def memory_called(engine: Engine, id: str) -> Memory:
    """The memory with an id, or the only one whose id begins like that."""
    if memory := engine.get(id):
        return memory
    alike = (memory for memory in chosen(engine, {}) if memory.id.startswith(id))
    found = list(islice(alike, 2)) if len(id) >= SHORTEST_ID else []
    if not found:
        raise NotFound(f"There is no memory {id!r}", remedy="Look it up with `memorist list`.")
    if len(found) > 1:
        raise InvalidInput(f"Several ids begin with {id!r}", remedy="Give more of it.")
    return found[0]
