"""`memorist.open` and its siblings: settings in, an engine out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from memorist import config as settings
from memorist.errors import InvalidInput, MissingExtra, NotFound, Remedy, VerbCall
from memorist.model import check_space, check_space_length
from memorist.model.arguments import checks_call
from memorist.ports import LLM, Clock, Embedder, Reranker, Store
from memorist.ports.models import load_ahead
from memorist.ports.notices import Hook, Notice, Notices, log

if TYPE_CHECKING:
    from memorist.aio import AsyncEngine
    from memorist.asking import Askers
    from memorist.engine.engine import Engine
    from memorist.profiles import Profile
    from memorist.recall.pipeline import Pipeline
    from memorist.remember.entities import Find


T = TypeVar("T")
ENTRY_POINTS = "memorist.stores"
"""The group of entry points in which a distribution names the module of the databases that it opens."""
POSTGRES = "Install the extra: pip install 'memorist[postgres]'."


@checks_call
def open(  # the verb users expect: memorist.open
    url: str | Path | None = None,
    *,
    space: str | None = None,
    recipe: str | None = None,
    models: str | None = None,
    embedder: str | Embedder | None = None,
    reranker: str | Reranker | None = None,
    llm: str | LLM | None = None,
    config: str | Path | Mapping[str, Any] | None = None,
    clock: Clock | None = None,
    notify: Hook | None = None,
    background: bool = True,
) -> Engine:
    """Open a memory: a file, a folder of spaces, a PostgreSQL database, or the configured default.

    Missing options come from the environment or `memorist.toml`; the defaults are recipe "memorist", models "fast",
    embedder "local" and reranker "auto" (those of `models`), and no llm. `notify` is called for commits, failures,
    decays and recalls, which are logged otherwise. With `background=False`, jobs only run in `work()`.
    """
    named = {"embedder": embedder, "reranker": reranker, "llm": llm}
    texts = {name: value for name, value in named.items() if isinstance(value, str)}
    db = None if url is None else str(url)
    chosen = settings.load(config, db=db, space=space, recipe=recipe, models=models, **texts)
    tell_ignored(chosen, notify or log)
    return open_engine(
        chosen,
        embedder=_object(embedder),
        reranker=_object(reranker),
        llm=_object(llm),
        clock=clock,
        notify=notify,
        background=background,
    )


def open_engine(
    chosen: settings.Config,
    *,
    embedder: Embedder | None = None,
    reranker: Reranker | None = None,
    llm: LLM | None = None,
    clock: Clock | None = None,
    notify: Hook | None = None,
    background: bool = True,
    ahead: bool = False,
    create: bool = True,
) -> Engine:
    """The engine for settings that were loaded; objects replace what the settings name.

    Without `create`, a memory that does not exist is refused.

    With `ahead`, the embedder is loaded in another thread meanwhile: for a process that will embed for certain.
    """
    from memorist.models import embedders, rerankers

    embed = embedders.build(embedder or chosen.embedder, options=chosen.embedder_options, models=chosen.models)
    if ahead:
        Thread(target=load_ahead, args=(embed,), name="memorist-load", daemon=True).start()
    from memorist.engine.engine import Engine
    from memorist.model.request import check_verbosity
    from memorist.profiles import find_profile
    from memorist.recall.recipes import Recipes, custom_recipes
    from memorist.remember.policy import Policy

    profile = find_profile(chosen.profile, chosen.profiles)
    recipes = custom_recipes(chosen.recipes, shipped_parts=chosen.untrusted_recipes)
    store = open_store(chosen.db, chosen.space, chosen.index_in_server, create=create)
    return Engine(
        store,
        models=chosen.models,
        embedder=embed,
        reranker=rerankers.build(reranker or chosen.reranker, options=chosen.reranker_options, models=chosen.models),
        askers=build_askers(chosen, profile, llm),
        extract=chosen.extract != "off",
        policy=Policy.of(chosen),
        find=entity_finder(chosen.extract),
        recipe=chosen.recipe,
        verbosity=check_verbosity(chosen.verbosity),
        recipes=Recipes(recipes, change=partial(_as_chosen, profile=profile, reader=chosen.reader)),
        clock=clock,
        notices=Notices(notify or log, texts=bool(chosen.notice_text), clean=_without_secrets),
        idle=timedelta(minutes=chosen.session_idle),
        notes=_notes_folder(chosen, store),
        background=background,
    )


def _as_chosen(recipe: Pipeline, profile: Profile, reader: str) -> Pipeline:
    """A recipe with what the settings `profile` and `reader` change in it."""
    from memorist.profiles import with_profile

    recipe = with_profile(recipe, profile)
    if reader == "auto":
        return recipe
    from memorist.recall.read_together import with_reader

    return with_reader(recipe, reader)


def _without_secrets(text: str) -> str:
    from memorist.text.secrets import mask_secrets

    return mask_secrets(text)


def tell_ignored(chosen: settings.Config, hook: Hook = log) -> None:
    """Report the settings of a project's file that were ignored, if there are any."""
    untrusted = chosen.untrusted
    if untrusted is not None and untrusted.ignored:
        notice = Notice("settings_ignored", datetime.now(UTC), (str(untrusted.file),), error=untrusted.message)
        Notices(hook).tell(notice)


