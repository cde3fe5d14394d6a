"""The notebook: which notes exist, which are out of date, and writing them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import groupby
from pathlib import Path
from threading import Lock

from memorist.asking import Askers
from memorist.errors import InvalidInput
from memorist.files import make_folder, sweep, sweep_folder, write_text
from memorist.model import CITES, Kind, Link, Memory, fingerprint, from_data, isoformat
from memorist.ports import Batch, Reader, Store
from memorist.remember.incoming import Incoming
from memorist.remember.record import record
from memorist.remember.writer import Writer
from memorist.results.upkeep import Consolidation, WrittenNote
from memorist.upkeep.change import EVERY_ENTRY
from memorist.upkeep.consolidate.files import (
    BY_USER,
    MOST_FILES,
    NoteName,
    NoteReader,
    Stamp,
    changed_at,
    read_text,
    stamps,
)
from memorist.upkeep.consolidate.notes import (
    PERIODS,
    RULES,
    VERB,
    NoteItem,
    NoteLine,
    NotePeriod,
    NoteRecord,
    PeriodKind,
    chosen_periods,
    cited_memories,
    is_ours,
    period_of,
    remove_note,
    render_note,
)
from memorist.upkeep.consolidate.survey import compose, items_of, survey


@dataclass(frozen=True, slots=True)
class StoredNotes:
    """The notes of one store: their records in the journal, their lines as memories, and their files."""

    store: Store
    folder: Path | None

    @property
    def home(self) -> Path | None:
        """The file whose unfinished notes are swept together: that of the store if it has one."""
        return getattr(self.store, "path", None) or self.folder

    def sweep(self) -> None:
        """Remove unfinished files that killed runs left."""
        if self.folder is not None and self.home is not None:
            sweep(self.home)
            for kind in PERIODS:
                sweep_folder(self.folder / kind)

    def known(self) -> dict[NoteName, NoteRecord]:
        """The records of all notes, by period."""
        records = [from_data(NoteRecord, entry.data) for entry in self.store.journal(VERB, limit=EVERY_ENTRY)]
        return {(record.kind, record.name): record for record in records}

    def lines(self, record: NoteRecord) -> list[Memory]:
        """The lines of a note, in order."""
        there = self.store.get(record.lines)
        return [there[id] for id in record.lines if id in there]

    def path(self, record: NoteRecord) -> Path | None:
        """The file of a note; None without a folder for notes."""
        return None if self.folder is None else self.folder / record.kind / f"{record.name}.md"

    def is_users(self, record: NoteRecord) -> bool:
        """Whether the file of a note exists and differs from what was written here: then it belongs to the user."""
        path = self.path(record)
        if path is None or not os.path.lexists(path):
            return False
        text = read_text(path)
        return text is None or not is_ours(text)

    def exists(self, record: NoteRecord) -> bool:
        """Whether the file of a note exists."""
        path = self.path(record)
        return path is not None and os.path.lexists(path)

    def publish(self, record: NoteRecord, lines: Sequence[Memory]) -> None:
        """Write the file of a note, or remove it if the note has no lines; a file of the user's stays as it is."""
        path = self.path(record)
        if self.is_users(record):
            return
        if path is not None and self.folder is not None and lines:
            make_folder(self.folder)
            remedy = "Set notes_dir to another folder, or free space."
            write_text(path, render_note(record, lines), home=self.home, remedy=remedy)
        elif path is not None:
            remove_note(path)

    def republish(self, record: NoteRecord) -> None:
        """Write the file of a note again if somebody removed it."""
        path = self.path(record)
        if path is not None and record.lines and record.by != BY_USER and not path.exists():
            self.publish(record, self.lines(record))

    def replace(
        self,
        before: NoteRecord | None,
        record: NoteRecord,
        lines: Sequence[Memory],
        incoming: Incoming,
        now: datetime,
    ) -> NoteRecord:
        """Replace a note; lines that cite memories forgotten meanwhile are dropped.

        The old file is removed first and the new one written last: if the run is killed, no file holds what the
        journal does not know and `forget` would not find. The next run writes the file that is missing.
        """
        self.publish(record, ())
        after, kept = self.keep(before, record, lines, incoming, now)
        self.publish(after, kept)
        if len(self.lines(after)) < len(kept):  # forgotten since
            self.publish(after, self.lines(after))
        return after

    def keep(
        self,
        before: NoteRecord | None,
        record: NoteRecord,
        lines: Sequence[Memory],
        incoming: Incoming,
        now: datetime,
    ) -> tuple[NoteRecord, list[Memory]]:
        """Replace the lines of a note in the store; those that cite memories forgotten meanwhile are dropped."""
        kept: list[Memory] = []

        def plan(reader: Reader) -> Batch:
            there = reader.get(record.cites).keys()
            kept[:] = [line for line in lines if there >= set(line.metadata[CITES])]
            after = _with_lines(record, kept)
            return Batch(
                memories=kept,
                vectors={line.id: incoming.vectors[line.id] for line in kept if line.id in incoming.vectors},
                links=[Link(line.id, CITES, id) for line in kept for id in line.metadata[CITES]],
                erased=[id for id in (before.lines if before else ()) if id not in after.lines],
                journal=[after.entry(now), *incoming.entries],
            )

        self.store.update(plan, Batch(lines, incoming.vectors))
        return _with_lines(record, kept), kept

    def cut(self, record: NoteRecord, lines: Sequence[Memory], now: datetime) -> None:
        """Keep only some lines of a note; the next run writes it again if there is more to say."""
        after = replace(_with_lines(record, lines), digest="", version=record.version + 1)
        self.publish(after, lines)
        erased = [id for id in record.lines if id not in after.lines]
        self.store.put(Batch(erased=erased, journal=[after.entry(now)]))
        self.publish(after, lines)  # another process may have written it in between


