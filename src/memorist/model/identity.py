"""Ids: stable in every process and store, and apart for each classification."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

USUAL_CLASSIFICATION = 1
"""The classification of a memory that is given none."""
MOST_CLASSIFIED = 3
"""The highest classification."""
_MARK = "~"


def isoformat(moment: datetime) -> str:
    """A UTC moment as ISO 8601 text ending in Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def fingerprint(*parts: object) -> str:
    """A stable 128-bit id of its parts, the same in every process and store."""
    text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def memory_id(
    text: str,
    *,
    scope: str,
    key: str | None = None,
    source: str | None = None,
    session: str | None = None,
    position: int | None = None,
    at: datetime | None = None,
    classification: int = USUAL_CLASSIFICATION,
) -> str:
    """The id of a memory: from its scope and key, else from its scope, text, origin and time.

    The same memory under two classifications is two memories: neither replaces the other, or tells of it.
    """
    apart = beside_the_usual(classification)
    if key is not None:
        return fingerprint("key", scope, key, *apart)
    return fingerprint("text", scope, source, session, position, text, isoformat(at) if at else None, *apart)


def beside_the_usual(classification: int) -> tuple[int, ...]:
    """What a classification adds to an id: nothing if it is the usual one."""
    return () if classification == USUAL_CLASSIFICATION else (classification,)


def marked(name: str, classification: int) -> str:
    """The name that something without a classification of its own has within one: an entity, a task or an entry."""
    return name if classification == USUAL_CLASSIFICATION else f"{bare_name(name)}{_MARK}{classification}"


def bare_name(name: str) -> str:
    """A name without the mark of its classification."""
    return name[:-2] if name[-2:-1] == _MARK else name


def marked_classification(name: str) -> int:
    """The classification that a name is marked with; the usual one if it has no mark."""
    return int(name[-1]) if name[-2:-1] == _MARK and name[-1].isdecimal() else USUAL_CLASSIFICATION