def _notes_folder(chosen: settings.Config, store: Store) -> Path | None:
    """The folder of the notes: the configured one, or one beside the store's file; None if there is neither."""
    if chosen.db is not None and on_server(chosen.db):
        return _notes_set(chosen, store.space, in_folder=True)
    path: Path | None = getattr(store, "path", None)
    if path is None or chosen.notes_dir is None:
        return path and path.with_name(f"{path.name}.notes")
    _, in_folder = locate(chosen.db, chosen.space)
    return _notes_set(chosen, store.space, in_folder=in_folder)


def _notes_set(chosen: settings.Config, space: str, *, in_folder: bool) -> Path | None:
    """The configured folder for a space's notes, or None."""
    if chosen.notes_dir is None:
        return None
    folder = Path(chosen.notes_dir).expanduser()
    return folder / space if in_folder else folder


def entity_finder(setting: str) -> Find | None:
    """The function that finds names in texts, by the setting `extract`; None for the rules, which a writer knows."""
    if setting == "spacy":
        from memorist.remember.extract.spacy_model import SpacyModel

        return SpacyModel().entities
    if setting not in ("rules", "off"):
        raise InvalidInput(f"extract is {setting!r}", remedy="Choose rules, spacy or off.")
    return None


def _object(given: T | str | None) -> T | None:
    return None if isinstance(given, str) else given


def space_opener(
    config: str | Path | Mapping[str, Any] | None, embedder: str | None, models: str | None = None
) -> Callable[[str, str, bool], Engine]:
    """A function that opens spaces, given a URL, a name and whether to work in the background, with one embedder.

    The settings are read once: those of a server do not change while it runs.
    """
    from memorist.models import embedders

    chosen = settings.load(config, embedder=embedder, models=models)
    tell_ignored(chosen)
    shared = embedders.build(chosen.embedder, options=chosen.embedder_options, models=chosen.models)
    plain = replace(chosen, embedder="none")  # what stands where there is no object
    return lambda url, space, background: open_engine(
        replace(plain, db=url, space=space), embedder=shared, background=background
    )


def model_runs() -> tuple[dict[str, tuple[int, float]], int]:
    """The runs of local models in this process and their seconds, by kind, and the number of batches that wait."""
    from memorist.models.batched import RUNS

    return RUNS.spent(), RUNS.waiting


def open_async(url: str | Path | None = None, **options: Any) -> AsyncEngine:
    """`open`, for asyncio; takes the same keywords."""
    from memorist.aio import AsyncEngine

    return AsyncEngine(open(url, **options))


@checks_call
def restore(
    backup: str | Path,
    url: str | Path | None = None,
    *,
    space: str | None = None,
    config: str | Path | Mapping[str, Any] | None = None,
) -> list[Path]:
    """Replace a memory that is not open by a backup; returns the paths that the old files were moved to.

    On a server nothing is moved aside: the backup fills a space that is empty, or one where its restore was cut off.
    """
    from memorist.stores.sqlite.restoring import restore as put_back

    chosen = settings.load(config, db=None if url is None else str(url), **({"space": space} if space else {}))
    tell_ignored(chosen)
    if chosen.db == ":memory:":
        raise InvalidInput("A backup cannot be restored to :memory:", remedy="Give the path of a file.")
    if chosen.db is not None and on_server(chosen.db):
        return _restore_on_server(Path(backup), chosen)
    path, in_folder = locate(chosen.db, chosen.space)
    notes = _notes_set(chosen, path.stem, in_folder=in_folder)
    return put_back(Path(backup), path, space=path.stem if in_folder else chosen.space, notes=notes)


def _restore_on_server(backup: Path, chosen: settings.Config) -> list[Path]:
    from memorist.engine.backups import fill_from
    from memorist.stores.sqlite.restoring import check_copy, copy_notes

    with check_copy(backup) as saved, closing(open_store(chosen.db, chosen.space or saved.space)) as store:
        fill_from(saved, store)
        notes = _notes_set(chosen, store.space, in_folder=True)
    return [] if notes is None else copy_notes(backup, notes)


