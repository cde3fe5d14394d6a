"""The in-memory index that stores share: they keep memories on disk, and the index searches them."""

from memorist.stores.index.entries import IndexEntry, entry_of, half_precision, micros, moment, named_of
from memorist.stores.index.index import Index, IndexView

__all__ = ["Index", "IndexEntry", "IndexView", "entry_of", "half_precision", "micros", "moment", "named_of"]
