"""Settings: defaults < file < environment < arguments, from one table."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from memorist.errors import InvalidInput

FILE_NAME = "memorist.toml"


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that can be set: as a key of the file, or as `MEMORIST_<NAME>` in the environment."""

    name: str
    default: str | int | None
    meaning: str

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"MEMORIST_{self.name.upper()}"

    @property
    def kind(self) -> type[str] | type[int]:
        """What its values are."""
        return int if isinstance(self.default, int) else str


SETTINGS = (
    Setting("db", None, "Where memories are kept: a file, or a folder with one file a space."),
    Setting("space", None, "The space to open."),
    Setting("recipe", "memorist", "The recipe that recalls unless a call names another."),
    Setting(
        "embedder",
        "local",
        "Who turns texts into vectors: local, ollama:MODEL, openai:MODEL, onnx:FOLDER, none …",
    ),
    Setting(
        "reranker",
        "auto",
        "Who rereads the best candidates: auto (the recipe decides; none does yet), none, local, jina, voyage …",
    ),
    Setting("extract", "rules", "What texts are read for: rules (facts), spacy (its model finds names too), off."),
    Setting("llm", None, "The language model, if any."),
    Setting("llm_calls", 12, "How many calls of language models one recall may make."),
    Setting("llm_tokens", 60_000, "How many tokens, read and written, those calls may take together."),
    Setting("extraction_calls", 40, "How many calls one extraction may make, such as that of a session."),
    Setting("extraction_tokens", 400_000, "How many tokens those calls may take together."),
    Setting("profile", None, "The extraction profile: coding, research, customer-support, or one of your own."),
    Setting("session_idle", 30, "Minutes without a step after which a session is committed."),
    Setting("notes_dir", None, "The folder that notes are written to; if left out, the database's name + .notes."),
    Setting("notice_text", 0, "1 to let notices carry what memories and queries say."),
    Setting("secrets", "mask", "What becomes of secrets in a text: mask, refuse or keep."),
    Setting("duplicates", "skip", "What becomes of a text that repeats a memory: skip or keep."),
    Setting("loops", "skip", "What becomes of recalled context that comes back: skip, mark or keep."),
    Setting("noise", "mark", "What becomes of greetings and other texts that say nothing: mark, skip or keep."),
    Setting("instructions", "mark", "What becomes of text that gives orders to the model: mark, refuse or keep."),
    Setting("longest_text", 0, "How many characters a text may have; 0 leaves only the store's limit, 16 MiB."),
)
TABLES = {
    "embedder_options": "Options of a remote embedder: url, key_env, dim, timeout, batch.",
    "llm_options": "Options of language models: url, key_env, timeout, max_tokens, temperature, retries, concurrency.",
    "llm_steps": "Another language model for single steps, by step: mode, tags, reason, facts …",
    "profiles": "Your own extraction profiles, by name: context, overlays by step, values by kind, function.",
    "recipes": "Your own recipes, by name: a base and what to set in it, or a list of stages.",
}


@dataclass(frozen=True, slots=True)
class Config:
    """All settings, resolved."""

    db: str | None = None
    space: str | None = None
    recipe: str = "memorist"
    embedder: str = "local"
    reranker: str = "auto"
    extract: str = "rules"
    llm: str | None = None
    llm_calls: int = 12
    llm_tokens: int = 60_000
    extraction_calls: int = 40
    extraction_tokens: int = 400_000
    profile: str | None = None
    session_idle: int = 30
    notes_dir: str | None = None
    notice_text: int = 0
    secrets: str = "mask"
    duplicates: str = "skip"
    loops: str = "skip"
    noise: str = "mark"
    instructions: str = "mark"
    longest_text: int = 0
    embedder_options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    llm_options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    llm_steps: Mapping[str, str] = field(default_factory=dict[str, str])
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])


def load(config: str | Path | Mapping[str, Any] | None = None, **arguments: str | None) -> Config:
    """The settings in force; `config` is a file or a mapping to use instead of the file that is found."""
    values: dict[str, Any] = {setting.name: setting.default for setting in SETTINGS}
    values |= _checked(config, "config") if isinstance(config, Mapping) else _from_file(config)
    values |= {s.name: _from_environment(s) for s in SETTINGS if os.environ.get(s.variable)}
    values |= {name: value for name, value in arguments.items() if value is not None}
    return Config(**values)


def find_file() -> Path | None:
    """The file in the working folder or above it, else the user's own."""
    here = Path.cwd()
    from platformdirs import user_config_path

    places = [folder / FILE_NAME for folder in (here, *here.parents)]
    return next((place for place in (*places, user_config_path("memorist") / FILE_NAME) if place.is_file()), None)


def default_db() -> Path:
    """The platform's folder for a user's data."""
    from platformdirs import user_data_path

    return user_data_path("memorist")


def _from_file(path: str | Path | None) -> dict[str, Any]:
    file = Path(path) if path is not None else find_file()
    if file is None:
        return {}
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}", remedy="Give the path of a TOML file.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} is not TOML: {error}", remedy="Correct that line.") from None
    return _anchored(_checked(data, str(file)), file.parent)


def _from_environment(setting: Setting) -> str | int:
    text = os.environ[setting.variable]
    if setting.kind is str:
        return text
    try:
        return _counted(int(text), setting.variable)
    except ValueError:
        return _counted(text, setting.variable)


def _checked(data: Mapping[str, Any], where: str) -> dict[str, Any]:
    known = {setting.name: setting.kind for setting in SETTINGS}
    for name, value in data.items():
        if name not in known and name not in TABLES:
            raise InvalidInput(
                f"{where} sets {name!r}, which is unknown", remedy=f"Known: {', '.join([*known, *TABLES])}."
            )
        if known.get(name) is int:
            _counted(value, f"{where}: {name}")
        elif not isinstance(value, Mapping if name in TABLES else str):
            raise InvalidInput(
                f"{where}: {name} is {value!r}",
                remedy=f"Make it a {'table' if name in TABLES else 'string'}.",
            )
    if steps := data.get("llm_steps"):
        _require_names(steps, where)
    return dict(data)


def _counted(value: object, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidInput(f"{what} is {value!r}", remedy="Make it a whole number, at least 0.")
    return value


def _require_names(steps: Mapping[str, object], where: str) -> None:
    for step, model in steps.items():
        if not isinstance(model, str):
            raise InvalidInput(f"{where}: llm_steps.{step} is {model!r}", remedy="Name a model, as llm does.")


def _anchored(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A relative path in a file is relative to that file, wherever the program runs."""
    if (notes := cast("str | None", data.get("notes_dir"))) is not None:
        data["notes_dir"] = str(folder / Path(notes).expanduser())
    db = cast("str | None", data.get("db"))
    if db is not None and "://" not in db and db != ":memory:":
        slash = "/" if db.endswith("/") else ""
        data["db"] = str(folder / Path(db).expanduser()) + slash
    return data
