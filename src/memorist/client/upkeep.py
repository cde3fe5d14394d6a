"""The verbs that import, maintain and move a memory on a server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, TypeVar
from urllib.parse import quote

from memorist.client.transport import Transport, Unreachable, encode_body, raise_problem, read, read_items, unreadable
from memorist.errors import InvalidInput
from memorist.files import refuse_existing, replacing
from memorist.model import Memory, Progress, Recall, When
from memorist.model.arguments import checks_arguments
from memorist.ports import Embedder
from memorist.results.moving import (
    Backup,
    Exported,
    ExportHeader,
    Imported,
    Reembedding,
    from_line,
    header_from_data,
)
from memorist.results.records import Entry
from memorist.results.upkeep import Consolidation, Report, Sleep, Tidying
from memorist.results.writing import IngestReport
from memorist.verbs import Verbs

T = TypeVar("T")
SQLITE = b"SQLite format 3\0"
"""How every database of SQLite begins."""
LONGEST_HEADER = 64 * 1024


@checks_arguments
class RemoteUpkeep(Verbs):
    """Part of `Client`, which sets the transport."""

    _transport: Transport

    def ingest(
        self,
        what: str | Path | Iterable[Mapping[str, Any]],
        *,
        session: str | None = None,
        format: str | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Send chat messages or a file and keep its texts; known texts add nothing."""
        options = {"session": session, "format": format}
        if not isinstance(what, str | Path):
            body = encode_body({"messages": list(what), **options})
            return _report(self._transport.events("/ingest", body, {}), progress)
        path = Path(what)
        if path.is_dir():
            raise InvalidInput(f"{path.name} is a folder", remedy="Ingest its files one by one.")
        with _opened(path) as file:
            events = self._transport.events("/ingest/file", file, {"name": path.name, **options})
            return _report(events, progress)

    def feedback(self, id: str, verdict: str, recall: Recall | Mapping[str, Any] | None = None) -> Memory:
        body = {"id": id, "verdict": verdict, "recall": _asked(recall) if isinstance(recall, Recall) else recall}
        return read(Memory, self._transport.post("/feedback", body))

    def pin(self, id: str) -> Memory:
        return read(Memory, self._transport.post(f"/memories/{quote(id, safe='')}/pin", {}))

    def unpin(self, id: str) -> Memory:
        return read(Memory, self._transport.post(f"/memories/{quote(id, safe='')}/unpin", {}))

    def invalidate(self, id: str, at: When | None = None, superseded_by: str | None = None) -> Memory:
        body = {"at": at, "superseded_by": superseded_by}
        return read(Memory, self._transport.post(f"/memories/{quote(id, safe='')}/invalidate", body))

    def tidy(self, *, dry_run: bool = True) -> Tidying:
        return read(Tidying, self._transport.post("/tidy", {"dry_run": dry_run}, long=True))

    def consolidate(self, period: str | None = None) -> Consolidation:
        return read(Consolidation, self._transport.post("/consolidate", {"period": period}, long=True))

    def sleep(self, *, dry_run: bool = True) -> Sleep:
        """`consolidate`, `tidy` and `audit`, as one run that `undo` takes back; a dry run only plans it."""
        return read(Sleep, self._transport.post("/sleep", {"dry_run": dry_run}, long=True))

    def audit(
        self, kinds: Iterable[str] | None = None, *, fix: bool = False, progress: Progress | None = None
    ) -> Report:
        wanted = None if kinds is None else list(kinds)
        report = read(Report, self._transport.post("/audit", {"kinds": wanted, "fix": fix}, long=True))
        _done(progress, report.checked)
        return report

    def mend(self, report: Report, ids: Iterable[str] | None = None) -> Report:
        """Apply the fixes of a report, or of some of its findings, as far as they still apply."""
        chosen = [finding.id for finding in report.findings] if ids is None else list(ids)
        kinds = sorted({finding.kind for finding in report.findings})
        return read(Report, self._transport.post("/audit", {"kinds": kinds, "findings": chosen}, long=True))

    def journal(
        self,
        verb: str | None = None,
        subject: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        *,
        since: When | None = None,
    ) -> list[Entry]:
        asked = {"verb": verb, "subject": subject, "limit": limit, "cursor": cursor, "since": since}
        return read_items(Entry, self._transport.get("/journal", asked))

    def undo(self, entry: str) -> Entry:
        return read(Entry, self._transport.post("/undo", {"entry": entry}))

    def reembed(self, embedder: Embedder | str | None = None, *, progress: Progress | None = None) -> Reembedding:
        """Embed every memory anew with the server's embedder."""
        if embedder is not None:
            raise InvalidInput(
                "A server uses its own embedder", remedy="Leave `embedder` out, or configure the server."
            )
        done = read(Reembedding, self._transport.post("/reembed", long=True))
        _done(progress, done.embedded)
        return done

    def export(
        self, path: str | Path | IO[bytes], *, overwrite: bool = False, progress: Progress | None = None
    ) -> Exported:
        lines = _Lines()
        header = self._save("/export", path, overwrite, lines, _header)
        _done(progress, lines.count)
        return Exported(header, lines.count)

    def backup(self, path: str | Path, *, overwrite: bool = False) -> Backup:
        """Copy the space's file; `memorist.restore` restores it. The server's notes stay there."""
        self._save("/backup", path, overwrite, _Lines(), _refuse_other_files)
        return Backup(Path(path), Path(path).stat().st_size, 0)

    def import_(
        self, path: str | Path | IO[bytes], *, without_vectors: bool = False, progress: Progress | None = None
    ) -> Imported:
        """Send an export; known memories stay as they are."""
        with ExitStack() as stack:
            file = stack.enter_context(_opened(Path(path))) if isinstance(path, str | Path) else path
            done = read(Imported, self._transport.upload("/import", file, {"without_vectors": without_vectors}))
        _done(progress, done.lines)
        return done

    def _save(
        self, what: str, path: str | Path | IO[bytes], overwrite: bool, lines: _Lines, check: Callable[[bytes], T]
    ) -> T:
        """Download a file and check its beginning; one with a path appears complete or not at all."""
        if not isinstance(path, str | Path):
            self._transport.download(what, lines.into(path))
            return check(lines.first)
        target = Path(path).absolute()
        refuse_existing(target, overwrite=overwrite)
        with replacing(target) as part, part.open("wb") as file:
            self._transport.download(what, lines.into(file))
            return check(lines.first)


