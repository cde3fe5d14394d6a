"""`open`: from a URL and settings to an engine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote

from recollect import config as settings
from recollect.errors import InvalidInput
from recollect.ports import LLM, Clock, Embedder, Reranker, Store

if TYPE_CHECKING:
    from recollect.aio import AsyncEngine
    from recollect.engine import Engine

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
) -> Engine:
    """Open a memory: a file, a folder of spaces, or the configured default.

    What is not given comes from the environment or `recollect.toml`: recipe "recollect", embedder "local",
    reranker "auto", no llm.
    """
    from recollect.engine import Engine
    from recollect.models import embedders, rerankers
    from recollect.recall.recipes import RECIPES, custom_recipes

    named = {"space": space, "recipe": recipe, "embedder": embedder, "reranker": reranker, "llm": llm}
    texts = {name: value for name, value in named.items() if isinstance(value, str)}
    chosen = settings.load(config, db=None if url is None else str(url), **texts)
    if isinstance(llm, str) or chosen.llm is not None:
        raise InvalidInput("Language models cannot be named yet", remedy="Pass an object with a complete method.")
    return Engine(
        open_store(chosen.db, chosen.space),
        embedder=embedders.build(_object(embedder) or chosen.embedder, options=chosen.embedder_options),
        reranker=rerankers.build(_object(reranker) or chosen.reranker),
        llm=llm,
        recipe=chosen.recipe,
        recipes={**RECIPES, **custom_recipes(chosen.recipes)},
        clock=clock,
    )


def _object(given: T | str | None) -> T | None:
    return None if isinstance(given, str) else given


def open_async(url: str | Path | None = None, **options: Any) -> AsyncEngine:
    """`open`, for asyncio; takes the same keywords."""
    from recollect.aio import AsyncEngine

    return AsyncEngine(open(url, **options))


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
