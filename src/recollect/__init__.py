"""Recollect: the memory of AI agents.

>>> import recollect
>>> with recollect.open("agent.db") as memory:
...     memory.remember("Alice moved to Stockholm.", at="2024-06-03")
...     print(memory.recall("Where does Alice live?").context)
"""

from __future__ import annotations

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
    from recollect.engine import Engine

__version__ = "0.1.0"
__all__ = [
    "AsyncEngine",
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
    "open",
    "open_async",
    "restore",
]


def __getattr__(name: str) -> Any:
    """`Engine` and `AsyncEngine` at their first use: they bring numpy along."""
    if name == "Engine":
        from recollect.engine import Engine

        return Engine
    if name == "AsyncEngine":
        from recollect.aio import AsyncEngine

        return AsyncEngine
    raise AttributeError(f"module 'recollect' has no attribute {name!r}")
