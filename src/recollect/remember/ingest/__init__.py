"""What users bring, read: chats, notes, logs and the exports of other products, as texts to remember."""

from recollect.remember.ingest.detect import FORMATS
from recollect.remember.ingest.files import File
from recollect.remember.ingest.model import Cleaned, IngestReport, Item, Piece, Skipped, Tally
from recollect.remember.ingest.reading import Objects, detect, read, sources

__all__ = [
    "FORMATS",
    "Cleaned",
    "File",
    "IngestReport",
    "Item",
    "Objects",
    "Piece",
    "Skipped",
    "Tally",
    "detect",
    "read",
    "sources",
]
