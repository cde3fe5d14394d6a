"""Exports of several files, as a folder or a zip archive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO

from memorist.errors import InvalidInput
from memorist.remember.ingest.decoding import UnreadableFile, reason_of
from memorist.remember.ingest.formats import FolderFormat, InputFile
from memorist.remember.ingest.model import Found, Skipped
from memorist.remember.ingest.objects import ObjectReader, document_drafts, jsonl_drafts
from memorist.text.patterns import lazy
from memorist_import.archives import Archive, Folder, Tree, json_in, open_zip
from memorist_import.cognee import cogx_files, cogx_root
from memorist_import.slack import slack_drafts, slack_files, slack_root

_WANTED = lazy(r"(?:.*/)?(?:conversations(?:[-_]\d+)?|documents/\d++|observations|mental_models|directives)\.json")
"""The files that are read in a zip: conversations of ChatGPT and Claude, and what Hindsight exports."""
UNSAFE = "its name leads out of the archive"


def zip_drafts(file: InputFile) -> Iterator[Found]:
    """An export of several files, or every file of conversations or memories; the rest is skipped with a reason."""
    name = file.name
    with open_zip(file.path, name) as archive:
        yield from (Skipped(f"{name}/{member}", UNSAFE) for member in archive.unsafe())
        safe = archive.names()
        if export := export_of(safe):
            archive.refuse_bombs(safe, name)
            yield from export.drafts(archive, name)
            return
        wanted = [member for member in safe if _WANTED.fullmatch(member)]
        if not wanted:
            raise UnreadableFile(
                name,
                "contains no conversations.json and is no export of Slack, Hindsight or Cognee",
                remedy="If it contains texts, unpack it and ingest the folder.",
            )
        archive.refuse_bombs(wanted, name)
        for member in wanted:
            yield from _member(archive, member, f"{name}/{member.rpartition('/')[2]}", file.format)
        others = sorted({*safe} - {*wanted})
        yield from (Skipped(f"{name}/{member}", "not a file of conversations or memories") for member in others)


def _member(archive: Archive, member: str, where: str, format: str | None) -> Iterator[Found]:
    try:
        document, notes = json_in(archive, member, where)
    except InvalidInput as error:
        yield Skipped(where, reason_of(error))
        return
    yield from notes
    yield from document_drafts(document, where, format)


def cogx_drafts(tree: Tree, name: str) -> Iterator[Found]:
    """The records of an archive of Cognee, the names before the facts that need them."""
    reader, files = ObjectReader("cognee"), cogx_files(tree)
    for file in files:
        try:
            stream = BytesIO(tree.read(file))
        except InvalidInput as error:
            yield Skipped(file, reason_of(error))
            continue
        yield from jsonl_drafts(stream, file, reader)
    yield from (Skipped(member, "not a file of records") for member in tree.names() if member not in files)


@dataclass(frozen=True, slots=True)
class Export:
    """How an export of several files is recognised and read as one."""

    name: str
    root: Callable[[Sequence[str]], str | None]
    files: Callable[[Tree], Sequence[str]]
    drafts: Callable[[Tree, str], Iterator[Found]]

    def folder(self) -> FolderFormat:
        """The format of a folder with these files."""
        return FolderFormat(
            self.name,
            lambda name, inside: self.root(inside) is not None,
            lambda path, name: self.drafts(Folder(path), name),
            lambda path: len(self.files(Folder(path))),
        )


EXPORTS = (
    Export("slack", slack_root, slack_files, slack_drafts),
    Export("cognee", cogx_root, cogx_files, cogx_drafts),
)


def export_of(names: Sequence[str]) -> Export | None:
    """The export that these files are, if they are read as one."""
    return next((export for export in EXPORTS if export.root(names) is not None), None)
