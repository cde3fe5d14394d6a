"""Notes as Markdown files: each appears whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from memorist.errors import StoreError
from memorist.model import CITES, Memory
from memorist.upkeep.consolidate.model import Record

ID_SHOWN = 12
"""Characters of an id that a file cites it by; commands take the beginning of an id."""


def rendered(record: Record, lines: Sequence[Memory]) -> str:
    """A note as Markdown: a heading, a list for each scope, and for each line the ids it rests on."""
    parts = [f"# {record.name}"]
    scopes = [(scope, list(told)) for scope, told in groupby(lines, lambda line: line.scope)]
    for scope, told in scopes:
        heading = [] if [scope] == [one for one, _ in scopes] and scope == "global" else [f"## {scope}"]
        parts += [*heading, "\n".join(map(_bullet, told))]
    parts.append(f"<!-- {record.kind} note, version {record.version}, by {record.by} -->")
    return "\n\n".join(parts) + "\n"


def _bullet(line: Memory) -> str:
    ids = ", ".join(id[:ID_SHOWN] for id in line.metadata.get(CITES, ()))
    return f"- {' '.join(line.text.split())} [{ids}]"


def write_note(path: Path, text: str) -> None:
    """Write a file in place of one that may be there."""
    part = path.with_name(f".{path.name}.part-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror})",
            remedy="Set notes_dir to another folder, or free space.",
        ) from error
    finally:
        part.unlink(missing_ok=True)


def drop_note(path: Path) -> None:
    """Remove a file that may be there."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be removed ({error.strerror})", remedy="Remove it by hand.") from error
