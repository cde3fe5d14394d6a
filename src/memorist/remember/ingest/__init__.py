"""Readers for chats, notes, logs and the exports of other products, as texts to remember."""

from memorist.remember.ingest.files import File, Objects, detect, read, sources
from memorist.remember.ingest.formats import FORMATS
from memorist.remember.ingest.model import Cleaned, FactPiece, ImportTally, IngestReport, Item, Piece, Skipped

__all__ = [
    "FORMATS",
    "Cleaned",
    "FactPiece",
    "File",
    "ImportTally",
    "IngestReport",
    "Item",
    "Objects",
    "Piece",
    "Skipped",
    "detect",
    "read",
    "sources",
]
