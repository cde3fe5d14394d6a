"""The format of an export: lines of JSON, first a header, then one record per line."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from memorist.errors import InvalidInput
from memorist.model import Entity, Link, Memory, Noise, Showing, from_data, instant, isoformat, to_data
from memorist.model.arguments import MOST_NESTED, nests_deeper
from memorist.ports import Embedded, Entry, Job, Kept, Record, StoreStats, Vectors

if TYPE_CHECKING:
    from memorist.ports import Vector


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
        raise InvalidInput("it is not an export of Memorist", remedy="Pass a file that `memorist export` wrote.")
    if version > FORMAT:
        raise InvalidInput(f"it has format {version}; this version reads up to {FORMAT}", remedy="Upgrade Memorist.")
    embedding: Data = data.get("embedding") or {}
    return ExportHeader(data["space"], embedding.get("generation"), embedding.get("dimension"), data.get("counts", {}))


def record_to_data(record: Record) -> dict[str, Any]:
    """A record as JSON data."""
    match record:
        case Kept():
            return {
                "memory": to_data(record.memory),
                **({"vectors": _packed(record.vectors)} if record.vectors else {}),
                **({"jobs": [_job_data(job) for job in record.jobs]} if record.jobs else {}),
            }
        case Entity():
            return {"entity": [record.id, record.name, record.kind, list(record.aliases)]}
        case Link():
            return {"link": [record.source, record.relation, record.target, record.weight]}
        case Job():
            return {"job": _job_data(record)}
        case Entry():
            return {"entry": to_data(record)}
        case Showing():
            return {"shown": [record.session, record.id, isoformat(record.at)]}
        case Noise():
            return {"noise": record.text}


def record_from_data(data: Data, embedding: str | None) -> Record:
    """A record from JSON data; its vectors are of the embedding generation that the header names."""
    if "memory" in data:
        return Kept(
            from_data(Memory, data["memory"]),
            _unpacked(data.get("vectors", {}), embedding),
            tuple(map(_job, data.get("jobs", ()))),
        )
    kind = next((name for name in READERS if name in data), None)
    if kind is None:
        raise InvalidInput(f"unknown kind of record ({', '.join(data)[:80]})", remedy="Upgrade Memorist.")
    return READERS[kind](data[kind])


def to_line(data: Data) -> bytes:
    """JSON data as a line."""
    return (json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "surrogatepass")


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


def _job_data(job: Job) -> list[Any]:
    return [job.task, job.subject, isoformat(job.due), job.attempts, job.error]


def _job(data: Any) -> Job:
    task, subject, due, attempts, error = data
    return Job(task, subject, instant(due), attempts, error)


def _entity(data: Any) -> Entity:
    id, name, kind, aliases = data
    return Entity(id, name, kind, tuple(aliases))


READERS: Mapping[str, Callable[[Any], Record]] = {
    "entity": _entity,
    "link": lambda data: Link(*data),
    "job": _job,
    "entry": lambda data: Entry(data["id"], instant(data["at"]), data["verb"], tuple(data["subjects"]), data["data"]),
    "shown": lambda data: Showing(data[0], data[1], instant(data[2])),
    "noise": Noise,
}


def _packed(vectors: Vectors) -> dict[str, str]:
    return {view: b64encode(vector.astype("<f2").tobytes()).decode() for view, vector in sorted(vectors.items())}


def _unpacked(data: Data, embedding: str | None) -> Vectors:
    import numpy as np

    if not data:
        return {}
    if embedding is None:
        raise InvalidInput("it has vectors, and the header names no embedding", remedy="Export it again.")

    def vector(text: str) -> Vector:
        return np.frombuffer(b64decode(text, validate=True), "<f2").astype(np.float32)

    return Embedded(embedding, {view: vector(text) for view, text in data.items()})
