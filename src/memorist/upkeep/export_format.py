"""The lines of an export."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from memorist.errors import InvalidInput
from memorist.model import Entity, Link, Memory, Noise, Showing, from_data, instant, isoformat, to_data
from memorist.ports import Embedded, Entry, Job, Kept, Record, StoreStats, Vectors

if TYPE_CHECKING:
    from memorist.ports import Vector


FORMAT = 1
Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Head:
    """The first line of an export."""

    space: str
    embedding: str | None = None
    dimension: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict[str, int])


def head_of(stats: StoreStats) -> Head:
    """The first line for a store that holds so much."""
    counts = {
        "memories": stats.memories,
        "versions": stats.versions,
        "links": stats.links,
        "entities": stats.entities,
    }
    return Head(stats.space, stats.embedding, stats.dimension, counts)


def head_to_data(head: Head) -> dict[str, Any]:
    """A first line as JSON data."""
    embedding = head.embedding and {"generation": head.embedding, "dimension": head.dimension}
    return {"memorist": FORMAT, "space": head.space, "embedding": embedding, "counts": dict(head.counts)}


def head_from_data(data: Data) -> Head:
    """A first line from JSON data; refuses what is no export, or one of a newer format."""
    version = data.get("memorist")
    if not isinstance(version, int):
        raise InvalidInput("it is not an export of Memorist", remedy="Give a file that `memorist export` wrote.")
    if version > FORMAT:
        raise InvalidInput(f"it has format {version}, and this version reads {FORMAT}", remedy="Upgrade Memorist.")
    embedding: Data = data.get("embedding") or {}
    return Head(data["space"], embedding.get("generation"), embedding.get("dimension"), data.get("counts", {}))


def record_to_data(record: Record) -> dict[str, Any]:
    """A line as JSON data."""
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
            about = {"subjects": list(record.subjects), "data": dict(record.data)}
            return {"entry": {"id": record.id, "at": isoformat(record.at), "verb": record.verb, **about}}
        case Showing():
            return {"shown": [record.session, record.id, isoformat(record.at)]}
        case Noise():
            return {"noise": record.text}


def record_from_data(data: Data, embedding: str | None) -> Record:
    """A line from JSON data; its vectors are of the embedding generation that the first line names."""
    sort = next((name for name in READERS if name in data), None)
    if sort is None:
        raise InvalidInput(f"it holds nothing that is known ({', '.join(data)[:80]})", remedy="Upgrade Memorist.")
    if sort == "memory":
        return Kept(
            from_data(Memory, data["memory"]),
            _unpacked(data.get("vectors", {}), embedding),
            tuple(map(_job, data.get("jobs", ()))),
        )
    return READERS[sort](data[sort])


def to_line(data: Data) -> bytes:
    """Data as a line."""
    return (json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "surrogatepass")


def from_line(line: bytes) -> dict[str, Any]:
    """Data from a line."""
    value: object = json.loads(line.decode("utf-8", "surrogatepass"))
    if not isinstance(value, dict):
        raise ValueError("it is not a JSON object")
    return cast("dict[str, Any]", value)


def _job_data(job: Job) -> list[Any]:
    return [job.task, job.subject, isoformat(job.due), job.attempts, job.error]


def _job(data: Any) -> Job:
    task, subject, due, attempts, error = data
    return Job(task, subject, instant(due), attempts, error)


def _entity(data: Any) -> Entity:
    id, name, kind, aliases = data
    return Entity(id, name, kind, tuple(aliases))


def _link(data: Any) -> Link:
    source, relation, target, weight = data
    return Link(source, relation, target, weight)


def _entry(data: Any) -> Entry:
    return Entry(data["id"], instant(data["at"]), data["verb"], tuple(data["subjects"]), data["data"])


def _shown(data: Any) -> Showing:
    session, id, at = data
    return Showing(session, id, instant(at))


def _memory(data: Any) -> Kept:
    return Kept(from_data(Memory, data))


READERS: Mapping[str, Callable[[Any], Record]] = {
    "memory": _memory,
    "entity": _entity,
    "link": _link,
    "job": _job,
    "entry": _entry,
    "shown": _shown,
    "noise": Noise,
}


def _packed(vectors: Vectors) -> dict[str, str]:
    return {view: b64encode(vector.astype("<f2").tobytes()).decode() for view, vector in sorted(vectors.items())}


def _unpacked(data: Data, embedding: str | None) -> Vectors:
    import numpy as np

    if not data:
        return {}
    if embedding is None:
        raise InvalidInput("it has vectors, and the first line names no embedding", remedy="Export it again.")

    def vector(text: str) -> Vector:
        return np.frombuffer(b64decode(text, validate=True), "<f2").astype(np.float32)

    return Embedded(embedding, {view: vector(text) for view, text in data.items()})
