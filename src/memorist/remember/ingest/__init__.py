"""Readers for chats, notes, logs and the exports of other products, as texts to remember."""

from memorist.remember.ingest.files import File, Objects, detect, read, sources
from memorist.remember.ingest.formats import FORMATS
from memorist.remember.ingest.model import Cleaned, IngestReport, Item, Piece, Skipped, Statement, Tally

__all__ = [
    "FORMATS",
    "Cleaned",
    "File",
    "IngestReport",
    "Item",
    "Objects",
    "Piece",
    "Skipped",
    "Statement",
    "Tally",
    "detect",
    "read",
    "sources",
]