def _with_lines(record: NoteRecord, lines: Sequence[Memory]) -> NoteRecord:
    return replace(record, lines=tuple(line.id for line in lines), cites=cited_memories(lines))


PLANNED = ("planned",)
"""The lines of a note that a dry run would write; longer notes are planned from notes that have some."""


@dataclass(slots=True)
class _ConsolidationRun:
    """A run so far."""

    now: datetime
    known: dict[NoteName, NoteRecord]
    id: str | None
    dry: bool
    written: list[WrittenNote] = field(default_factory=list[WrittenNote])
    dropped: list[str] = field(default_factory=list[str])
    unchanged: int = 0


class Notebook:
    """Writes the notes of one store, and their files if it has a folder for them."""

    def __init__(self, store: Store, folder: Path | None, askers: Askers, writer: Writer, classification: int) -> None:
        self._classification = classification
        self._seen: dict[NoteName, Stamp] | None = None
        self._reading = Lock()
        self._store = store
        self._notes = StoredNotes(store, folder)
        self._askers = askers
        self._writer = writer

    @property
    def folder(self) -> Path | None:
        """The folder of its files."""
        return self._notes.folder

    def consolidate(
        self, now: datetime, period: str | None = None, *, run: str | None = None, dry_run: bool = False
    ) -> Consolidation:
        """Write the note of every past period that has none yet or whose memories changed; a dry run only lists them.

        `run` is what `undo` takes to remove them again.
        """
        kinds = chosen_periods(period)
        if not dry_run:
            self.read(now, removed=False)
        return self._consolidated(kinds, _ConsolidationRun(now, self._notes.known(), run, dry_run))

    def _consolidated(self, kinds: Sequence[PeriodKind], run: _ConsolidationRun) -> Consolidation:
        days = survey(self._store, run.now)
        for day, found in days.items():
            self._update(period_of("daily", day), found.digest, lambda found=found: items_of(self._store, found), run)
        self._drop("daily", {day.isoformat() for day in days}, run)
        for kind in kinds[1:]:
            self._update_longer(kind, days, run)
        return Consolidation(run.now, tuple(run.written), run.unchanged, tuple(run.dropped))

    def undo(self, runs: Collection[str], now: datetime) -> None:
        """Remove the notes that these runs wrote, unless they changed since; the next run writes them again."""
        self.read(now, removed=False)
        for known in self._notes.known().values():
            if known.run in runs and known.undone is None:
                self._notes.cut(replace(known, undone=isoformat(now)), (), now)

    def read(self, now: datetime, *, most: int | None = None, removed: bool = True) -> None:
        """Take over what the user changed in the files since they were last read, in at most `most` of them.

        The paragraphs of a file that differs from what was written here become the lines of its note. A file that is
        gone takes the lines with it, unless `removed` is False and `consolidate` can write it again.
        """
        folder = self.folder
        if folder is None or not folder.is_dir():
            return
        found = stamps(folder)
        with self._reading:
            if found == self._seen:
                return
            known = self._notes.known()
            self._seen = self._read_changed(found, known, now, most)
            for name, one in known.items():
                gone = name not in found and (len(found) < MOST_FILES or not self._notes.exists(one))
                if gone and one.lines and (removed or one.by == BY_USER):
                    self._notes.cut(one, (), now)

    def _read_changed(
        self, found: Mapping[NoteName, Stamp], known: Mapping[NoteName, NoteRecord], now: datetime, most: int | None
    ) -> dict[NoteName, Stamp]:
        """Read the files that changed, the latest first, until `most` had something new; returns all that are read."""
        before, taken = self._seen or {}, 0
        read = {name: stamp for name, stamp in found.items() if before.get(name) == stamp}
        for name in sorted(found.keys() - read.keys(), key=lambda name: (found[name], name), reverse=True):
            if taken == most:
                break
            with suppress(InvalidInput):  # a name or heading that no memory may have
                taken += self._read_file(name, found[name], known.get(name), now)
            read[name] = found[name]
        return read

    def _read_file(self, name: NoteName, stamp: Stamp, known: NoteRecord | None, now: datetime) -> bool:
        """Make lines of the paragraphs of a file; False if it is as it was written here or read before."""
        named_secret = self._writer.derived_text(name[1]) != name[1]
        text = "" if named_secret else read_text(self._folder / name[0] / f"{name[1]}.md") or ""
        if known is not None and known.by != BY_USER and known.lines and is_ours(text):
            return False
        digest = fingerprint(text)
        if known is not None and known.by == BY_USER and known.digest == digest:
            return False
        memories = self._reader(name, known).memories(text, changed_at(stamp), now)
        if not memories and (known is None or not known.lines):
            return False
        version = 1 if known is None else known.version + 1

        def write() -> None:
            incoming = self._writer.prepare(memories, derived=True)
            lines = list({answer.memory.id: answer.memory for answer in incoming.checked.answers}.values())
            made = NoteRecord(*name, digest, version, BY_USER, tuple(line.id for line in lines), cited_memories(lines))
            self._notes.keep(known, made, lines, incoming, now)

        self._writer.retry_if_reembedded(write)
        return True

    @property
    def _folder(self) -> Path:
        assert self.folder is not None
        return self.folder

    def _reader(self, name: NoteName, known: NoteRecord | None) -> NoteReader:
        scopes = {line.scope for line in self._notes.lines(known)} if known is not None else set[str]()
        return NoteReader(name, self._classification, known, scopes)

    def _strike(self, known: NoteRecord, lines: Sequence[Memory], gone: Collection[str]) -> None:
        """Erase the paragraphs of some lines, and of what is cited, from a file of the user's."""
        path = self._notes.path(known)
        text = None if path is None else read_text(path)
        if path is None or text is None:
            return
        reader = self._reader((known.kind, known.name), known)
        after = reader.without(text, {line.text for line in lines}, gone, self._writer.derived_text)
        if after != text:
            write_text(path, after, home=self._notes.home, remedy="Erase the paragraphs by hand.")

    def forget(self, ids: Collection[str], now: datetime) -> tuple[str, ...]:
        """Remove every line that cites one of these memories, or is one of them; returns the ids of the lines.

        A note that a model wrote is removed completely: it may use memories without citing them. A file of the user's
        loses the paragraphs. Call this before the memories are erased.
        """
        self._notes.sweep()
        self.read(now, removed=False)
        gone = set(ids)
        changed = [
            record for record in self._notes.known().values() if gone.intersection((*record.cites, *record.lines))
        ]
        cut: list[str] = []
        for known in changed:
            lines = self._notes.lines(known) if known.by in (RULES, BY_USER) else []
            left = [line for line in lines if line.id not in gone and gone.isdisjoint(line.metadata.get(CITES, ()))]
            if known.by == BY_USER:
                self._strike(known, [line for line in lines if line not in left], gone)
            self._notes.cut(known, left, now)
            cut += {*known.lines} - {line.id for line in left}
        return tuple(cut)

    def _update_longer(self, kind: PeriodKind, days: Iterable[date], run: _ConsolidationRun) -> None:
        """Update the notes on weeks or quarters, which are made from the daily ones."""
        names: set[str] = set()
        for period, group in groupby(days, lambda day: period_of(kind, day)):
            records = (run.known.get(("daily", day.isoformat())) for day in group)
            daily = [record for record in records if record is not None and record.lines]
            if period.closed(run.now) and daily:
                names.add(period.name)
                digest = fingerprint([(record.name, record.digest) for record in daily])
                self._update(period, digest, lambda daily=daily: list(self._items(daily)), run)
        self._drop(kind, names, run)

    def _items(self, daily: Sequence[NoteRecord]) -> Iterator[NoteItem]:
        for known in daily:
            for line in self._notes.lines(known):
                cites, worth = tuple(line.metadata.get(CITES, ())), line.worth
                yield NoteItem(
                    text=line.text,
                    scope=line.scope,
                    at=line.times.valid_from,
                    cites=cites,
                    trust=worth.trust,
                    classification=worth.classification,
                    by=RULES if known.by == BY_USER else known.by,
                )

    def _update(
        self, period: NotePeriod, digest: str, items: Callable[[], list[NoteItem]], run: _ConsolidationRun
    ) -> None:
        name = period.kind, period.name
        known = run.known.get(name)
        users = known is not None and known.by == BY_USER and bool(known.lines)
        if known is not None and (users or known.digest == digest):
            run.unchanged += 1
            if not run.dry:
                self._notes.republish(known)
            return
        version = 1 if known is None else known.version + 1
        if run.dry:
            run.known[name] = planned = NoteRecord(*name, digest, version, "", PLANNED, ())
            path = self._notes.path(planned)
            run.written.append(WrittenNote(*name, path and str(path), version, "", 0, 0))
            return
        composed, by = self._compose(period, items(), run.now)

        def write() -> NoteRecord:
            incoming = self._writer.prepare(composed, derived=True)
            lines = [answer.memory for answer in incoming.checked.answers]
            made = NoteRecord(
                *name, digest, version, by, tuple(line.id for line in lines), cited_memories(lines), run.id
            )
            return self._notes.replace(known, made, lines, incoming, run.now)

        kept = run.known[name] = self._writer.retry_if_reembedded(write)
        path = self._notes.path(kept)
        run.written.append(WrittenNote(*name, path and str(path), version, by, len(kept.lines), len(kept.cites)))

    def _compose(self, period: NotePeriod, items: Sequence[NoteItem], now: datetime) -> tuple[list[Memory], str]:
        """The lines of a note, scope by scope, and its author."""
        asker = self._askers.for_extraction()
        lines: dict[str, Memory] = {}
        authors = {item.by for item in items}
        for scope in sorted({item.scope for item in items}):
            subject = f"{period.kind} note, {period.name}"
            written, by = compose(period.kind, subject, [item for item in items if item.scope == scope], asker)
            authors.add(by)
            for line in written:
                memory = _line_memory(period, scope, line, by, now)
                lines.setdefault(memory.id, memory)
        return list(lines.values()), max(authors, key=lambda by: by != RULES)

    def _drop(self, kind: PeriodKind, names: Collection[str], run: _ConsolidationRun) -> None:
        """Remove the notes on periods that have no memories left; `names` are the other periods."""
        for name, known in run.known.items():
            if known.kind == kind and known.lines and known.name not in names and known.by != BY_USER:
                if not run.dry:
                    self._notes.cut(known, (), run.now)
                run.dropped.append("/".join(name) + ".md")


def _line_memory(period: NotePeriod, scope: str, line: NoteLine, by: str, now: datetime) -> Memory:
    """A line as a memory: dated by its latest item, with the lowest trust and the highest classification of any."""
    items = line.items
    cites = list(dict.fromkeys(id for item in items for id in item.cites))
    return record(
        line.text,
        now,
        kind=Kind.NOTE,
        scope=scope,
        at=max(item.at for item in items),
        source=period.path,
        trust=min(item.trust for item in items),
        classification=max(item.classification for item in items),
        metadata={CITES: cites, "period": period.kind, "by": by},
    )
