"""The verbs that keep a memory healthy, renew it and move it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

from memorist.errors import MissingService, StoreBusy
from memorist.model import Memory, Recall, When, instant
from memorist.models.store_embedder import StoreEmbedder
from memorist.ports import Batch, Clock, Embedder, Entry, Job, Progress, Store
from memorist.ports.notices import Notice, Notices
from memorist.remember.jobs import retry_after
from memorist.remember.writer import Writer
from memorist.upkeep.audit import Report, audit, mend
from memorist.upkeep.backup import Backup, backup
from memorist.upkeep.consolidate import Consolidation, Notebook
from memorist.upkeep.feedback import asked, feedback
from memorist.upkeep.importing import Imported, import_
from memorist.upkeep.invalidate import invalidate
from memorist.upkeep.reembed import Reembedding, reembed
from memorist.upkeep.tidy import Tidying, tidy
from memorist.upkeep.transfer import Exported, export
from memorist.upkeep.undo import undo

SCRUB = "scrub"
"""The task of overwriting what was erased while a reader held it."""


class Upkeep:
    """Part of `Engine`, which sets what it works with."""

    _store: Store
    _embedder: StoreEmbedder | None
    _writer: Writer
    _notebook: Notebook
    _notices: Notices
    _clock: Clock

    def feedback(self, id: str, verdict: str, recall: Recall | Mapping[str, Any] | None = None) -> Memory:
        """Tell what a memory was worth: useful, wrong, outdated or hide; with the recall, its question is kept too."""
        return feedback(
            self._store, id, verdict, self._clock.now(), None if recall is None else asked(recall, self._writer.text)
        )

    def invalidate(self, id: str, at: When | None = None, superseded_by: str | None = None) -> Memory:
        """End a memory's truth at a moment, now if none is given; it stays in its history. Twice is an error."""
        now = self._clock.now()
        return invalidate(self._store, id, now if at is None else instant(at), now, superseded_by)

    def tidy(self, *, dry_run: bool = True) -> Tidying:
        """Tell what there is to tidy among what was learnt; do it, if it is no dry run. `undo` takes a run back."""
        done = tidy(self._store, self._clock.now(), dry_run=dry_run)
        ended = tuple(one.id for one in done.changes if one.rule in ("decay", "expire"))
        if done.run is not None and ended:
            self._notices.tell(Notice("decay", done.at, ended, dict(done.counts)))
        return done

    def consolidate(self, period: str | None = None) -> Consolidation:
        """Write the notes of days, weeks and quarters that are over, or of one sort of them; once each."""
        return self._notebook.consolidate(self._clock.now(), period)

    def audit(
        self, kinds: Iterable[str] | None = None, *, fix: bool = False, progress: Progress | None = None
    ) -> Report:
        """Look at every memory and tell what is wrong with which; with `fix`, mend what can be mended."""
        wanted = None if kinds is None else frozenset(kinds)
        report = audit(self._store, self._clock.now(), kinds=wanted, progress=progress)
        return self.mend(report) if fix else report

    def mend(self, report: Report, ids: Iterable[str] | None = None) -> Report:
        """Apply the fixes of a report, or of some of its findings; `undo` takes each back."""
        after = mend(report, self._store, self._embedder, ids=None if ids is None else frozenset(ids))
        if any(one.kind == "secret" and one.id in after.fixed for one in after.findings):
            self._overwritten(rewrite=True)
        return after

    def journal(self, verb: str | None = None, subject: str | None = None, limit: int = 100) -> list[Entry]:
        """What was decided and changed, newest first: of a verb, or about a memory."""
        return self._store.journal(verb, subject, limit)

    def undo(self, entry: str) -> Entry:
        """Take back what an entry of the journal tells of, or all of a tidying, given its run."""
        return undo(self._store, entry, self._clock.now(), self._writer.restore)

    def _overwritten(self, *, rewrite: bool) -> bool:
        """Whether what was erased is overwritten; if a reader is in the way, that is left to do."""
        done = self._store.scrub(rewrite=rewrite)
        if not done:
            self._store.put(Batch(jobs=[Job(SCRUB, self._store.space, self._clock.now() + retry_after(1))]))
        return done

    def _scrub(self, job: Job) -> None:
        if not self._store.scrub(rewrite=True):
            raise StoreBusy("Another process still reads what was erased", remedy="Let it finish, or close it.")

    # Renewing and moving

    def reembed(self, embedder: Embedder | str | None = None, *, progress: Progress | None = None) -> Reembedding:
        """Make new vectors of everything, by another embedder or the one this memory was opened with.

        Recalls go on with the old vectors until the last new one is there; a run that was killed is simply run again.
        """
        if self._embedder is None:
            raise MissingService(
                "This memory was opened without an embedder",
                remedy="Open it with the one to embed by, such as 'local'.",
            )
        chosen = self._embedder.named(embedder)
        done = reembed(self._store, chosen, progress)
        self._embedder.replace(chosen)
        return done

    def backup(self, path: str | Path, *, overwrite: bool = False) -> Backup:
        """Copy the memory to a file, while it is in use; the copy is checked. `memorist.restore` takes it back."""
        source: Path | None = getattr(self._store, "path", None)
        return backup(self._store, path, overwrite=overwrite, source=source, notes=self._notebook.folder)

    def export(
        self, path: str | Path | IO[bytes], *, overwrite: bool = False, progress: Progress | None = None
    ) -> Exported:
        """Write everything as lines of JSON, vectors included; `import_` takes them into any store."""
        return export(self._store, path, overwrite=overwrite, progress=progress)

    def import_(
        self, path: str | Path | IO[bytes], *, without_vectors: bool = False, progress: Progress | None = None
    ) -> Imported:
        """Take in an export; what is known already stays as it is. Without its vectors, new ones are made."""
        embedder = self._embedder
        able = embedder and embedder.makes
        done = import_(
            self._store,
            path,
            able=able,
            vectors=not without_vectors,
            admit=self._writer.admission(),
            progress=progress,
        )
        if without_vectors and embedder is not None:
            reembed(self._store, embedder.making(self._store.embedding))
        return done
