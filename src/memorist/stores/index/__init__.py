"""The in-memory index that stores share: what they keep on disk, these columns search."""

from memorist.stores.index.columns import IndexEntry, entry_of, halved, micros, moment
from memorist.stores.index.index import Index, IndexView

__all__ = ["Index", "IndexEntry", "IndexView", "entry_of", "halved", "micros", "moment"]
