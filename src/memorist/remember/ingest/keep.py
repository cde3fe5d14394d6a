"""Ingestion in batches: an interrupted run loses at most one batch, and the next run continues from there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from memorist.model import STATES, Memory, Outcome
from memorist.ports import Progress, Store
from memorist.remember.ingest.files import File, sources
from memorist.remember.ingest.model import IngestReport, Piece, Skipped, Tally, gated
from memorist.remember.record import record
from memorist.remember.writer import Written

BATCH = 256
"""Texts per transaction."""


Keep = Callable[[list[Memory]], Written]
"""Writes a batch of memories."""


class Ingest:
    """One run of ingestion; every text has a stable id, so a second run adds nothing."""

    def __init__(self, keep: Keep, store: Store, now: Callable[[], datetime], progress: Progress | None) -> None:
        self._keep = keep
        self._store = store
        self._now = now
        self._progress = progress
        self._tally = Tally()
        self._waiting: dict[str, Memory] = {}
        self._outcomes = Counter[Outcome]()
        self._facts = self._files = 0

    def run(
        self, what: str | Path | Iterable[Mapping[str, Any]], *, session: str | None, format: str | None
    ) -> IngestReport:
        """Keep every readable text, and report on the rest."""
        for source in sources(what, session=session, format=format):
            if isinstance(source, Skipped):
                self._tally.add(source)
                continue
            self._files += isinstance(source, File)
            for item in source.items():
                self._tally.add(item)
                if isinstance(item, Piece):
                    self._take(record(item.text, self._now(), **item.fields))
        self._flush()
        return self._tally.report(self._outcomes, facts=self._facts, files=self._files)

    def _take(self, memory: Memory) -> None:
        if len(self._waiting) == BATCH or memory.id in self._waiting:
            self._flush()
        self._waiting[memory.id] = memory

    def _flush(self) -> None:
        batch, self._waiting = list(self._waiting.values()), {}
        if batch:
            written = self._keep(batch)
            self._outcomes.update(one.outcome for one in written.memories)
            for item in (told for one in written.memories for told in gated(one)):
                self._tally.add(item)
            if written.new:
                self._facts += sum(link.relation == STATES for link in self._store.links(sorted(written.new)))
        if self._progress is not None:
            self._progress(len(batch))
