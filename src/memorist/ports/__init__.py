"""What the engine needs from outside: a store, models, a clock, and a hook for notices."""

from typing import TYPE_CHECKING

from memorist.model import Progress
from memorist.ports.models import (
    LLM,
    AnswerReranker,
    Clock,
    Completion,
    Embedder,
    ListReading,
    ListReranker,
    Purpose,
    Reading,
    ReadInList,
    Reranker,
    list_reading_of,
    readings_of,
)
from memorist.ports.store import (
    Bookkeeping,
    Embeddings,
    Listing,
    Maintenance,
    Plan,
    Reader,
    Searcher,
    Store,
    Updater,
    View,
)
from memorist.ports.values import (
    SCRUB,
    Batch,
    Damage,
    Embedded,
    Held,
    Kept,
    Record,
    Tally,
    TextField,
    Vectors,
)
from memorist.results.records import Entry, Job, Page, StoreStats

if TYPE_CHECKING:
    from memorist.ports.values import Vector as Vector

__all__ = [
    "LLM",
    "SCRUB",
    "AnswerReranker",
    "Batch",
    "Bookkeeping",
    "Clock",
    "Completion",
    "Damage",
    "Embedded",
    "Embedder",
    "Embeddings",
    "Entry",
    "Held",
    "Job",
    "Kept",
    "ListReading",
    "ListReranker",
    "Listing",
    "Maintenance",
    "Page",
    "Plan",
    "Progress",
    "Purpose",
    "ReadInList",
    "Reader",
    "Reading",
    "Record",
    "Reranker",
    "Searcher",
    "Store",
    "StoreStats",
    "Tally",
    "TextField",
    "Updater",
    "Vectors",
    "View",
    "list_reading_of",
    "readings_of",
]
