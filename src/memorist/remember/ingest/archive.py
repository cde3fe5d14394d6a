"""Zip files of ChatGPT's and Claude's exports, read inside, within limits."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from memorist.errors import InvalidInput
from memorist.remember.ingest.decode import HEAD, refuse_binary, text_of
from memorist.remember.ingest.documents import document_drafts
from memorist.remember.ingest.draft import Found
from memorist.remember.ingest.model import Skipped
from memorist.remember.ingest.values import parsed

MOST_MEMBER = 256 * 1024 * 1024
"""Bytes of one file inside, unpacked: as much as a JSON file may have outside."""
MOST_TOTAL = 4 * MOST_MEMBER
MOST_MEMBERS = 100_000
_CONVERSATIONS = re.compile(r"(?:.*/)?conversations(?:[-_]\d+)?\.json")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError),
    *(OSError, ValueError, KeyError),
)


def zip_drafts(path: Path, name: str, format: str | None = None) -> Iterator[Found]:
    """The turns of every conversations.json inside; other files are skipped, each with the reason."""
    try:
        archive = zipfile.ZipFile(path)
    except _BROKEN as error:
        raise InvalidInput(f"{name} is no readable zip file: {error}", remedy="Download the export again.") from None
    with archive:
        members = archive.infolist()
        wanted = [member for member in members if _CONVERSATIONS.fullmatch(member.filename)]
        _refuse_bombs(members, wanted, name)
        for member in sorted(wanted, key=lambda member: member.filename):
            yield from _member(archive, member, f"{name}/{member.filename.rsplit('/', 1)[-1]}", format)
        for member in members:
            if member not in wanted and not member.is_dir():
                yield Skipped(f"{name}/{member.filename}", "a file of the export without conversations")


def _refuse_bombs(members: list[zipfile.ZipInfo], wanted: list[zipfile.ZipInfo], name: str) -> None:
    if not wanted:
        raise InvalidInput(
            f"{name} holds no conversations.json", remedy="Unpack it and ingest the folder, if it holds texts."
        )
    if len(members) > MOST_MEMBERS or sum(member.file_size for member in wanted) > MOST_TOTAL:
        raise InvalidInput(
            f"{name} unpacks to more than {MOST_MEMBERS:,} files or {MOST_TOTAL // 2**20:,} MiB of conversations",
            remedy="Unpack it and ingest its files one by one.",
        )


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str, format: str | None) -> Iterator[Found]:
    try:
        if member.compress_type not in _METHODS:
            raise NotImplementedError
        with archive.open(member) as stream:
            data = stream.read(MOST_MEMBER + 1)
        if len(data) > MOST_MEMBER:
            yield Skipped(where, f"unpacks to more than {MOST_MEMBER // 2**20} MiB")
            return
        refuse_binary(data[:HEAD], where)
        text, notes = text_of(data, where)
        document = parsed(text)
    except _BROKEN as error:
        reason = error.problem if isinstance(error, InvalidInput) else "a damaged, encrypted or unknown kind of member"
        yield Skipped(where, reason)
        return
    yield from notes
    yield from document_drafts(document, where, format)
