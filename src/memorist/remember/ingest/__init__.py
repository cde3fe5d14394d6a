"""What users bring, read: chats, notes, logs and the exports of other products, as texts to remember."""

from memorist.remember.ingest.detect import FORMATS
from memorist.remember.ingest.files import File
from memorist.remember.ingest.model import Cleaned, IngestReport, Item, Piece, Skipped, Tally
from memorist.remember.ingest.reading import Objects, detect, read, sources

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
