"""Settings from one table. Precedence: defaults < the user's file < the project's file < environment < arguments.

A file that lies in the working folder or a parent may come from anybody. Until the user trusts it, each setting says
whether such a file may set it.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, get_type_hints

from memorist import trust
from memorist.errors import InvalidInput, without_passwords
from memorist.validate import validate

FILE_NAME = "memorist.toml"
LARGEST_FILE = 1024 * 1024

Rule = Literal["no", "yes", "lower", "inside"]
"""Whether an untrusted file may set it: no; yes; a limit no higher than the user's; a path inside its own folder."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: a key of the settings file, or `MEMORIST_<NAME>` in the environment."""

    name: str
    default: str | int | None
    meaning: str
    untrusted: Rule = "no"

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"MEMORIST_{self.name.upper()}"

    @property
    def kind(self) -> type[str] | type[int]:
        """The type of its values."""
        return int if isinstance(self.default, int) else str


T = TypeVar("T")


def _setting(default: T, meaning: str, untrusted: Rule = "no") -> T:
    return field(default=default, metadata={"meaning": meaning, "untrusted": untrusted})


def _table(meaning: str, untrusted: Rule = "no") -> Mapping[str, Any]:
    return field(default_factory=dict[str, Any], metadata={"meaning": meaning, "untrusted": untrusted})


@dataclass(frozen=True, slots=True)
class Untrusted:
    """A project's file that the user does not trust: what it sets all the same, and what is ignored."""

    file: Path
    used: Mapping[str, Any]
    ignored: tuple[str, ...]
    why: str = "it is not trusted"

    @property
    def problem(self) -> str:
        """What is ignored."""
        return f"Ignored in {self.file}, because {self.why}: {', '.join(self.ignored)}"

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return (
            f"If you trust what it sets, run `memorist trust`; or set it in {own_file()}, in MEMORIST_… or by options."
        )

    @property
    def message(self) -> str:
        """Both."""
        return f"{self.problem}. {self.remedy}"


@dataclass(frozen=True, slots=True)
class Config:
    """All settings, resolved. Each field but the last two is a setting; those of mapping type are tables of a file."""

    db: str | None = _setting(
        None, "The database: a file, a folder with one file per space, or a PostgreSQL URL.", "inside"
    )
    space: str | None = _setting(None, "The space to open.", "yes")
    recipe: str = _setting("memorist", "The default recipe; a call can name another.", "yes")
    verbosity: str = _setting(
        "summary", "How much a recall returns of each memory that contributed: summary or detailed.", "yes"
    )
    models: str = _setting(
        "fast", "The set of local models, for the embedder local and the reranker auto: fast, best or multilingual."
    )
    embedder: str = _setting(
        "local",
        "The embedder: local (that of models), local:NAME, onnx:FOLDER, ollama:MODEL, openai:MODEL, …, or none.",
    )
    reranker: str = _setting(
        "auto",
        "The reranker, for recipes that use one: auto (that of models), local:NAME, a service such as jina, or none.",
    )
    reader: str = _setting(
        "auto",
        "Who reads the first candidates together: auto (the local reranker) or llm (one call of the language model).",
    )
    extract: str = _setting(
        "rules",
        "How facts, names and dates are read from texts: rules, spacy (also finds names with a spaCy model), or off, "
        "which keeps a language model from reading them, too.",
    )
    llm: str | None = _setting(None, "The language model, such as ollama:llama3.2; optional.")
    llm_calls: int = _setting(12, "The maximum number of language model calls per recall.", "lower")
    llm_tokens: int = _setting(
        60_000, "The maximum number of input and output tokens of these calls together.", "lower"
    )
    extraction_calls: int = _setting(
        40, "The maximum number of language model calls per extraction, for instance from a session.", "lower"
    )
    extraction_tokens: int = _setting(
        400_000, "The maximum number of input and output tokens of these calls together.", "lower"
    )
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
    index_in_server: int = _setting(
        50_000,
        "From this many memories on, the index of a space on PostgreSQL is kept there, too, so that a new machine "
        "searches it without loading the space; 0 for never.",
    )
    embedder_options: Mapping[str, Any] = _table("Options of a remote embedder: url, key_env, dim, timeout, batch.")
    reranker_options: Mapping[str, Any] = _table("Options of a reranking service: url, key_env, timeout.")
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
        "Your own recipes by name: a base and parameters to set, or a list of stages.", "yes"
    )
    origins: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """The file of each setting that comes from one."""
    untrusted: Untrusted | None = None

    @property
    def untrusted_recipes(self) -> tuple[str, ...]:
        """The recipes of a file that is not trusted."""
        return () if self.untrusted is None else tuple(self.untrusted.used.get("recipes", ()))

    def __repr__(self) -> str:
        """The settings without passwords, because a repr ends up in logs; of the tables, only the names."""
        values: dict[str, Any] = {field.name: getattr(self, field.name) for field in _FIELDS}
        tables = {table.name for table in TABLES}
        shown = (f"{name}={sorted(value) if name in tables else value!r}" for name, value in values.items())
        return without_passwords(f"Config({', '.join(shown)})")


