"""Memorist: the memory of AI agents.

>>> import memorist
>>> with memorist.open("agent.db") as memory:
...     memory.remember("Alice moved to Stockholm.", at="2024-06-03")
...     print(memory.recall("Where does Alice live?").context)
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from memorist.engine.open import open, open_async, restore
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
    SpaceMismatch,
    StoreBusy,
    StoreError,
)
from memorist.model import Entity, Fact, Item, Kind, Link, Memory, Recall, Tier
from memorist.ports import Page, Receipt

if TYPE_CHECKING:
    from memorist.client import Client, connect, connect_async
    from memorist.engine.aio import AsyncEngine
    from memorist.engine.engine import Engine


# the verb users expect


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
    "Page",
    "Recall",
    "Receipt",
    "SpaceMismatch",
    "StoreBusy",
    "StoreError",
    "Tier",
    "__version__",
    "connect",
    "connect_async",
    "open",
    "open_async",
    "restore",
]


_LAZY = {
    "AsyncEngine": "memorist.engine.aio",
    "Client": "memorist.client",
    "Engine": "memorist.engine.engine",
    "connect": "memorist.client",
    "connect_async": "memorist.client",
}


def __getattr__(name: str) -> Any:
    """What brings numpy or httpx along, at its first use."""
    if name in _LAZY:
        return getattr(_import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'memorist' has no attribute {name!r}")