class _Lines:
    """The first line of a file that passes by, as far as it is of use, and the number of its lines."""

    def __init__(self) -> None:
        self.first = b""
        self.count = 0

    def into(self, file: IO[bytes]) -> Callable[[bytes], object]:
        """A function that counts a chunk and writes it to a file."""

        def take(chunk: bytes) -> object:
            if self.count == 0:
                self.first += chunk.partition(b"\n")[0][: LONGEST_HEADER - len(self.first)]
            self.count += chunk.count(b"\n")
            return file.write(chunk)

        return take


def _header(first: bytes) -> ExportHeader:
    """The header of an export, given its first line."""
    try:
        return header_from_data(from_line(first))
    except (ValueError, RecursionError):
        raise unreadable() from None


def _refuse_other_files(first: bytes) -> None:
    """Refuse what is no database: a proxy may answer with a page."""
    if not first.startswith(SQLITE):
        raise unreadable()


def _done(progress: Progress | None, count: int) -> None:
    """Report work that the server did in one go."""
    if progress is not None:
        progress(count)


def _report(events: Iterator[tuple[str, dict[str, Any]]], progress: Progress | None) -> IngestReport:
    done = 0
    for name, data in events:
        if name == "done":
            return read(IngestReport, data)
        if name == "problem":
            raise_problem(data)
        elif progress is not None and isinstance(data.get("done"), int):
            progress(data["done"] - done)
            done = data["done"]
    raise Unreachable("The server closed the connection", remedy="Ingest it again: it continues from there.")


def _asked(recall: Recall) -> dict[str, Any]:
    ids = [{"id": item.memory.id} for item in recall.items]
    return {"id": recall.id, "query": recall.query, "now": recall.now, "items": ids}


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise InvalidInput(
            f"{path.name} cannot be read: {error.strerror}", remedy="Check that it exists and is readable."
        ) from None
