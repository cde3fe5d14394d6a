"""The values that verbs accept, for surfaces that describe them."""

from pathlib import Path

from memorist.recall.data import to_data as recipe_to_data
from memorist.remember.derived import session_key
from memorist.remember.ingest import FactPiece, Piece, format_names, read
from memorist.remember.sessions import Session
from memorist.remember.sessions.run import run_of
from memorist.upkeep.consolidate.notes import PeriodKind
from memorist.upkeep.feedback import Verdict

__all__ = [
    "PeriodKind",
    "Session",
    "Verdict",
    "format_names",
    "recipe_to_data",
    "run_of",
    "session_key",
    "texts_in",
]


def texts_in(path: Path, format: str | None = None) -> int:
    """How many texts `ingest` would read in a file or folder; reading is quick beside keeping them."""
    return sum(isinstance(item, Piece | FactPiece) for item in read(path, format=format))