def open_store(url: str | None, space: str | None, index_in_server: int | None = None, *, create: bool = True) -> Store:
    """The store behind a URL: `:memory:`, a file, `sqlite:///file`, a folder with a file per space, or a server.

    On a server, the index of a space of `index_in_server` memories is kept there; 0 for never, None for the default.
    Without `create`, a memory that does not exist is refused.
    """
    if space is not None:
        check_space_length(space)
    if url == ":memory:":
        from memorist.stores.memory import MemoryStore

        return MemoryStore(space or "memory")
    if url is not None and on_server(url):
        return _on_server(url, space, index_in_server, create=create)
    from memorist.stores.sqlite import SqliteStore

    path, in_folder = locate(url, space)
    if url is None and not create and not any(path.parent.glob("*.db")):
        raise nothing_yet()
    return SqliteStore.open(path, space=path.stem if in_folder else space, create=create)


def nothing_yet() -> NotFound:
    """The error for a new user, who has no memory to look at."""
    return NotFound(
        "Nothing is remembered yet", remedy=Remedy("Store the first memory with ", VerbCall("remember"), ".")
    )


def missing(path: Path) -> NotFound:
    """The error for a file or folder that does not exist."""
    from memorist.stores.sqlite.place import missing_database

    return missing_database(path)


def on_server(url: str) -> bool:
    """Whether a URL names a PostgreSQL database."""
    return url.startswith(("postgresql://", "postgres://"))


def open_database(url: str) -> Any:
    """The PostgreSQL database behind a URL, for administration."""
    if not on_server(url):
        raise InvalidInput(
            "Not the URL of a PostgreSQL database", remedy="Give a URL such as postgresql://host/database."
        )
    return _postgresql().Administration(url)


def _on_server(url: str, space: str | None, index_in_server: int | None, *, create: bool) -> Store:
    opening = _postgresql().PostgresStore.open
    return opening(url, space=check_space(space), index_in_server=index_in_server, create=create)


def _postgresql() -> Any:
    """The module with the store and the administration of PostgreSQL databases, which another distribution has."""
    from importlib.metadata import entry_points

    with needs_postgres():
        for entry in entry_points(group=ENTRY_POINTS, name="postgresql"):
            return entry.load()
    raise MissingExtra("PostgreSQL databases need memorist-server", remedy=POSTGRES)


@contextmanager
def needs_postgres() -> Generator[None]:
    """Import what a PostgreSQL database needs; a missing package is named with the extra that has it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"{error.name} is not installed, and a PostgreSQL database needs it", remedy=POSTGRES
        ) from error


def locate(url: str | None, space: str | None) -> tuple[Path, bool]:
    """The file of a space, and whether it lies in a folder of spaces."""
    if url is None:
        return _in_folder(settings.default_db(), space), True
    scheme, separator, rest = url.partition("://")
    if not url.strip() or "\0" in url or (separator and (scheme != "sqlite" or not rest.startswith("/"))):
        # The URL itself is not repeated: it may hold a password.
        kind = f"A {scheme} URL" if separator else "An empty path"
        remedy = "Give a path, sqlite:///path/to/file.db, or postgresql://host/database."
        raise InvalidInput(f"{kind} is not supported as a database", remedy=remedy)
    place = unquote(rest.removeprefix("/")) if separator else url
    path = Path(place).expanduser()
    try:
        in_folder = place.endswith("/") or path.is_dir()
    except OSError:
        raise InvalidInput(
            "The path of the database cannot be used", remedy="Shorten its names: file systems allow 255 bytes each."
        ) from None
    if in_folder:
        return _in_folder(path, space), True
    return path, False


def _in_folder(folder: Path, space: str | None) -> Path:
    return folder / f"{check_space(space)}.db"


def build_askers(chosen: settings.Config, profile: Profile, llm: LLM | None = None) -> Askers:
    """The language models of the settings, assigned to the steps that use them; `llm` replaces the setting."""
    from memorist.asking import Askers, Limits, Models

    return Askers(
        Models(
            llm if llm is not None else _built(chosen.llm, chosen),
            {step: _built(setting, chosen) for step, setting in chosen.llm_steps.items()},
        ),
        context=profile.context,
        overlays=profile.overlays,
        recall=Limits(chosen.llm_calls, chosen.llm_tokens),
        extraction=Limits(chosen.extraction_calls, chosen.extraction_tokens),
    )


def _built(setting: str | None, chosen: settings.Config) -> LLM | None:
    """A model with the configured options; the URL and the key apply only to the main model's vendor."""
    from memorist.models import llms

    same = chosen.llm is None or _vendor(setting) == _vendor(chosen.llm)
    options = {name: value for name, value in chosen.llm_options.items() if same or name not in _OF_ONE_VENDOR}
    return llms.build(setting, options=options)


def _vendor(setting: str | None) -> str:
    return (setting or "").partition(":")[0]


_OF_ONE_VENDOR = ("url", "key_env")
