"""Ingestion in batches: an interrupted run loses at most one batch, and the next run continues from there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from memorist.model import STATES, Memory, Outcome
from memorist.ports import Progress, Store
from memorist.remember.fact_rows import relation_claim
from memorist.remember.ingest.files import ExportFolder, File, Objects, sources
from memorist.remember.ingest.model import FactPiece, ImportTally, IngestReport, Item, Piece, Skipped, gate_notes
from memorist.remember.record import record
from memorist.remember.writer import Writer, Written

BATCH = 256
"""Texts per transaction."""


Keep = Callable[[list[Memory]], Written]
"""Writes a batch of memories."""
Writers = Callable[[int], Writer]
"""The writer for a classification."""


class Ingest:
    """One run of ingestion; every text has a stable id, so a second run adds nothing."""

    def __init__(self, keep: Keep, writers: Writers, store: Store, now: Callable[[], datetime]) -> None:
        self._keep = keep
        self._writers = writers
        self._store = store
        self._now = now
        self._tally = ImportTally()
        self._waiting: dict[str, Memory] = {}
        self._outcomes = Counter[Outcome]()
        self._facts = self._files = 0

    def run(
        self,
        what: str | Path | Iterable[Mapping[str, Any]],
        *,
        session: str | None,
        format: str | None,
        progress: Progress | None,
    ) -> IngestReport:
        """Keep every readable text, and report on the rest."""
        tell: Progress = progress or (lambda more: None)
        for source in sources(what, session=session, format=format):
            if isinstance(source, Skipped):
                self._tally.add(source)
                self._tally.skip_file(source.where, source.reason)
            else:
                self._read(source, tell)
        tell(self._flush())
        return self._tally.report(self._outcomes, facts=self._facts, files=self._files)

    def _read(self, source: File | ExportFolder | Objects, tell: Progress) -> None:
        self._files += source.files
        found, reason = False, None
        for item in source.items():
            found |= isinstance(item, Piece | FactPiece)
            if reason is None and isinstance(item, Skipped):
                reason = item.reason
            self._tally.add(item)
            if done := self._take(item):
                tell(done)
        if not found and not isinstance(source, Objects):
            self._tally.skip_file(source.name, reason or "empty file")

    def _take(self, item: Item) -> int:
        """Keep an item, or hold it for the next batch; returns how many were written."""
        if isinstance(item, FactPiece):
            return self._flush() + self._state(item)  # in order: a batch may name the subject
        if not isinstance(item, Piece):
            return 0
        memory = record(item.text, self._now(), **item.fields)
        done = self._flush() if len(self._waiting) == BATCH or memory.id in self._waiting else 0
        self._waiting[memory.id] = memory
        return done

    def _state(self, item: FactPiece) -> int:
        slot, claim = relation_claim(item.fact, item.text, self._now(), **item.fields)
        written = self._writers(slot.classification).relate(slot, claim, once=True)
        self._outcomes[written.outcome] += 1
        self._facts += written.outcome is Outcome.KEPT
        for told in gate_notes(written):
            self._tally.add(told)
        return 1

    def _flush(self) -> int:
        batch, self._waiting = list(self._waiting.values()), {}
        if batch:
            written = self._keep(batch)
            self._outcomes.update(memory.outcome for memory in written.memories)
            for item in (told for memory in written.memories for told in gate_notes(memory)):
                self._tally.add(item)
            if written.new:
                self._facts += sum(link.relation == STATES for link in self._store.links(sorted(written.new)))
        return len(batch)
