"""Where notes are kept: their lines as memories, their trail in the journal, and their files in a folder, if any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memorist.model import CITES, Link, Memory
from memorist.ports import Batch, Reader, Store, Vectors
from memorist.upkeep.consolidate.files import drop_note, rendered, write_note
from memorist.upkeep.consolidate.model import VERB, Record, cited, record_of

EVERY_ENTRY = 1_000_000
Name = tuple[str, str]
"""The kind of a period and its name."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The notes of one store."""

    store: Store
    folder: Path | None

    def known(self) -> dict[Name, Record]:
        """What there is, by period."""
        records = map(record_of, self.store.journal(VERB, limit=EVERY_ENTRY))
        return {(one.kind, one.name): one for one in records}

    def lines(self, record: Record) -> list[Memory]:
        """The lines of a note, in order."""
        there = self.store.get(record.lines)
        return [there[id] for id in record.lines if id in there]

    def path(self, record: Record) -> Path | None:
        """Where a note's file lies."""
        return None if self.folder is None else self.folder / record.kind / f"{record.name}.md"

    def publish(self, record: Record, lines: Sequence[Memory]) -> None:
        """Write a note's file, or remove that of a note without lines."""
        path = self.path(record)
        if path is not None and lines:
            write_note(path, rendered(record, lines))
        elif path is not None:
            drop_note(path)

    def republish(self, record: Record) -> None:
        """Write a file again that somebody removed."""
        path = self.path(record)
        if path is not None and record.lines and not path.exists():
            self.publish(record, self.lines(record))

    def keep(
        self,
        record: Record,
        lines: Sequence[Memory],
        vectors: Mapping[str, Vectors],
        before: Record | None,
        now: datetime,
    ) -> Record:
        """Keep a note in place of the one before; what was forgotten meanwhile leaves it again.

        The file comes first: without the journal's entry, a run that was killed is made up for by the next.
        """
        self.publish(record, lines)
        kept: list[Memory] = []

        def plan(reader: Reader) -> Batch:
            there = reader.get(list(record.cites)).keys()
            kept[:] = [line for line in lines if there >= set(line.metadata[CITES])]
            after = _with(record, kept)
            return Batch(
                memories=kept,
                vectors={line.id: vectors[line.text] for line in kept if line.text in vectors},
                links=[Link(line.id, CITES, id) for line in kept for id in line.metadata[CITES]],
                erased=[id for id in (before.lines if before else ()) if id not in after.lines],
                journal=[after.entry(now)],
            )

        self.store.update(plan)
        after = _with(record, kept)
        if after != record:
            self.publish(after, kept)
        return after

    def cut(self, record: Record, lines: Sequence[Memory], now: datetime) -> None:
        """Leave a note only some of its lines; the next run writes it anew if there is more to tell."""
        after = replace(_with(record, lines), digest="", version=record.version + 1)
        self.publish(after, lines)
        erased = [id for id in record.lines if id not in after.lines]
        self.store.put(Batch(erased=erased, journal=[after.entry(now)]))


def _with(record: Record, lines: Sequence[Memory]) -> Record:
    return replace(record, lines=tuple(line.id for line in lines), cites=cited(lines))
