"""The verbs that edit a memory, walk its names, keep it healthy, re-embed it, back it up and move it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Unpack

from memorist.engine.classified_writer import ClassifiedWriter, WriteServices
from memorist.errors import MissingService, ModelUnavailable, NotFound, Remedy, StoreBusy, StoreError, VerbCall
from memorist.model import (
    MOST_CLASSIFIED,
    USUAL_CLASSIFICATION,
    Changes,
    Filters,
    Memory,
    Recall,
    Remembered,
    WakeUp,
    When,
    at_least,
    fingerprint,
    instant,
    refuse_unknown,
)
from memorist.model.arguments import check_argument, checks_arguments
from memorist.model.request import listing_filter
from memorist.models.store_embedder import StoreEmbedder
from memorist.ports import SCRUB, Batch, Clock, Embedder, Entry, Job, Progress, Store
from memorist.ports.notices import Notice, Notices
from memorist.remember.jobs import Worker, retry_after
from memorist.stores.classified import partial_work, too_classified

if TYPE_CHECKING:
    from memorist.remember.writer import Writer
    from memorist.results.finding import EntitySummary, Neighbourhood
    from memorist.results.moving import Backup, Exported, Imported, Reembedding
    from memorist.results.upkeep import Consolidation, Report, Sleep, Tidying

NOTES_PER_RECALL = 50
"""Changed files of notes that one recall reads; the next recall, or `consolidate`, reads the rest."""


@checks_arguments
class Upkeep:
    """Part of `Engine`, which sets these attributes. Each verb imports its own code: most processes need none."""

    _store: Store
    """What may be seen; `_whole` is the store itself."""
    _whole: Store
    _most: int
    """The highest classification that may be seen."""
    _services: WriteServices
    _writers: tuple[ClassifiedWriter, ...]
    _embedder: StoreEmbedder | None
    _notices: Notices
    _clock: Clock
    _worker: Worker
    _waking: Worker | None
    """Runs jobs in the background, if there is one."""

    @cached_property
    def _writer(self) -> Writer:
        """Passes texts that are stored beside memories, and imported ones, through the gates."""
        from memorist.remember.writer import Writer

        return Writer(self._whole, self._embedder, self._services.gates)

    @property
    def _seen_writers(self) -> tuple[ClassifiedWriter, ...]:
        return self._writers[: self._most + 1]

    def _writer_for(self, classification: int) -> ClassifiedWriter:
        """Where memories of a classification are written; refused above what may be seen."""
        if classification > self._most:
            raise too_classified(classification, self._most)
        return self._writers[classification]

    def _writer_about(self, id: str) -> ClassifiedWriter:
        """The writer of a memory's classification; for an unknown memory any writer, which refuses it."""
        known = self._store.get([id]).get(id)
        return self._writers[min(USUAL_CLASSIFICATION, self._most) if known is None else known.worth.classification]

    def _concerns_everything(self) -> None:
        if self._most < MOST_CLASSIFIED:
            raise partial_work()

    def feedback(self, id: str, verdict: str, recall: Recall | Mapping[str, Any] | None = None) -> Memory:
        """Say what a memory was worth: useful, wrong, outdated or hide. With the recall, its query is kept too."""
        from memorist.upkeep.feedback import feedback, recall_seen

        seen = None if recall is None else recall_seen(recall, self._writer.text)
        return feedback(self._writer_about(id).store, id, verdict, self._clock.now(), seen)

    def update(self, id: str, text: str | None = None, **changes: Unpack[Changes]) -> Remembered:
        """Change a memory's text or other fields, as a new version with the same id; the old one stays in its history.

        `outcome` says what became of it: merged, or known if nothing changes. Another text is true from now on, or from
        `at`; facts, names, tags and vectors follow it.
        """
        from memorist.remember.record import edit_memory

        now = self._clock.now()
        done = self._writer_about(id).writer.edit(id, lambda memory: edit_memory(memory, now, text, **changes))
        self._wake()
        return done

    def work(self) -> int:
        """Run due jobs now, such as committing idle sessions; returns how many ran."""
        return self._worker.run_due()

    def jobs(self) -> list[Job]:
        """Pending jobs, earliest due first, with how often each failed and why."""
        return self._worker.jobs()

    def _wake(self, *, new_jobs: bool = True) -> None:
        if self._waking is not None:
            self._waking.wake() if new_jobs else self._waking.glance()

    def history(self, name: str) -> list[Memory]:
        """All versions of a memory, by id, or of every fact about an entity, by name; newest first."""
        versions = self._store.history(name) or self._facts_about(name)
        if not versions:
            raise NotFound(f"Nothing is known about {name!r}", remedy="Give a memory's id or the name of an entity.")
        return versions

    def _facts_about(self, name: str) -> list[Memory]:
        entities = [entity.id for entity in self._store.entities([name])]
        linked = self._store.get([link.source for link in self._store.links(entities)]) if entities else {}
        current = [memory.version_of or id for id, memory in linked.items() if memory.fact is not None]
        versions = {version.id: version for id in current for version in self._store.history(id)}
        return sorted(versions.values(), key=lambda one: (one.times.ingested_at, one.version, one.id), reverse=True)

    def entities(
        self, prefix: str | None = None, limit: int = 100, kind: str | None = None, **filters: Unpack[Filters]
    ) -> list[EntitySummary]:
        """The names that memories mention, most mentioned first; optionally those that begin with a prefix."""
        from memorist.upkeep.walk import list_entities

        refuse_unknown(filters, Filters, "entities")
        where = listing_filter(filters, self._clock.now())
        return list_entities(self._store, where, prefix, kind, at_least("limit", limit, 1))

    def neighbours(self, entity: str, hops: int = 1, limit: int = 50, **filters: Unpack[Filters]) -> Neighbourhood:
        """The names and relations reached from an entity, with the facts and memories that each relation rests on."""
        from memorist.upkeep.walk import walk

        refuse_unknown(filters, Filters, "neighbours")
        where = listing_filter(filters, self._clock.now())
        return walk(self._store, where, entity, at_least("hops", hops, 1), at_least("limit", limit, 1))

    def pin(self, id: str) -> Memory:
        """Keep a memory at the head of every context, whoever said it; read it before you do. `undo` takes it back."""
        return self._pin(id, on=True)

    def unpin(self, id: str) -> Memory:
        """Keep a memory no longer at the head of every context."""
        return self._pin(id, on=False)

    def _pin(self, id: str, *, on: bool) -> Memory:
        from memorist.upkeep.feedback import pin

        return pin(self._writer_about(id).store, id, self._clock.now(), on=on)

    def pinned(self, limit: int = 100, **filters: Unpack[Filters]) -> list[Memory]:
        """The pinned memories that the filters admit, newest first: those at the head of every context."""
        from memorist.recall.standing import pinned_memories

        refuse_unknown(filters, Filters, "pinned")
        where = listing_filter(filters, self._clock.now())
        return pinned_memories(self._store, self._store.view(), where, at_least("limit", limit, 1))

    def wake_up(self, max_tokens: int = 800, *, speaker: str | None = None, **filters: Unpack[Filters]) -> WakeUp:
        """What an agent should know at its start: pinned memories, then the most important and newest others.

        `speaker` is who will ask: memories by and about them come first. It counts in no usage.
        """
        from memorist.engine.waking import KINDS, wake_up

        refuse_unknown(filters, Filters, "wake_up")
        if filters.get("kinds") is None:
            filters["kinds"] = KINDS
        now = self._clock.now()
        most = at_least("max_tokens", max_tokens, 0)
        return wake_up(self._store, self._store.view(), listing_filter(filters, now), most, speaker, now)

    def invalidate(self, id: str, at: When | None = None, superseded_by: str | None = None) -> Memory:
        """End a memory's validity at a moment, by default now. It stays in its history; a second time is an error."""
        from memorist.upkeep.ending import invalidate

        now = self._clock.now()
        store = self._writer_about(id).store
        return invalidate(store, id, None if at is None else instant(at), now, superseded_by)

    def tidy(self, *, dry_run: bool = True) -> Tidying:
        """Plan what to tidy and, unless it is a dry run, do it. `undo` takes the run back."""
        return self._tidied(self._clock.now(), dry_run=dry_run)

    def _tidied(self, now: datetime, *, dry_run: bool, run: str | None = None) -> Tidying:
        from memorist.results.upkeep import Tidying
        from memorist.upkeep.tidy import tidy

        done = Tidying.of([tidy(writer.store, now, dry_run=dry_run, run=run) for writer in self._seen_writers])
        ended = tuple(change.id for change in done.changes if change.rule in ("decay", "expire"))
        if done.run is not None and ended:
            self._notices.tell(Notice("decay", done.at, ended, dict(done.counts)))
        return done

    def consolidate(self, period: str | None = None) -> Consolidation:
        """Write the notes of past days, weeks and quarters that are new or out of date; `period` selects one kind."""
        return self._consolidated(self._clock.now(), period)

    def _consolidated(
        self, now: datetime, period: str | None = None, *, dry_run: bool = False, run: str | None = None
    ) -> Consolidation:
        from memorist.results.upkeep import Consolidation

        books = [writer.notebook for writer in self._seen_writers]
        return Consolidation.of([book.consolidate(now, period, run=run, dry_run=dry_run) for book in books])

    def sleep(self, *, dry_run: bool = True) -> Sleep:
        """`consolidate`, `tidy` and `audit`, in this order, as one run that `undo` takes back; a dry run only plans it.

        Fixes of the audit that cannot be undone are left to `audit`.
        """
        from memorist.results.upkeep import Sleep
        from memorist.upkeep.audit import apply_fixes
        from memorist.upkeep.sleep import after_tidying

        now = self._clock.now()
        run = None if dry_run else fingerprint("sleep", now)
        notes = self._consolidated(now, dry_run=dry_run, run=run)
        tidying = self._tidied(now, dry_run=dry_run, run=run)
        report = after_tidying(self.audit(), tidying)
        if run is not None:
            undoable = frozenset(finding.id for finding in report.findings if finding.undoable)
            report = apply_fixes(report, self._store, self._embedder, ids=undoable, run=run)
        changed = notes.written or tidying.run or report.fixed
        return Sleep(now, notes, tidying, report, run if changed else None)

    def _read_notes(self, now: datetime) -> None:
        """Take over what the user changed in the files of notes; if that fails, a recall still answers."""
        for writer in self._seen_writers:
            try:
                writer.read_notes(now, NOTES_PER_RECALL)
            except (StoreError, ModelUnavailable) as error:
                self._notices.tell(Notice("work_failed", now, ("notes",), error=error.problem))

    def audit(
        self, kinds: Iterable[str] | None = None, *, fix: bool = False, progress: Progress | None = None
    ) -> Report:
        """Check every memory and report what is wrong; with `fix`, apply all fixes."""
        from memorist.results.upkeep import Report
        from memorist.upkeep.audit import audit, audit_whole

        wanted, now = None if kinds is None else frozenset(kinds), self._clock.now()
        parts = [audit(writer.store, now, kinds=wanted, progress=progress) for writer in self._seen_writers]
        whole = [audit_whole(self._whole, now, wanted)] if self._most == MOST_CLASSIFIED else []
        report = Report.of([*parts, *whole])
        return self.mend(report) if fix else report

    def mend(self, report: Report, ids: Iterable[str] | None = None) -> Report:
        """Apply the fixes of a report, or only those of the findings with these ids. `undo` takes each back."""
        from memorist.results.upkeep import Report
        from memorist.upkeep.audit import apply_fixes

        check_argument("report", report, Report)
        after = apply_fixes(report, self._store, self._embedder, ids=None if ids is None else frozenset(ids))
        if any(finding.kind == "secret" and finding.id in after.fixed for finding in after.findings):
            self._overwritten(rewrite=True)
        return after

    def journal(
        self,
        verb: str | None = None,
        subject: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        *,
        since: When | None = None,
    ) -> list[Entry]:
        """The decisions and changes so far, newest first; optionally of one verb, about one memory, or since a moment.

        `cursor` is the id of the last entry of a page; the next page continues after it.
        """
        from memorist.upkeep.change import journal_page

        start = None if since is None else instant(since)
        return journal_page(self._store, verb, subject, at_least("limit", limit, 1), cursor, start)

    def undo(self, entry: str) -> Entry:
        """Undo a journal entry, or a whole tidying or sleep by the id of its run."""
        from memorist.remember.rereading import until_current
        from memorist.upkeep.change import undo

        now = self._clock.now()
        return until_current(lambda: undo(self._store, entry, now, self._restore, lambda runs: self._cut(runs, now)))

    def _cut(self, runs: Sequence[str], now: datetime) -> None:
        """Remove the notes that runs wrote."""
        for writer in self._seen_writers:
            writer.notebook.undo(runs, now)

    def _restore(self, memory: Memory, before: Entry, after: Entry) -> Memory:
        return self._writer_for(memory.worth.classification).writer.restore(memory, before, after)

    def _overwritten(self, *, rewrite: bool) -> bool:
        """Overwrite erased bytes; returns False, and schedules a job, if that cannot be done at once."""
        done = self._store.scrub(rewrite=rewrite)
        if not done:
            self._whole.put(Batch(jobs=[Job(SCRUB, self._store.space, self._clock.now() + retry_after(1))]))
        return done

    def _scrub(self, job: Job) -> None:
        if not self._whole.scrub(rewrite=True):
            raise StoreBusy(
                "Erased data is still in the files of the store",
                remedy="Let other readers finish; for a large database run `memorist db rewrite`.",
            )

    # Re-embedding, backups and moving

    def reembed(self, embedder: Embedder | str | None = None, *, progress: Progress | None = None) -> Reembedding:
        """Embed every memory again, with another embedder or the one this memory was opened with.

        Recall uses the old vectors until the last new one is written. If the run is killed, run it again.
        """
        from memorist.upkeep.maintenance import reembed

        self._concerns_everything()
        if self._embedder is None:
            raise MissingService(
                "This memory was opened without an embedder",
                remedy=Remedy(
                    "Open it with the embedder to use, such as ", VerbCall("open", {"embedder": "local"}), "."
                ),
            )
        chosen = self._embedder.named(embedder)
        self._embedder.know(chosen)  # others in this process meet the new vectors before this call returns
        done = reembed(self._store, chosen, progress)
        self._embedder.replace(chosen)
        return done

    def backup(self, path: str | Path, *, overwrite: bool = False) -> Backup:
        """Copy the memory to a file while it is in use, and verify the copy. `memorist.restore` restores it."""
        from memorist.engine.backups import file_copy
        from memorist.upkeep.maintenance import backup

        self._concerns_everything()
        source: Path | None = getattr(self._store, "path", None)
        notes = self._writer_for(USUAL_CLASSIFICATION).notebook.folder
        return backup(file_copy(self._whole), path, overwrite=overwrite, source=source, notes=notes)

    def export(
        self, path: str | Path | IO[bytes], *, overwrite: bool = False, progress: Progress | None = None
    ) -> Exported:
        """Write everything as lines of JSON, vectors included; `import_` reads them into any store."""
        from memorist.upkeep.transfer import export

        self._concerns_everything()
        return export(self._store, path, overwrite=overwrite, progress=progress)

    def import_(
        self, path: str | Path | IO[bytes], *, without_vectors: bool = False, progress: Progress | None = None
    ) -> Imported:
        """Read an export; memories that are known already stay as they are. Without its vectors, texts are embedded."""
        from memorist.upkeep.importing import import_
        from memorist.upkeep.maintenance import reembed

        self._concerns_everything()
        embedder = self._embedder
        able = embedder and embedder.makes
        admit = self._writer.admission()
        done = import_(self._store, path, able=able, vectors=not without_vectors, admit=admit, progress=progress)
        if without_vectors and embedder is not None:
            reembed(self._store, embedder.making(self._store.embedding))
        return done


def look_for_jobs(engine: Upkeep) -> None:
    """Start the background work if another process left jobs."""
    engine._wake()  # pyright: ignore[reportPrivateUsage]


def jobs_seen(engine: Upkeep) -> Sequence[Job]:
    """The pending jobs as of the last look at them, which costs no other."""
    return engine._worker.seen  # pyright: ignore[reportPrivateUsage]
