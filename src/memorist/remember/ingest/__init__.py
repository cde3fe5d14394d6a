"""Readers for chats, notes and logs as texts to remember, and the registry that finds those of other products."""

from memorist.remember.ingest.files import File, Objects, detect, read, sources
from memorist.remember.ingest.formats import format_names
from memorist.remember.ingest.model import Cleaned, FactPiece, ImportTally, IngestReport, Item, Piece, Skipped

__all__ = [
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
    "format_names",
    "read",
    "sources",
]
