"""The in-memory index that stores share: what they keep on disk, these columns search."""

from memorist.stores.index.entry import Entry, entry_of, halved, micros, moment
from memorist.stores.index.index import Index
from memorist.stores.index.view import IndexView

__all__ = ["Entry", "Index", "IndexView", "entry_of", "halved", "micros", "moment"]