_FIELDS = tuple(field for field in fields(Config) if field.metadata)
_RULES: Mapping[str, Rule] = {field.name: field.metadata["untrusted"] for field in _FIELDS}
SETTINGS = tuple(
    Setting(field.name, field.default, field.metadata["meaning"], _RULES[field.name])
    for field in _FIELDS
    if field.default is not MISSING
)
TABLES = tuple(
    Setting(field.name, None, field.metadata["meaning"], _RULES[field.name])
    for field in _FIELDS
    if field.default is MISSING
)
MERGED = ("profiles", "recipes")
"""Tables whose entries a second file adds to; any other table is replaced, so that a key stays with its URL."""


def load(config: str | Path | Mapping[str, Any] | None = None, **arguments: str | None) -> Config:
    """The effective settings. `config` is a file, or a mapping, to use instead of the files found."""
    untrusted, files = None, list[tuple[Path, dict[str, Any]]]()
    values: dict[str, Any] = {}
    if isinstance(config, Mapping):
        values = _checked(config, "config")
    elif config is not None:
        files = [(Path(config), _parsed(Path(config)))]
    else:
        files, untrusted = _found()
    for file, given in files:
        set_here = _anchored(given, file.parent)
        values |= set_here | {name: {**values.get(name, {}), **set_here[name]} for name in MERGED if name in given}
    stronger: dict[str, Any] = {s.name: _from_environment(s) for s in SETTINGS if os.environ.get(s.variable)}
    stronger |= {name: value for name, value in arguments.items() if value is not None}
    origins = {name: file for file, given in files for name in given if name not in stronger}
    if untrusted is not None:
        untrusted = replace(untrusted, used={n: v for n, v in untrusted.used.items() if n in origins})
    return Config(**{**values, **stronger}, origins=origins, untrusted=untrusted)


def own_file() -> Path:
    """The user's own settings file, whether it exists or not."""
    return trust.user_folder() / FILE_NAME


def project_file() -> Path | None:
    """The settings file in the working folder or the nearest parent folder that has one, apart from the user's own."""
    try:
        here = Path.cwd()
    except OSError:
        return None  # the working folder was removed
    found = next((place for folder in (here, *here.parents) if (place := folder / FILE_NAME).is_file()), None)
    return None if found is None or found.resolve() == own_file().resolve() else found.resolve()


def content_of(file: Path) -> bytes:
    """The bytes of a settings file."""
    try:
        with file.open("rb") as opened:
            content = opened.read(LARGEST_FILE + 1)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}", remedy="Pass the path of a TOML file.") from None
    if len(content) > LARGEST_FILE:
        raise InvalidInput(f"{file} is larger than {LARGEST_FILE:,} bytes", remedy="Settings need far fewer.")
    return content


def untrusted_settings(file: Path, content: bytes) -> dict[str, Any]:
    """The settings of a project's file that need the user's trust, with their values."""
    own = _parsed(own_file()) if own_file().is_file() else {}
    return {
        name: value for name, value in _parsed(file, content).items() if not _allowed(name, value, own, file.parent)
    }


def functions(file: Path, content: bytes) -> list[str]:
    """The functions that a settings file names, each of a module beside it with the path of that module."""
    return sorted({*_functions_named(_anchored(_parsed(file, content), file.parent))})


def is_trusted(file: Path, content: bytes) -> bool:
    """Whether the user trusts a settings file with this content, and the modules beside it as they are now."""
    return str(file.resolve()) in trust.trusted_hashes() and trust.is_trusted(file, trusted_content(file, content))


def trusted_content(file: Path, content: bytes) -> bytes:
    """What trust in a settings file covers: its content, and that of the modules beside it that it names."""
    modules = {Path(function.rpartition(":")[0]) for function in functions(file, content)}
    return b"\0".join([content, *(content_of(module) for module in sorted(modules) if module.suffix == ".py")])


def _functions_named(value: Any) -> Iterator[str]:
    """Each `module:function` in a table."""
    inner = cast("Mapping[str, Any]", value).items() if isinstance(value, Mapping) else ()
    for key, one in inner or enumerate(cast("list[Any]", value) if isinstance(value, list) else ()):
        if str(key).rpartition(".")[2] == "function" and isinstance(one, str) and ":" in one:
            yield one
        yield from _functions_named(one)


