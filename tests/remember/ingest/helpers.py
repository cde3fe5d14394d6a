"""Helpers for the ingestion tests."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memorist.model import Memory
from memorist.remember.ingest import Cleaned, Item, Piece, Skipped, read
from memorist.remember.record import record

NOW = datetime(2025, 1, 1, tzinfo=UTC)


def items(what: Any, **options: Any) -> list[Item]:
    return list(read(what, **options))


def pieces(found: Iterable[Item]) -> list[Piece]:
    return [item for item in found if isinstance(item, Piece)]


def skipped(found: Iterable[Item]) -> list[Skipped]:
    return [item for item in found if isinstance(item, Skipped)]


def cleaned(found: Iterable[Item]) -> list[Cleaned]:
    return [item for item in found if isinstance(item, Cleaned)]


def memories(found: Iterable[Item], now: datetime = NOW) -> list[Memory]:
    return [record(piece.text, now, **piece.fields) for piece in pieces(found)]


def talk(found: Iterable[Item]) -> list[tuple[str | None, str]]:
    """Who said what."""
    return [(piece.fields.get("speaker"), piece.text) for piece in pieces(found)]


def positions(found: Iterable[Item]) -> dict[str | None, list[int | None]]:
    places: dict[str | None, list[int | None]] = defaultdict(list)
    for piece in pieces(found):
        places[piece.fields.get("session")].append(piece.fields.get("position"))
    return dict(places)


def written(path: Path, content: object) -> Path:
    """A file with this content: bytes, text, or anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
    return path
