"""Read and check the files of datasets; every error names its place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from memorist_bench.model import Dataset, Group
from memorist_import.rows import RowFields, fields, invalid_data


def read_bytes(file: Path) -> bytes:
    """The content of a file."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise invalid_data(file, f"it cannot be read ({error.strerror or error})") from None


def numbered_lines(file: Path, data: bytes) -> Iterator[tuple[str, str]]:
    """The non-blank lines of a file, each with its place."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            place = f"{file}, line {number}"
            try:
                yield place, line.decode().rstrip("\r")
            except UnicodeDecodeError:
                raise invalid_data(place, "this is not UTF-8") from None


def json_lines(file: Path, data: bytes) -> Iterator[RowFields]:
    """The objects of a file with one JSON object per line."""
    for place, line in numbered_lines(file, data):
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise invalid_data(place, f"this is not JSON ({error})") from None
        yield fields(value, place)


def json_document(file: Path, data: bytes) -> object:
    """The value in a JSON file."""
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise invalid_data(f"{file}, line {error.lineno}", f"this is not JSON ({error.msg})") from None
    except (ValueError, RecursionError) as error:
        raise invalid_data(file, f"this is not JSON ({error})") from None


def checksum(parts: Iterable[bytes]) -> str:
    """The SHA-256 of the concatenated parts."""
    return hashlib.sha256(b"".join(parts)).hexdigest()


def dataset(name: str, groups: Iterable[Group], digest: str, path: Path | None) -> Dataset:
    """A dataset; refuses one without questions."""
    kept = tuple(groups)
    if not any(question.gold for group in kept for question in group.questions):
        raise invalid_data(path or name, "no question has a judged document")
    return Dataset(name, kept, digest, path)
