"""Read what a caller brings: a file, a folder, or objects in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from memorist.errors import InvalidInput
from memorist.remember.ingest.detect import check_format
from memorist.remember.ingest.documents import as_objects, object_drafts
from memorist.remember.ingest.draft import Place, settled
from memorist.remember.ingest.files import File, below, is_folder, shown
from memorist.remember.ingest.model import Item, Skipped

Given = str | Path | Iterable[Any] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Objects:
    """Objects given in Python: messages, memories or conversations."""

    given: Iterable[Any] | Mapping[str, Any]
    session: str | None = None
    format: str | None = None

    def items(self) -> Iterator[Item]:
        """Their texts in order, and what was skipped or cleaned."""
        return settled(object_drafts(as_objects(self.given), None, self.format), Place(None, self.session))


def sources(
    what: Given, *, session: str | None = None, format: str | None = None
) -> Iterator[File | Objects | Skipped]:
    """The files or objects to read one after another; what was named and cannot be read is refused at once."""
    check_format(format)
    if session is not None and not session.strip():
        raise InvalidInput("session is empty", remedy="Give it a visible character, or leave it out.")
    if not isinstance(what, str | Path):
        return iter([_objects(what, session, format)])
    path = Path(what)
    if is_folder(path):
        return below(path, session, format)
    file = File(path, shown(path.name) or "the path", session, format)
    file.check()
    return iter([file])


def read(what: Given, *, session: str | None = None, format: str | None = None) -> Iterator[Item]:
    """Every text of a file, a folder or objects, in order, with what was skipped or cleaned and why.

    The same input gives the same pieces each time. Inside a folder a file that cannot be read is skipped.
    """
    found = sources(what, session=session, format=format)
    return (item for source in found for item in ([source] if isinstance(source, Skipped) else source.items()))


def detect(path: str | Path) -> str:
    """The format of a file by what it holds: one of FORMATS, or zip."""
    return File(Path(path), Path(path).name).detected()


def _objects(what: object, session: str | None, format: str | None) -> Objects:
    if isinstance(what, bytes | bytearray) or not isinstance(what, Iterable):
        raise InvalidInput(f"a {type(what).__name__} cannot be ingested", remedy="Give a path, or a list of messages.")
    return Objects(cast("Iterable[Any]", what), session, format)
