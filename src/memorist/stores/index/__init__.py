"""The in-memory index that stores share: they keep memories on disk, and the index searches them."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from memorist.stores.index.entries import IndexEntry, entry_of, half_precision, micros, moment

if TYPE_CHECKING:
    from memorist.stores.index.index import Index, IndexView

__all__ = ["Index", "IndexEntry", "IndexView", "entry_of", "half_precision", "micros", "moment"]


def __getattr__(name: str) -> Any:
    """Import what searches when it is first used: a process that only writes needs none of it."""
    if name in ("Index", "IndexView"):
        return getattr(_import_module("memorist.stores.index.index"), name)
    raise AttributeError(f"module 'memorist.stores.index' has no attribute {name!r}")
