"""The verbs that bring in, keep healthy and move a memory that a server keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from memorist.client import reading
from memorist.client.transport import Transport, Unreachable, encoded, raise_problem
from memorist.errors import InvalidInput
from memorist.model import Memory, Recall, When
from memorist.ports import Entry, Progress
from memorist.serialize import memory_from_data

if TYPE_CHECKING:
    from memorist.remember.ingest import IngestReport
    from memorist.upkeep.audit import Report
    from memorist.upkeep.consolidate import Consolidation
    from memorist.upkeep.importing import Imported
    from memorist.upkeep.maintenance import Reembedding
    from memorist.upkeep.tidy import Tidying


class RemoteUpkeep:
    """Part of `Client`, which sets what it works with."""

    _transport: Transport

    def ingest(
        self,
        what: str | Path | Iterable[Mapping[str, Any]],
        *,
        session: str | None = None,
        format: str | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Send chat messages or a file, and keep every text; what is known already adds nothing."""
        options = {"session": session, "format": format}
        if not isinstance(what, str | Path):
            body = encoded({"messages": list(what), **options})
            return _report(self._transport.events("/ingest", body, {}), progress)
        path = Path(what)
        if path.is_dir():
            raise InvalidInput(f"{path.name} is a folder", remedy="Ingest its files one by one.")
        with _opened(path) as file:
            events = self._transport.events("/ingest/file", file, {"name": path.name, **options})
            return _report(events, progress)

    def feedback(self, id: str, verdict: str, recall: Recall | Mapping[str, Any] | None = None) -> Memory:
        """Tell what a memory was worth: useful, wrong, outdated or hide; with the recall, its question is kept too."""
        body = {"id": id, "verdict": verdict, "recall": _asked(recall) if isinstance(recall, Recall) else recall}
        return memory_from_data(self._transport.post("/feedback", body))

    def invalidate(self, id: str, at: When | None = None, superseded_by: str | None = None) -> Memory:
        """End a memory's truth at a moment, now if none is given; it stays in its history. Twice is an error."""
        body = {"at": at, "superseded_by": superseded_by}
        return memory_from_data(self._transport.post(f"/memories/{id}/invalidate", body))

    def tidy(self, *, dry_run: bool = True) -> Tidying:
        """Tell what there is to tidy among what was learnt; do it, if it is no dry run."""
        return reading.tidying(self._transport.post("/tidy", {"dry_run": dry_run}, long=True))

    def consolidate(self, period: str | None = None) -> Consolidation:
        """Write the notes of days, weeks and quarters that are over, or of one sort of them; once each."""
        return reading.consolidation(self._transport.post("/consolidate", {"period": period}, long=True))

    def audit(self, kinds: Iterable[str] | None = None, *, fix: bool = False) -> Report:
        """Tell what is wrong with which memory; with `fix`, mend what can be mended."""
        wanted = None if kinds is None else list(kinds)
        return reading.report(self._transport.post("/audit", {"kinds": wanted, "fix": fix}, long=True))

    def mend(self, report: Report, ids: Iterable[str] | None = None) -> Report:
        """Apply the fixes of a report, or of some of its findings, as far as they are still there."""
        chosen = [finding.id for finding in report.findings] if ids is None else list(ids)
        kinds = sorted({finding.kind for finding in report.findings})
        return reading.report(self._transport.post("/audit", {"kinds": kinds, "findings": chosen}, long=True))

    def journal(self, verb: str | None = None, subject: str | None = None, limit: int = 100) -> list[Entry]:
        """What was decided and changed, newest first: of a verb, or about a memory."""
        told = self._transport.get("/journal", {"verb": verb, "subject": subject, "limit": limit})
        return [reading.entry(one) for one in told["items"]]

    def undo(self, entry: str) -> Entry:
        """Take back what an entry of the journal tells of, or all of a tidying, given its run."""
        return reading.entry(self._transport.post("/undo", {"entry": entry}))

    def reembed(self) -> Reembedding:
        """Make new vectors of everything by the server's embedder."""
        from memorist.upkeep.maintenance import Reembedding

        return Reembedding(**self._transport.post("/reembed", long=True))

    def export(self, path: str | Path | IO[bytes], *, overwrite: bool = False) -> None:
        """Write everything as lines of JSON, vectors included; `import_` takes them into any store."""
        self._saved("/export", path, overwrite)

    def backup(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Copy the space's file; `memorist.restore` takes it back."""
        self._saved("/backup", path, overwrite)

    def import_(self, path: str | Path | IO[bytes], *, without_vectors: bool = False) -> Imported:
        """Send an export; what is known already stays as it is."""
        from memorist.upkeep.importing import Imported

        with ExitStack() as stack:
            file = stack.enter_context(_opened(Path(path))) if isinstance(path, str | Path) else path
            done = self._transport.upload("/import", file, {"without_vectors": without_vectors})
        conflicts = tuple(done.pop("conflicts"))
        return Imported(**done, conflicts=conflicts)

    def _saved(self, what: str, path: str | Path | IO[bytes], overwrite: bool) -> None:
        if not isinstance(path, str | Path):
            self._transport.download(what, path.write)
            return
        from memorist.upkeep.transfer import refuse_existing, replacing

        refuse_existing(Path(path), overwrite=overwrite)
        with replacing(Path(path)) as part, part.open("wb") as file:
            self._transport.download(what, file.write)


def _report(events: Iterator[tuple[str, Any]], progress: Progress | None) -> IngestReport:
    done = 0
    for name, data in events:
        if name == "done":
            return reading.ingest_report(data)
        if name == "problem":
            raise_problem(data)
        elif progress is not None:
            progress(data["done"] - done)
            done = data["done"]
    raise Unreachable("The server broke off in the middle", remedy="Ingest it again: it goes on from there.")


def _asked(recall: Recall) -> dict[str, Any]:
    ids = [{"id": item.memory.id} for item in recall.items]
    return {"id": recall.id, "query": recall.query, "now": recall.now, "items": ids}


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise InvalidInput(
            f"{path.name} cannot be read: {error.strerror}", remedy="Check that it exists and may be read."
        ) from None
