"""Stores: where memories are kept, and what the author of another store needs.

A store implements the port `Store`, which is the sum of `Reader`, `Listing`, `Updater`, `Searcher`, `Bookkeeping`,
`Embeddings` and `Maintenance`. It passes the tests of `memorist.testing.StoreConformance`. There are three here:

- `MemoryStore` keeps memories in this process only. It is the reference: short, and without a database.
- `SqliteStore` keeps a space in one file.
- `PostgresStore` keeps spaces on a server.

The searches need not be written again. Keep each memory as an `IndexEntry` (`entry_of` makes one) and let an
`IndexCache` load them: it returns the views that are searched, and follows what other processes write. An `Index` on
its own does the same for a store that lives in one process. `half_precision` is how vectors are rounded.

The names in `__all__` are stable: they change only with a major version, after a deprecation. Everything else in this
package is private, and may change in any release.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from memorist.ports import (
    Batch,
    Bookkeeping,
    Embedded,
    Embeddings,
    Entry,
    Job,
    Kept,
    Listing,
    Maintenance,
    Page,
    Plan,
    Reader,
    Record,
    Searcher,
    Store,
    StoreStats,
    TextField,
    Updater,
    Vectors,
    View,
)

if TYPE_CHECKING:
    from memorist.stores.index import Index, IndexEntry, IndexView, entry_of, half_precision
    from memorist.stores.index_file import Counters
    from memorist.stores.index_sync import IndexCache, IndexSnapshot
    from memorist.stores.memory import MemoryStore
    from memorist.stores.sqlite import SqliteStore
    from memorist_server.postgres import PostgresStore

__all__ = [
    "Batch",
    "Bookkeeping",
    "Counters",
    "Embedded",
    "Embeddings",
    "Entry",
    "Index",
    "IndexCache",
    "IndexEntry",
    "IndexSnapshot",
    "IndexView",
    "Job",
    "Kept",
    "Listing",
    "Maintenance",
    "MemoryStore",
    "Page",
    "Plan",
    "PostgresStore",
    "Reader",
    "Record",
    "Searcher",
    "SqliteStore",
    "Store",
    "StoreStats",
    "TextField",
    "Updater",
    "Vectors",
    "View",
    "entry_of",
    "half_precision",
]

_LAZY = {
    "Counters": "memorist.stores.index_file",
    "Index": "memorist.stores.index",
    "IndexCache": "memorist.stores.index_sync",
    "IndexEntry": "memorist.stores.index",
    "IndexSnapshot": "memorist.stores.index_sync",
    "IndexView": "memorist.stores.index",
    "MemoryStore": "memorist.stores.memory",
    "PostgresStore": "memorist_server.postgres",
    "SqliteStore": "memorist.stores.sqlite",
    "entry_of": "memorist.stores.index",
    "half_precision": "memorist.stores.index",
}


def __getattr__(name: str) -> Any:
    """Import what needs numpy or a database driver when it is first used."""
    if name in _LAZY:
        return getattr(_import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'memorist.stores' has no attribute {name!r}")