def _found() -> tuple[list[tuple[Path, dict[str, Any]]], Untrusted | None]:
    """The user's own settings, then those of a project's file that may be used."""
    own, near = own_file(), project_file()
    mine = _parsed(own) if own.is_file() else {}
    files = [(own, mine)]
    if near is None:
        return files, None
    content = content_of(near)
    if is_trusted(near, content):
        return [*files, (near, _parsed(near, content))], None
    if (why := trust.foreign(near)) is not None:
        return files, Untrusted(near, {}, ("everything",), why)
    given = _parsed(near, content)
    used = {name: value for name, value in given.items() if _allowed(name, value, mine, near.parent)}
    ignored = tuple(name for name in given if name not in used)
    return [*files, (near, used)], Untrusted(near, used, ignored)


def _allowed(name: str, value: Any, own: Mapping[str, Any], folder: Path) -> bool:
    """Whether a file that is not trusted may set this."""
    rule = _RULES[name]
    if rule == "lower":
        default = next(setting.default for setting in SETTINGS if setting.name == name)
        return value <= own.get(name, default)
    return rule == "yes" or (rule == "inside" and _inside(value, folder))


def _inside(path: str, folder: Path) -> bool:
    """Whether it is a plain relative path that stays in the folder, also by way of links."""
    if "://" in path or path.startswith(("~", ":")) or "\0" in path or Path(path).is_absolute():
        return False
    return ".." not in Path(path).parts and (folder / path).resolve().is_relative_to(folder.resolve())


def default_db() -> Path:
    """The platform's folder for user data."""
    from platformdirs import user_data_path

    return user_data_path("memorist")


def _parsed(file: Path, content: bytes | None = None) -> dict[str, Any]:
    """The settings of a file, checked."""
    try:
        data = tomllib.loads((content_of(file) if content is None else content).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} is not TOML: {error}", remedy="Correct that line.") from None
    except RecursionError:
        raise InvalidInput(f"{file} is nested too deeply", remedy="Settings need few levels.") from None
    return _checked(data, str(file))


def _anchored(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The settings of a file in a folder, with its paths resolved against that folder."""
    paths: dict[str, Any] = {}
    if "notes_dir" in values:
        paths["notes_dir"] = str(folder / Path(values["notes_dir"]).expanduser())
    if "db" in values:
        paths["db"] = resolve_database(values["db"], folder)
    return {**values, **paths, **{name: _functions_in(values[name], folder) for name in MERGED if name in values}}


def _functions_in(value: Any, folder: Path) -> Any:
    """A table with each `module:function` whose module is a file of this folder as the path of that file."""
    if isinstance(value, list):
        return [_functions_in(member, folder) for member in cast("list[Any]", value)]
    if not isinstance(value, Mapping):
        return value
    return {
        key: _function_in(one, folder) if key.rpartition(".")[2] == "function" else _functions_in(one, folder)
        for key, one in cast("Mapping[str, Any]", value).items()
    }


def _function_in(named: Any, folder: Path) -> Any:
    module, colon, function = named.rpartition(":") if isinstance(named, str) else ("", "", "")
    file = folder.resolve() / f"{module}.py"
    if not colon or not module.isidentifier() or not file.is_file():
        return named
    if (why := trust.foreign(file)) is not None:
        raise InvalidInput(f"{file} cannot be used: {why}", remedy="Let only yourself write it.")
    return f"{file}:{function}"


def _from_environment(setting: Setting) -> str | int:
    text = os.environ[setting.variable]
    if setting.kind is str:
        return text
    return _not_negative(int(text) if text.removeprefix("-").isdecimal() else text, setting.variable)


def _checked(data: Mapping[str, Any], where: str) -> dict[str, Any]:
    every = get_type_hints(Config)
    hints = {name: every[name] for name in _RULES}
    for name in data:
        if name not in hints:
            raise InvalidInput(f"Unknown setting in {where}: {name!r}", remedy=f"Known settings: {', '.join(hints)}.")
    places = {name: f"{where}: {name}" for name in data}
    return {
        name: _not_negative(value, places[name]) if hints[name] is int else validate(value, hints[name], places[name])
        for name, value in data.items()
    }


def _not_negative(value: object, where: str) -> int:
    if validate(value, int, where) < 0:
        raise InvalidInput(f"{where} is {value!r}", remedy="It must be a whole number of at least 0.")
    return cast("int", value)


def resolve_database(db: str, folder: Path) -> str:
    """A database with a relative path resolved against a folder; a URL stays as it is."""
    if "://" in db or db == ":memory:":
        return db
    return f"{folder / Path(db).expanduser()}{'/' if db.endswith('/') else ''}"
