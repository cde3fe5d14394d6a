"""What we need from outside: a store, models that compute, and a clock."""

from typing import TYPE_CHECKING

from recollect.ports.models import LLM, Clock, Completion, Embedder, Purpose, Reranker
from recollect.ports.store import Plan, Reader, Store, View
from recollect.ports.values import (
    Batch,
    Embedded,
    Entry,
    Job,
    Kept,
    Page,
    Progress,
    Receipt,
    Record,
    StoreStats,
    TextField,
    Vectors,
)

if TYPE_CHECKING:
    from recollect.ports.values import Vector as Vector

__all__ = [
    "LLM",
    "Batch",
    "Clock",
    "Completion",
    "Embedded",
    "Embedder",
    "Entry",
    "Job",
    "Kept",
    "Page",
    "Plan",
    "Progress",
    "Purpose",
    "Reader",
    "Receipt",
    "Record",
    "Reranker",
    "Store",
    "StoreStats",
    "TextField",
    "Vectors",
    "View",
]
