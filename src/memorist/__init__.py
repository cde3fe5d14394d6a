"""Memorist: the memory of AI agents.

>>> import memorist
>>> with memorist.open("agent.db") as memory:
...     memory.remember("Alice moved to Stockholm.", at="2024-06-03")
...     print(memory.recall("Where does Alice live?").context)
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memorist.aio import AsyncEngine
    from memorist.client import Client, connect, connect_async
    from memorist.engine.engine import Engine
    from memorist.engine.open import open, open_async, restore
    from memorist.engine.syncing import sync
    from memorist.errors import (
        Closed,
        EmbeddingMismatch,
        Error,
        InvalidInput,
        MissingExtra,
        MissingService,
        ModelUnavailable,
        NewerStore,
        NotFound,
        QuotaExceeded,
        SpaceMismatch,
        StoreBusy,
        StoreError,
        TooClassified,
    )
    from memorist.model import Entity, Fact, Item, Kind, Link, Memory, Outcome, Recall, Remembered, Tier
    from memorist.results.records import Page, Receipt


__version__ = "0.1.0"
__all__ = [
    "AsyncEngine",
    "Client",
    "Closed",
    "EmbeddingMismatch",
    "Engine",
    "Entity",
    "Error",
    "Fact",
    "InvalidInput",
    "Item",
    "Kind",
    "Link",
    "Memory",
    "MissingExtra",
    "MissingService",
    "ModelUnavailable",
    "NewerStore",
    "NotFound",
    "Outcome",
    "Page",
    "QuotaExceeded",
    "Recall",
    "Receipt",
    "Remembered",
    "SpaceMismatch",
    "StoreBusy",
    "StoreError",
    "Tier",
    "TooClassified",
    "__version__",
    "connect",
    "connect_async",
    "open",
    "open_async",
    "restore",
    "sync",
]


_HOMES = {
    "memorist.client": ("Client", "connect", "connect_async"),
    "memorist.aio": ("AsyncEngine",),
    "memorist.engine.engine": ("Engine",),
    "memorist.engine.open": ("open", "open_async", "restore"),
    "memorist.engine.syncing": ("sync",),
    "memorist.model": ("Entity", "Fact", "Item", "Kind", "Link", "Memory", "Outcome", "Recall", "Remembered", "Tier"),
    "memorist.results.records": ("Page", "Receipt"),
}
"""The module of each name; a name that is missing here is an error of `memorist.errors`."""
_MODULES = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """A public name, imported on first use: `memorist --version` needs none of them."""
    if name not in __all__:
        raise AttributeError(f"module 'memorist' has no attribute {name!r}")
    try:
        home = _import_module(_MODULES.get(name, "memorist.errors"))
    except ModuleNotFoundError as error:
        if error.name != "memorist.engine":
            raise
        from memorist.errors import MissingExtra

        problem = f"memorist.{name} needs the engine, and only memorist-client is installed"
        raise MissingExtra(problem, remedy="Install it with: pip install memorist") from None
    globals()[name] = value = getattr(home, name)
    return value
