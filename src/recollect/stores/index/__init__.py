"""The in-memory index that stores share: what they keep on disk, these columns search."""

from recollect.stores.index.entry import Entry, entry_of, halved, micros, moment
from recollect.stores.index.index import Index
from recollect.stores.index.view import IndexView

__all__ = ["Entry", "Index", "IndexView", "entry_of", "halved", "micros", "moment"]
