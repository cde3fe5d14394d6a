"""Settings from one table. Precedence: defaults < file < environment < arguments."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, cast, get_type_hints

from memorist.errors import InvalidInput
from memorist.validate import validated

FILE_NAME = "memorist.toml"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: a key of the settings file, or `MEMORIST_<NAME>` in the environment."""

    name: str
    default: str | int | None
    meaning: str

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"MEMORIST_{self.name.upper()}"

    @property
    def kind(self) -> type[str] | type[int]:
        """The type of its values."""
        return int if isinstance(self.default, int) else str


T = TypeVar("T")


def _setting(default: T, meaning: str) -> T:
    return field(default=default, metadata={"meaning": meaning})


def _table(meaning: str) -> Mapping[str, Any]:
    return field(default_factory=dict[str, Any], metadata={"meaning": meaning})


@dataclass(frozen=True, slots=True)
class Config:
    """All settings, resolved. Every field is a setting, and the fields of mapping type are tables of the file."""

    db: str | None = _setting(None, "The database: a file, a folder with one file per space, or a PostgreSQL URL.")
    space: str | None = _setting(None, "The space to open.")
    recipe: str = _setting("memorist", "The default recipe; a call can name another.")
    embedder: str = _setting(
        "local", "The embedder: local, local:NAME, onnx:FOLDER, ollama:MODEL, openai:MODEL or another vendor, or none."
    )
    reranker: str = _setting(
        "auto",
        "The reranker: auto (the packaged one, if the recipe uses it), local, a service such as jina, or none.",
    )
    extract: str = _setting(
        "rules", "How facts are extracted: rules, spacy (also finds names with a spaCy model), or off."
    )
    llm: str | None = _setting(None, "The language model, such as ollama:llama3.2; optional.")
    llm_calls: int = _setting(12, "The maximum number of language model calls per recall.")
    llm_tokens: int = _setting(60_000, "The maximum number of input and output tokens of these calls together.")
    extraction_calls: int = _setting(
        40, "The maximum number of language model calls per extraction, for instance from a session."
    )
    extraction_tokens: int = _setting(400_000, "The maximum number of input and output tokens of these calls together.")
    profile: str | None = _setting(None, "The extraction profile: coding, research, customer-support, or your own.")
    session_idle: int = _setting(30, "A session is committed after this many minutes without a step.")
    notes_dir: str | None = _setting(None, "The folder for notes; by default the name of the database + .notes.")
    notice_text: int = _setting(0, "1 to include the text of memories and queries in notices.")
    secrets: str = _setting("mask", "What to do with secrets in a text: mask, refuse or keep.")
    duplicates: str = _setting("skip", "What to do with a text that a memory has already: skip or keep.")
    loops: str = _setting(
        "skip", "What to do with recalled context that is sent back to be remembered: skip, mark or keep."
    )
    noise: str = _setting("mark", "What to do with greetings and other texts without content: mark, skip or keep.")
    instructions: str = _setting(
        "mark", "What to do with text that gives instructions to the model: mark, refuse or keep."
    )
    longest_text: int = _setting(0, "The maximum number of characters of a text; 0 for the limit of the store, 16 MiB.")
    embedder_options: Mapping[str, Any] = _table("Options of a remote embedder: url, key_env, dim, timeout, batch.")
    llm_options: Mapping[str, Any] = _table(
        "Options of language models: url, key_env, timeout, max_tokens, temperature, retries, concurrency."
    )
    llm_steps: Mapping[str, str] = _table(
        "Other language models for single steps (mode, tags, reason, facts, …); none for the rules."
    )
    profiles: Mapping[str, Mapping[str, Any]] = _table(
        "Your own extraction profiles by name: context, overlays per step, values per kind, function."
    )
    recipes: Mapping[str, Mapping[str, Any]] = _table(
        "Your own recipes by name: a base and parameters to set, or a list of stages."
    )


SETTINGS = tuple(
    Setting(one.name, one.default, one.metadata["meaning"]) for one in fields(Config) if one.default is not MISSING
)
TABLES = {one.name: str(one.metadata["meaning"]) for one in fields(Config) if one.default is MISSING}


def load(config: str | Path | Mapping[str, Any] | None = None, **arguments: str | None) -> Config:
    """The effective settings. `config` is a file, or a mapping, to use instead of the file found."""
    values = _checked(config, "config") if isinstance(config, Mapping) else _from_file(config)
    values |= {s.name: _from_environment(s) for s in SETTINGS if os.environ.get(s.variable)}
    values |= {name: value for name, value in arguments.items() if value is not None}
    return Config(**values)


def find_file() -> Path | None:
    """The settings file in the working folder or a parent folder, else the user's own."""
    here = Path.cwd()
    from platformdirs import user_config_path

    places = [folder / FILE_NAME for folder in (here, *here.parents)]
    return next((place for place in (*places, user_config_path("memorist") / FILE_NAME) if place.is_file()), None)


def default_db() -> Path:
    """The platform's folder for user data."""
    from platformdirs import user_data_path

    return user_data_path("memorist")


def _from_file(path: str | Path | None) -> dict[str, Any]:
    file = Path(path) if path is not None else find_file()
    if file is None:
        return {}
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}", remedy="Pass the path of a TOML file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} is not TOML: {error}", remedy="Correct that line.") from None
    values = _checked(data, str(file))
    if "notes_dir" in values:
        values["notes_dir"] = str(file.parent / Path(values["notes_dir"]).expanduser())
    if "db" in values:
        values["db"] = anchored(values["db"], file.parent)
    return values


def _from_environment(setting: Setting) -> str | int:
    text = os.environ[setting.variable]
    if setting.kind is str:
        return text
    return _not_negative(int(text) if text.removeprefix("-").isdecimal() else text, setting.variable)


def _checked(data: Mapping[str, Any], where: str) -> dict[str, Any]:
    hints = get_type_hints(Config)
    for name in data:
        if name not in hints:
            raise InvalidInput(f"Unknown setting in {where}: {name!r}", remedy=f"Known settings: {', '.join(hints)}.")
    places = {name: f"{where}: {name}" for name in data}
    return {
        name: _not_negative(value, places[name]) if hints[name] is int else validated(value, hints[name], places[name])
        for name, value in data.items()
    }


def _not_negative(value: object, where: str) -> int:
    if validated(value, int, where) < 0:
        raise InvalidInput(f"{where} is {value!r}", remedy="It must be a whole number of at least 0.")
    return cast("int", value)


def anchored(db: str, folder: Path) -> str:
    """A database with a relative path resolved against a folder; a URL stays as it is."""
    if "://" in db or db == ":memory:":
        return db
    return f"{folder / Path(db).expanduser()}{'/' if db.endswith('/') else ''}"
