"""Folders and zip archives as trees of files; an archive is never unpacked to disk."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from memorist.errors import InvalidInput
from memorist.remember.ingest.decoding import UnreadableFile, refuse_binary, text_of
from memorist.remember.ingest.formats import HEAD, Head
from memorist.remember.ingest.model import Cleaned
from memorist.remember.ingest.values import parse_json

MOST_MEMBER = 256 * 1024 * 1024
"""The most unpacked bytes per archive member, the same as for a JSON file outside an archive."""
MOST_TOTAL = 4 * MOST_MEMBER
MOST_MEMBERS = 100_000
MOST_RATIO, SMALL = 100, 16 * 1024 * 1024
"""Texts shrink to a fifth or a tenth: a member that unpacks to more than so many times its bytes is no text, unless it
is small."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError),
    *(OSError, ValueError, KeyError),
)


class Tree(Protocol):
    """The files of an export, by their names relative to it."""

    def names(self) -> Sequence[str]:
        """The names of all files, sorted."""
        ...

    def read(self, name: str) -> bytes:
        """The content of a file; raises `InvalidInput` with the reason if it cannot be read."""
        ...


def json_in(tree: Tree, name: str, where: str) -> tuple[Any, list[Cleaned]]:
    """The JSON document in a file of a tree, and notes on how its text was cleaned."""
    data = tree.read(name)
    refuse_binary(data[:HEAD], where)
    text, notes = text_of(data, where)
    return parse_json(text), notes


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder on disk; links are left out."""

    path: Path

    def names(self) -> list[str]:
        """The names of all regular files below it, sorted."""
        found: list[str] = []
        for place, _, files in os.walk(self.path):
            paths = [Path(place, name) for name in files]
            found += [path.relative_to(self.path).as_posix() for path in paths if _is_regular(path)]
        return sorted(found)

    def read(self, name: str) -> bytes:
        """The content of a file."""
        try:
            with (self.path / name).open("rb") as stream:
                data = stream.read(MOST_MEMBER + 1)
        except OSError as error:
            raise InvalidInput(f"cannot be read: {error.strerror}", remedy="Check its permissions.") from None
        return _bounded(data, MOST_MEMBER)


@dataclass(frozen=True, slots=True)
class Archive:
    """A zip archive, read member by member."""

    zip: zipfile.ZipFile

    def names(self) -> list[str]:
        """The names of all files in it, sorted, without those that lead out of it."""
        return [name for name in self._all() if not leads_out(name)]

    def unsafe(self) -> list[str]:
        """The names that lead out of it."""
        return [name for name in self._all() if leads_out(name)]

    def _all(self) -> list[str]:
        names = {member.filename for member in self.zip.infolist()}
        return sorted(name for name in names if name and not name.endswith("/"))

    def read(self, name: str) -> bytes:
        """The content of a file; no more than the limit is unpacked."""
        try:
            member = self.zip.getinfo(name)
            if member.compress_type not in _METHODS:
                raise NotImplementedError
            with self.zip.open(member) as stream:
                most = min(MOST_MEMBER, max(SMALL, MOST_RATIO * member.compress_size))
                data = stream.read(most + 1)
        except _BROKEN:
            raise InvalidInput(
                "damaged, encrypted or in an unknown format", remedy="Download the export again."
            ) from None
        return _bounded(data, most)

    def refuse_bombs(self, wanted: Sequence[str], name: str) -> None:
        """Raise if the wanted files would unpack to more than the limit, by what the archive says of itself."""
        members, chosen = self.zip.infolist(), set(wanted)
        total = sum(member.file_size for member in members if member.filename in chosen)
        if len(members) > MOST_MEMBERS or total > MOST_TOTAL:
            reason = f"unpacks to more than {MOST_MEMBERS:,} files or {MOST_TOTAL // 2**20:,} MiB of conversations"
            raise UnreadableFile(name, reason, remedy="Unpack it and ingest its files one by one.")


def is_zip(head: Head) -> bool:
    """Whether a file is a zip archive."""
    return head.data.startswith(b"PK\x03\x04")


@contextmanager
def open_zip(path: Path, name: str) -> Generator[Archive]:
    """Open an archive; raises `InvalidInput` if it is not a readable one."""
    try:
        archive = zipfile.ZipFile(path)
    except _BROKEN as error:
        raise UnreadableFile(
            name, "is not a readable zip file", detail=str(error), remedy="Download the export again."
        ) from None
    with archive:
        yield Archive(archive)


def leads_out(name: str) -> bool:
    """Whether the name of an archive member points outside the archive."""
    parts = name.replace("\\", "/").split("/")
    return ".." in parts or not parts[0] or ":" in parts[0]


def _is_regular(path: Path) -> bool:
    """Whether a path is a file and no link; False if it is gone."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _bounded(data: bytes, most: int) -> bytes:
    if len(data) > most:
        raise InvalidInput(f"unpacks to more than {most // 2**20} MiB", remedy="Split the export.")
    return data
