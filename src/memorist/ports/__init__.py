"""What we need from outside: a store, models that compute, and a clock."""

from typing import TYPE_CHECKING

from memorist.ports.models import LLM, Clock, Completion, Embedder, Purpose, Reranker
from memorist.ports.store import Plan, Reader, Store, View
from memorist.ports.values import (
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
    from memorist.ports.values import Vector as Vector

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
