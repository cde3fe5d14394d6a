"""What `export`, `import_`, `backup` and `reembed` return, and the first line of an export."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from memorist.errors import InvalidInput, Remedy, VerbCall
from memorist.model.arguments import MOST_NESTED, nests_deeper
from memorist.results.records import StoreStats
from memorist.validate import validate

FORMAT = 1
Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExportHeader:
    """The first line of an export."""

    space: str
    embedding: str | None = None
    dimension: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict[str, int])


def header_for(stats: StoreStats) -> ExportHeader:
    """The header of an export of a store with these statistics."""
    counts = {
        "memories": stats.memories,
        "versions": stats.versions,
        "links": stats.links,
        "entities": stats.entities,
    }
    return ExportHeader(stats.space, stats.embedding, stats.dimension, counts)


def header_to_data(header: ExportHeader) -> dict[str, Any]:
    """A header as JSON data."""
    embedding = header.embedding and {"generation": header.embedding, "dimension": header.dimension}
    return {"memorist": FORMAT, "space": header.space, "embedding": embedding, "counts": dict(header.counts)}


def header_from_data(data: Data) -> ExportHeader:
    """A header from JSON data; refuses a file that is not an export, or one of a newer format."""
    version = data.get("memorist")
    if not isinstance(version, int):
        raise InvalidInput(
            "it is not an export of Memorist", remedy=Remedy("Pass a file that ", VerbCall("export"), " wrote.")
        )
    if version > FORMAT:
        raise InvalidInput(f"it has format {version}; this version reads up to {FORMAT}", remedy="Upgrade Memorist.")
    embedding = validate(data.get("embedding") or {}, Mapping[str, Any], "embedding")
    return ExportHeader(
        validate(data.get("space"), str, "space"),
        validate(embedding.get("generation"), str | None, "generation"),
        validate(embedding.get("dimension"), int | None, "dimension"),
        validate(data.get("counts", {}), Mapping[str, int], "counts"),
    )


DEEPEST = 2 * MOST_NESTED
"""How deep a record may be nested: an entry of the journal holds whole memories."""


def from_line(line: bytes) -> dict[str, Any]:
    """JSON data from a line."""
    value: object = json.loads(line.decode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    if nests_deeper(cast("object", value), DEEPEST):
        raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    return cast("dict[str, Any]", value)


@dataclass(frozen=True, slots=True)
class Exported:
    """The header of an export, and its number of lines."""

    head: ExportHeader
    lines: int


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import: memories added, known already, updated to later versions, in conflict, and masked."""

    space: str
    lines: int
    added: int
    known: int
    updated: int
    conflicts: tuple[str, ...]
    masked: int = 0
    """Memories whose secrets were masked."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was written and verified: its file, its size, and the number of notes."""

    path: Path
    bytes: int
    notes: int


@dataclass(frozen=True, slots=True)
class Reembedding:
    """The result of a run: the new generation, the previous one, and how many memories were embedded."""

    embedding: str
    dimension: int
    previous: str | None
    embedded: int
    memories: int
