"""Reading dataset files safely, and the memories of a dataset as a space."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast

from memorist.bench.model import Dataset, Document, Group, Question
from memorist.engine.open import open_store
from memorist.errors import InvalidInput
from memorist.model import Filter, Kind, Memory, isoformat
from memorist.upkeep.feedback import JudgedRecall, judged

REPAIR = "Correct the file, or fetch the set again; docs/how-to/datasets.md describes the layouts."


def broken(place: str | Path, problem: str) -> InvalidInput:
    """The error for data that cannot be used, with its place."""
    return InvalidInput(f"{place}: {problem}", remedy=REPAIR)


@dataclass(frozen=True, slots=True)
class RowFields:
    """A JSON object and the place it stands at."""

    values: Mapping[str, object]
    place: str

    def text(self, name: str) -> str:
        """A text that must be there and say something."""
        value = self.values.get(name)
        if not isinstance(value, str) or not value.strip():
            raise broken(self.place, f"{name!r} is missing or is not a text")
        return value

    def optional_text(self, name: str) -> str | None:
        """A text that may be absent, null or empty."""
        return self.text(name) if self.values.get(name) not in (None, "") else None

    def moment(self, name: str, read: Callable[[str], datetime]) -> datetime | None:
        """A time that may be absent, as `read` understands it."""
        written = self.optional_text(name)
        return None if written is None else self.read_moment(written, read)

    def read_moment(self, written: str, read: Callable[[str], datetime]) -> datetime:
        """A time as `read` understands it."""
        try:
            return read(written)
        except ValueError:  # InvalidInput is one
            raise broken(self.place, f"{written!r} is not a time") from None

    def object(self, name: str) -> RowFields:
        """An object that may be absent or null: then it is empty."""
        return fields(self.values.get(name) or {}, f"{self.place}, {name}")

    def items(self, name: str) -> list[object]:
        """A list that must be there."""
        return items(self.values.get(name), f"{self.place}, {name}")

    def objects(self, name: str) -> list[RowFields]:
        """A list of objects that must be there."""
        return objects(self.values.get(name), f"{self.place}, {name}")


def fields(value: object, place: str) -> RowFields:
    """A value that must be a JSON object."""
    if not isinstance(value, dict):
        raise broken(place, "this is not a JSON object")
    return RowFields(cast("dict[str, object]", value), place)


def items(value: object, place: str) -> list[object]:
    """A value that must be a JSON list."""
    if not isinstance(value, list):
        raise broken(place, "a list is missing")
    return cast("list[object]", value)


def objects(value: object, place: str) -> list[RowFields]:
    """A value that must be a JSON list of objects."""
    return [fields(one, f"{place}[{number}]") for number, one in enumerate(items(value, place))]


def read(file: Path) -> bytes:
    """The bytes of a file that must be there."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise broken(file, f"it cannot be read ({error.strerror or error})") from None


def lines(file: Path, data: bytes) -> Iterator[tuple[str, str]]:
    """The lines of a file that say something, each after its place."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            place = f"{file}, line {number}"
            try:
                yield place, line.decode().rstrip("\r")
            except UnicodeDecodeError:
                raise broken(place, "this is not UTF-8") from None


def json_lines(file: Path, data: bytes) -> Iterator[RowFields]:
    """The objects of a file with one on each line."""
    for place, line in lines(file, data):
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise broken(place, f"this is not JSON ({error})") from None
        yield fields(value, place)


def json_document(file: Path, data: bytes) -> object:
    """The one value that a JSON file holds."""
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise broken(f"{file}, line {error.lineno}", f"this is not JSON ({error.msg})") from None
    except (ValueError, RecursionError) as error:
        raise broken(file, f"this is not JSON ({error})") from None


def checksum(parts: Iterable[bytes]) -> str:
    """The sha256 of these bytes, one after the other."""
    digest = hashlib.sha256()
    for one in parts:
        digest.update(one)
    return digest.hexdigest()


def dataset(name: str, groups: Iterable[Group], digest: str, path: Path | None) -> Dataset:
    """A dataset that has something to ask."""
    kept = tuple(groups)
    if not any(group.questions for group in kept):
        raise broken(path or name, "no question has a judged document")
    return Dataset(name, kept, digest, path)


EVERYTHING = 10_000_000


TOLD = (Kind.EPISODIC, Kind.SEMANTIC, Kind.PROCEDURAL)
"""Kinds that somebody told; what is derived from them is derived again."""


def load_space(path: Path) -> Dataset:
    """The memories of a file, judged by the feedback that was given on recalls."""
    store = open_store(str(path), None)
    try:
        page = store.scan(Filter(kinds=TOLD), EVERYTHING)
        memories = [one for one in page.items if one.fact is None and one.version_of is None]
        recalls = [one for one in judged(store) if one.useful]
    finally:
        store.close()
    if not recalls:
        raise InvalidInput(
            f"{path} has no feedback on a recall to judge by", remedy="Give some: feedback(id, 'useful', recall)."
        )
    return from_space(path.stem, memories, recalls)


def from_space(name: str, memories: Iterable[Memory], recalls: Iterable[JudgedRecall]) -> Dataset:
    """One group of all memories in the order they were told; a recall whose useful ones are gone is left out."""
    told = sorted(memories, key=lambda memory: (memory.times.ingested_at, memory.origin.position or 0, memory.id))
    ids = {memory.id for memory in told}
    questions = tuple(
        Question(f"recall-{number}", recall.query, {id: 1.0 for id in sorted(recall.useful & ids)}, at=recall.at)
        for number, recall in enumerate(recalls, 1)
        if recall.useful & ids
    )
    group = Group(name, tuple(_document(memory) for memory in told), questions)
    return dataset(name, [group], checksum(_content(group)), None)


def _document(memory: Memory) -> Document:
    return Document(memory.id, memory.text, memory.times.ingested_at, memory.origin.speaker, memory.origin.session)


def _content(group: Group) -> Iterable[bytes]:
    for one in group.documents:
        yield _line(one.id, one.text, one.at, one.speaker, one.session)
    for one in group.questions:
        yield _line(one.id, one.text, one.at, *one.gold)


def _line(*parts: str | datetime | None) -> bytes:
    written = [isoformat(part) if isinstance(part, datetime) else part for part in parts]
    return json.dumps(written, ensure_ascii=False).encode() + b"\n"
