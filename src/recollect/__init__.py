"""Recollect: the memory of AI agents.

>>> import recollect
>>> with recollect.open("agent.db") as memory:
...     memory.remember("Alice moved to Stockholm.", at="2024-06-03")
...     print(memory.recall("Where does Alice live?").context)
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from recollect.errors import (
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
from recollect.model import Entity, Fact, Item, Kind, Link, Memory, Recall, Tier
from recollect.opening import open, open_async, restore  # the verb users expect
from recollect.ports import Page, Receipt

if TYPE_CHECKING:
    from recollect.aio import AsyncEngine
    from recollect.client import Client, connect, connect_async
    from recollect.engine import Engine

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
    "AsyncEngine": "recollect.aio",
    "Client": "recollect.client",
    "Engine": "recollect.engine",
    "connect": "recollect.client",
    "connect_async": "recollect.client",
}


def __getattr__(name: str) -> Any:
    """What brings numpy or httpx along, at its first use."""
    if name in _LAZY:
        return getattr(_import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'recollect' has no attribute {name!r}")
