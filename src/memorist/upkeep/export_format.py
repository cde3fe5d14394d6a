"""The format of an export: lines of JSON, first a header (`memorist.results.moving`), then one record per line."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memorist.errors import InvalidInput
from memorist.model import Entity, Link, Memory, NoiseText, Showing, from_data, instant, isoformat, to_data
from memorist.ports import Embedded, Entry, Job, Kept, Record, Vectors
from memorist.results.moving import Data
from memorist.validate import validate

if TYPE_CHECKING:
    from memorist.ports import Vector


def record_to_data(record: Record) -> dict[str, Any]:
    """A record as JSON data."""
    match record:
        case Kept():
            return {
                "memory": to_data(record.memory),
                **({"vectors": pack_vectors(record.vectors)} if record.vectors else {}),
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
        case NoiseText():
            return {"noise": record.text}


def record_from_data(data: Data, embedding: str | None) -> Record:
    """A record from JSON data; its vectors are of the embedding generation that the header names."""
    if "memory" in data:
        return Kept(
            from_data(Memory, data["memory"]),
            unpack_vectors(data.get("vectors", {}), embedding),
            tuple(map(_job, data.get("jobs", ()))),
        )
    kind = next((name for name in READERS if name in data), None)
    if kind is None:
        raise InvalidInput(f"unknown kind of record ({', '.join(data)[:80]})", remedy="Upgrade Memorist.")
    return READERS[kind](data[kind])


def to_line(data: Data) -> bytes:
    """JSON data as a line."""
    return (json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "surrogatepass")


def _job_data(job: Job) -> list[Any]:
    return [job.task, job.subject, isoformat(job.due), job.attempts, job.error]


def _job(data: Any) -> Job:
    task, subject, due, attempts, error = data
    return Job(_text(task), _text(subject), _moment(due), validate(attempts, int, "attempts"), _text_or_none(error))


def _entity(data: Any) -> Entity:
    id, name, kind, aliases = data
    return Entity(_text(id), _text(name), _text_or_none(kind), _texts(aliases))


def _link(data: Any) -> Link:
    source, relation, target, weight = data
    return Link(_text(source), _text(relation), _text(target), validate(weight, float, "weight"))


def _entry(data: Any) -> Entry:
    kept = validate(data["data"], Mapping[str, Any], "data")
    return Entry(_text(data["id"]), _moment(data["at"]), _text(data["verb"]), _texts(data["subjects"]), kept)


def _showing(data: Any) -> Showing:
    session, id, at = data
    return Showing(_text(session), _text(id), _moment(at))


def _text(value: object) -> str:
    return validate(value, str, "a text")


def _text_or_none(value: object) -> str | None:
    return validate(value, str | None, "a text")


def _texts(value: object) -> tuple[str, ...]:
    return validate(value, tuple[str, ...], "a list of texts")


def _moment(value: object) -> datetime:
    return instant(_text(value))


READERS: Mapping[str, Callable[[Any], Record]] = {
    "entity": _entity,
    "link": _link,
    "job": _job,
    "entry": _entry,
    "shown": _showing,
    "noise": lambda data: NoiseText(_text(data)),
}


def pack_vectors(vectors: Vectors) -> dict[str, str]:
    """Vectors as JSON data: base64 of little-endian float16, per view."""
    return {view: b64encode(vector.astype("<f2").tobytes()).decode() for view, vector in sorted(vectors.items())}


def unpack_vectors(data: Data, embedding: str | None) -> Vectors:
    """Vectors from JSON data; they are of the embedding generation that the header names."""
    import numpy as np

    if not data:
        return {}
    if embedding is None:
        raise InvalidInput("it has vectors, and the header names no embedding", remedy="Export it again.")

    def vector(text: str) -> Vector:
        return np.frombuffer(b64decode(text, validate=True), "<f2").astype(np.float32)

    views = validate(data, Mapping[str, str], "vectors")
    return Embedded(embedding, {view: vector(text) for view, text in views.items()})
