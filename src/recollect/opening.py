"""`open`: from a URL and settings to an engine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from recollect import config as settings
from recollect.errors import InvalidInput
from recollect.notices import Hook, Notices, log
from recollect.ports import LLM, Clock, Embedder, Reranker, Store

if TYPE_CHECKING:
    from recollect.aio import AsyncEngine
    from recollect.engine import Engine
    from recollect.remember.entities import Find

T = TypeVar("T")
SPACE_NAME = re.compile(r"[\w][\w.@-]{0,99}")


def open(  # the verb users expect: recollect.open
    url: str | Path | None = None,
    *,
    space: str | None = None,
    recipe: str | None = None,
    embedder: str | Embedder | None = None,
    reranker: str | Reranker | None = None,
    llm: str | LLM | None = None,
    config: str | Path | Mapping[str, Any] | None = None,
    clock: Clock | None = None,
    notify: Hook | None = None,
    background: bool = True,
) -> Engine:
    """Open a memory: a file, a folder of spaces, or the configured default.

    What is not given comes from the environment or `recollect.toml`: recipe "recollect", embedder "local",
    reranker "auto", no llm. `notify` hears of commits, failures, decays and recalls, else they are logged;
    `background=False` leaves what is left to do to `work()`.
    """
    from recollect.engine import Engine
    from recollect.language import build_askers
    from recollect.models import embedders, rerankers
    from recollect.profiles import find_profile, profiled
    from recollect.recall.recipes import RECIPES, custom_recipes
    from recollect.remember.gates import Policy

    named = {"space": space, "recipe": recipe, "embedder": embedder, "reranker": reranker, "llm": llm}
    texts = {name: value for name, value in named.items() if isinstance(value, str)}
    chosen = settings.load(config, db=None if url is None else str(url), **texts)
    profile = find_profile(chosen.profile, chosen.profiles)
    recipes = {**RECIPES, **custom_recipes(chosen.recipes)}
    store = open_store(chosen.db, chosen.space)
    return Engine(
        store,
        embedder=embedders.build(_object(embedder) or chosen.embedder, options=chosen.embedder_options),
        reranker=rerankers.build(_object(reranker) or chosen.reranker),
        askers=build_askers(chosen, profile, _object(llm)),
        facts=chosen.extract != "off",
        policy=Policy.of(chosen),
        find=_finder(chosen.extract),
        recipe=chosen.recipe,
        recipes={name: profiled(one, profile) for name, one in recipes.items()},
        clock=clock,
        notices=Notices(notify or log, texts=bool(chosen.notice_text)),
        idle=timedelta(minutes=chosen.session_idle),
        notes=_notes_folder(chosen, store),
        background=background,
    )


def _notes_folder(chosen: settings.Config, store: Store) -> Path | None:
    """Where notes are written: beside the store's file, or in the folder that is set; nowhere without a file."""
    path: Path | None = getattr(store, "path", None)
    if path is None or chosen.notes_dir is None:
        return path and path.with_name(f"{path.name}.notes")
    _, in_folder = locate(chosen.db, chosen.space)
    folder = Path(chosen.notes_dir).expanduser()
    return folder / store.space if in_folder else folder


def _finder(setting: str) -> Find:
    if setting == "spacy":
        from recollect.remember.extract.spacy_model import SpacyModel

        return SpacyModel().entities
    if setting not in ("rules", "off"):
        raise InvalidInput(f"extract is {setting!r}", remedy="Choose rules, spacy or off.")
    from recollect.remember.entities import names

    return names


def _object(given: T | str | None) -> T | None:
    return None if isinstance(given, str) else given


def open_async(url: str | Path | None = None, **options: Any) -> AsyncEngine:
    """`open`, for asyncio; takes the same keywords."""
    from recollect.aio import AsyncEngine

    return AsyncEngine(open(url, **options))


def restore(
    backup: str | Path,
    url: str | Path | None = None,
    *,
    space: str | None = None,
    config: str | Path | Mapping[str, Any] | None = None,
) -> list[Path]:
    """Put a backup in the place of a memory that nobody has open; returns where what was there has been moved."""
    from recollect.stores.sqlite.restoring import restore as put_back

    chosen = settings.load(config, db=None if url is None else str(url), **({"space": space} if space else {}))
    if chosen.db == ":memory:":
        raise InvalidInput("A backup cannot be restored to :memory:", remedy="Give the path of a file.")
    path, in_folder = locate(chosen.db, chosen.space)
    return put_back(Path(backup), path, space=path.stem if in_folder else chosen.space)


def open_store(url: str | None, space: str | None) -> Store:
    """The store behind a URL: `:memory:`, a file, `sqlite:///file`, or a folder with a file per space."""
    if url == ":memory:":
        from recollect.stores.memory import MemoryStore

        return MemoryStore(space or "memory")
    from recollect.stores.sqlite import SqliteStore

    path, in_folder = locate(url, space)
    return SqliteStore.open(path, space=path.stem if in_folder else space)


def locate(url: str | None, space: str | None) -> tuple[Path, bool]:
    """The file that holds a space, and whether it is one of a folder's."""
    if url is None:
        return _in_folder(settings.default_db(), space), True
    scheme, separator, rest = url.partition("://")
    if not url.strip() or "\0" in url or (separator and (scheme != "sqlite" or not rest.startswith("/"))):
        # The URL itself is not repeated: it may hold a password.
        kind = f"A {scheme} URL" if separator else "An empty path"
        raise InvalidInput(f"{kind} is no place for memories", remedy="Give a path, or sqlite:///path/to/file.db.")
    place = unquote(rest.removeprefix("/")) if separator else url
    path = Path(place).expanduser()
    if place.endswith("/") or path.is_dir():
        return _in_folder(path, space), True
    return path, False


def _in_folder(folder: Path, space: str | None) -> Path:
    name = "default" if space is None else space
    if not SPACE_NAME.fullmatch(name):
        raise InvalidInput(
            f"{name!r} cannot name a space",
            remedy="Use up to 100 letters, digits, and . @ - _, not beginning with a sign.",
        )
    return folder / f"{name}.db"
