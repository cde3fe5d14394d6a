"""The verbs that keep a memory healthy, re-embed it, back it up and move it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from memorist.asking import Askers
from memorist.errors import MissingService, StoreBusy
from memorist.model import Memory, Recall, When, instant
from memorist.models.store_embedder import StoreEmbedder
from memorist.ports import Batch, Clock, Embedder, Entry, Job, Progress, Store
from memorist.ports.notices import Notice, Notices
from memorist.remember.jobs import retry_after
from memorist.remember.writer import Writer

if TYPE_CHECKING:
    from memorist.upkeep.audit import Report
    from memorist.upkeep.consolidate import Consolidation, Notebook
    from memorist.upkeep.importing import Imported
    from memorist.upkeep.maintenance import Backup, Reembedding
    from memorist.upkeep.tidy import Tidying
    from memorist.upkeep.transfer import Exported

SCRUB = "scrub"
"""The task of overwriting erased bytes that a reader held at the time."""


class Upkeep:
    """Part of `Engine`, which sets these attributes. Each verb imports its own code: most processes need none."""

    _store: Store
    _embedder: StoreEmbedder | None
    _writer: Writer
    _askers: Askers
    _notices: Notices
    _clock: Clock
    _notes: Path | None

    @cached_property
    def _notebook(self) -> Notebook:
        from memorist.upkeep.consolidate import Notebook

        return Notebook(self._store, self._notes, self._askers, self._writer)

    def feedback(self, id: str, verdict: str, recall: Recall | Mapping[str, Any] | None = None) -> Memory:
        """Say what a memory was worth: useful, wrong, outdated or hide. With the recall, its query is kept too."""
        from memorist.upkeep.feedback import feedback, recall_seen

        seen = None if recall is None else recall_seen(recall, self._writer.text)
        return feedback(self._store, id, verdict, self._clock.now(), seen)

    def invalidate(self, id: str, at: When | None = None, superseded_by: str | None = None) -> Memory:
        """End a memory's validity at a moment, by default now. It stays in its history; a second time is an error."""
        from memorist.upkeep.feedback import invalidate

        now = self._clock.now()
        return invalidate(self._store, id, now if at is None else instant(at), now, superseded_by)

    def tidy(self, *, dry_run: bool = True) -> Tidying:
        """Plan what to tidy among learnt memories and, unless it is a dry run, do it. `undo` takes the run back."""
        from memorist.upkeep.tidy import tidy

        done = tidy(self._store, self._clock.now(), dry_run=dry_run)
        ended = tuple(one.id for one in done.changes if one.rule in ("decay", "expire"))
        if done.run is not None and ended:
            self._notices.tell(Notice("decay", done.at, ended, dict(done.counts)))
        return done

    def consolidate(self, period: str | None = None) -> Consolidation:
        """Write the notes of past days, weeks and quarters that are new or out of date; `period` selects one kind."""
        return self._notebook.consolidate(self._clock.now(), period)

    def audit(
        self, kinds: Iterable[str] | None = None, *, fix: bool = False, progress: Progress | None = None
    ) -> Report:
        """Check every memory and report what is wrong; with `fix`, apply all fixes."""
        from memorist.upkeep.audit import audit

        wanted = None if kinds is None else frozenset(kinds)
        report = audit(self._store, self._clock.now(), kinds=wanted, progress=progress)
        return self.mend(report) if fix else report

    def mend(self, report: Report, ids: Iterable[str] | None = None) -> Report:
        """Apply the fixes of a report, or only those of the findings with these ids. `undo` takes each back."""
        from memorist.upkeep.audit import apply_fixes

        after = apply_fixes(report, self._store, self._embedder, ids=None if ids is None else frozenset(ids))
        if any(one.kind == "secret" and one.id in after.fixed for one in after.findings):
            self._overwritten(rewrite=True)
        return after

    def journal(self, verb: str | None = None, subject: str | None = None, limit: int = 100) -> list[Entry]:
        """The decisions and changes so far, newest first; optionally of one verb, or about one memory."""
        return self._store.journal(verb, subject, limit)

    def undo(self, entry: str) -> Entry:
        """Undo a journal entry, or a whole tidying by the id of its run."""
        from memorist.upkeep.change import undo

        return undo(self._store, entry, self._clock.now(), self._writer.restore)

    def _overwritten(self, *, rewrite: bool) -> bool:
        """Overwrite erased bytes; returns False, and schedules a retry, if a reader is in the way."""
        done = self._store.scrub(rewrite=rewrite)
        if not done:
            self._store.put(Batch(jobs=[Job(SCRUB, self._store.space, self._clock.now() + retry_after(1))]))
        return done

    def _scrub(self, job: Job) -> None:
        if not self._store.scrub(rewrite=True):
            raise StoreBusy("Another process still reads erased data", remedy="Let it finish, or close it.")

    # Re-embedding, backups and moving

    def reembed(self, embedder: Embedder | str | None = None, *, progress: Progress | None = None) -> Reembedding:
        """Embed every memory again, with another embedder or the one this memory was opened with.

        Recall uses the old vectors until the last new one is written. If the run is killed, run it again.
        """
        from memorist.upkeep.maintenance import reembed

        if self._embedder is None:
            raise MissingService(
                "This memory was opened without an embedder",
                remedy="Open it with the embedder to use, such as 'local'.",
            )
        chosen = self._embedder.named(embedder)
        done = reembed(self._store, chosen, progress)
        self._embedder.replace(chosen)
        return done

    def backup(self, path: str | Path, *, overwrite: bool = False) -> Backup:
        """Copy the memory to a file while it is in use, and verify the copy. `memorist.restore` restores it."""
        from memorist.upkeep.maintenance import backup

        source: Path | None = getattr(self._store, "path", None)
        return backup(self._store, path, overwrite=overwrite, source=source, notes=self._notebook.folder)

    def export(
        self, path: str | Path | IO[bytes], *, overwrite: bool = False, progress: Progress | None = None
    ) -> Exported:
        """Write everything as lines of JSON, vectors included; `import_` reads them into any store."""
        from memorist.upkeep.transfer import export

        return export(self._store, path, overwrite=overwrite, progress=progress)

    def import_(
        self, path: str | Path | IO[bytes], *, without_vectors: bool = False, progress: Progress | None = None
    ) -> Imported:
        """Read an export; memories that are known already stay as they are. Without its vectors, texts are embedded."""
        from memorist.upkeep.importing import import_
        from memorist.upkeep.maintenance import reembed

        embedder = self._embedder
        able = embedder and embedder.makes
        admit = self._writer.admission()
        done = import_(self._store, path, able=able, vectors=not without_vectors, admit=admit, progress=progress)
        if without_vectors and embedder is not None:
            reembed(self._store, embedder.making(self._store.embedding))
        return done
