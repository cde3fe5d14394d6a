"""The notebook: which notes there are, which are out of date, writing them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import groupby
from pathlib import Path

from memorist.asking import Asker, Askers
from memorist.model import CITES, Kind, Link, Memory, fingerprint
from memorist.ports import Batch, Reader, Store
from memorist.remember.record import record
from memorist.remember.writer import Incoming, Writer
from memorist.upkeep.consolidate.notes import (
    RULES,
    VERB,
    Consolidation,
    Line,
    NoteItem,
    NotePeriod,
    PeriodKind,
    Record,
    WrittenNote,
    chosen_periods,
    cited,
    drop_note,
    period_of,
    record_of,
    rendered,
    write_note,
)
from memorist.upkeep.consolidate.survey import compose, items_of, survey

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
        incoming: Incoming,
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
                vectors={line.id: incoming.vectors[line.id] for line in kept if line.id in incoming.vectors},
                links=[Link(line.id, CITES, id) for line in kept for id in line.metadata[CITES]],
                erased=[id for id in (before.lines if before else ()) if id not in after.lines],
                journal=[after.entry(now), *incoming.entries],
            )

        self.store.update(plan, Batch(lines, incoming.vectors))
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


@dataclass(slots=True)
class _Run:
    """A run so far."""

    now: datetime
    known: dict[Name, Record]
    written: list[WrittenNote] = field(default_factory=list[WrittenNote])
    dropped: list[str] = field(default_factory=list[str])
    unchanged: int = 0


class Notebook:
    """The notes of one store, and their files if it has a folder for them."""

    def __init__(self, store: Store, folder: Path | None, askers: Askers, writer: Writer) -> None:
        self._store = store
        self._shelf = Shelf(store, folder)
        self._askers = askers
        self._writer = writer

    @property
    def folder(self) -> Path | None:
        """Where its files lie."""
        return self._shelf.folder

    def consolidate(self, now: datetime, period: str | None = None) -> Consolidation:
        """Write the notes of every period that is over and has none yet, or has heard of something since."""
        kinds = chosen_periods(period)
        run = _Run(now, self._shelf.known())
        days = survey(self._store, now)
        for day, found in days.items():
            self._note(period_of("daily", day), found.digest, lambda found=found: items_of(self._store, found), run)
        self._drop("daily", {day.isoformat() for day in days}, run)
        for kind in kinds[1:]:
            self._longer(kind, days, run)
        return Consolidation(now, tuple(run.written), run.unchanged, tuple(run.dropped))

    def forget(self, ids: Collection[str], now: datetime) -> tuple[str, ...]:
        """Take every line out of the notes that rests on one of these memories, or is one; returns the lines' ids.

        A note that a model wrote goes whole, for it may tell what it does not cite. To be called before the memories
        are erased.
        """
        gone = set(ids)
        changed = [one for one in self._shelf.known().values() if gone & one.cites or gone.intersection(one.lines)]
        cut: list[str] = []
        for known in changed:
            lines = self._shelf.lines(known) if known.by == RULES else []
            left = [line for line in lines if line.id not in gone and gone.isdisjoint(line.metadata.get(CITES, ()))]
            self._shelf.cut(known, left, now)
            cut += {*known.lines} - {line.id for line in left}
        return tuple(cut)

    def _longer(self, kind: PeriodKind, days: Iterable[date], run: _Run) -> None:
        """The notes on weeks or quarters, made of the daily ones."""
        told: set[str] = set()
        for period, group in groupby(days, lambda day: period_of(kind, day)):
            names = [("daily", day.isoformat()) for day in group]
            daily = [run.known[name] for name in names if name in run.known and run.known[name].lines]
            if period.closed(run.now) and daily:
                told.add(period.name)
                digest = fingerprint([(one.name, one.digest) for one in daily])
                self._note(period, digest, lambda daily=daily: list(self._items(daily)), run)
        self._drop(kind, told, run)

    def _items(self, daily: Sequence[Record]) -> Iterator[NoteItem]:
        for known in daily:
            for line in self._shelf.lines(known):
                cites, worth = tuple(line.metadata.get(CITES, ())), line.worth
                yield NoteItem(
                    text=line.text,
                    scope=line.scope,
                    at=line.times.valid_from,
                    cites=cites,
                    trust=worth.trust,
                    classification=worth.classification,
                    by=known.by,
                )

    def _note(self, period: NotePeriod, digest: str, items: Callable[[], list[NoteItem]], run: _Run) -> None:
        name = period.kind, period.name
        known = run.known.get(name)
        if known is not None and known.digest == digest:
            run.unchanged += 1
            self._shelf.republish(known)
            return
        composed, by = self._composed(period, items(), run.now)
        incoming = self._writer.prepare(composed, derived=True)
        lines = [line for _, line in incoming.checked.outcomes]
        version = 1 if known is None else known.version + 1
        made = Record(*name, digest, version, by, tuple(line.id for line in lines), cited(lines))
        kept = run.known[name] = self._shelf.keep(made, lines, incoming, known, run.now)
        path = self._shelf.path(kept)
        run.written.append(WrittenNote(*name, path and str(path), version, by, len(kept.lines), len(kept.cites)))

    def _composed(self, period: NotePeriod, items: Sequence[NoteItem], now: datetime) -> tuple[list[Memory], str]:
        """The lines of a note, scope by scope, and who wrote it."""
        asker = self._askers.for_extraction()
        lines: dict[str, Memory] = {}
        authors = {item.by for item in items}
        for scope in sorted({item.scope for item in items}):
            told, by = _composed(period, [item for item in items if item.scope == scope], asker)
            authors.add(by)
            for line in told:
                memory = _memory(period, scope, line, by, now)
                lines.setdefault(memory.id, memory)
        return list(lines.values()), max(authors, key=lambda by: by != RULES)

    def _drop(self, kind: PeriodKind, told: Collection[str], run: _Run) -> None:
        """Take away the notes on periods of which nothing is left to tell."""
        for name, known in run.known.items():
            if known.kind == kind and known.lines and known.name not in told:
                self._shelf.cut(known, (), run.now)
                run.dropped.append("/".join(name) + ".md")


def _composed(period: NotePeriod, items: Sequence[NoteItem], asker: Asker | None) -> tuple[list[Line], str]:
    return compose(period.kind, f"{period.kind} note, {period.name}", items, asker)


def _memory(period: NotePeriod, scope: str, line: Line, by: str, now: datetime) -> Memory:
    """A line as a memory: as old as the last thing it rests on, trusted like the least, as secret as the most."""
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
