"""The verbs of a memory: what `Engine` does in this process, and `Client` on a server."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any, Protocol, Self, Unpack, overload

from memorist.model import (
    Changes,
    FactFields,
    Fields,
    Filters,
    GateDecision,
    Ids,
    Memory,
    Progress,
    Recall,
    RecallOptions,
    Remembered,
    WakeUp,
    When,
)
from memorist.ports import Embedder
from memorist.results.finding import Absence, EntitySummary, Explanation, Neighbourhood
from memorist.results.moving import Backup, Exported, Imported, Reembedding
from memorist.results.records import Entry, Job, Page, Receipt, StoreStats
from memorist.results.upkeep import Consolidation, Report, Sleep, Tidying
from memorist.results.writing import Commit, IngestReport


class SessionVerbs(Protocol):
    """A run of an agent, used in a `with` block."""

    @property
    def id(self) -> str:
        """The session's id."""
        ...

    @property
    def goal(self) -> str | None:
        """What the run is for."""
        ...

    @property
    def gates(self) -> tuple[GateDecision, ...]:
        """What gates decided about the goal when the session was opened."""
        ...

    def step(
        self,
        observation: str,
        action: str | None = None,
        reward: float | None = None,
        *,
        number: int | None = None,
    ) -> Remembered:
        """Keep an observation and the action that followed, verbatim; it can be found as soon as this returns.

        With its `number`, counted from 1, a step can safely be sent again: the same step is kept once.
        """
        ...

    def commit(self) -> Commit:
        """Learn from the steps so far and close the session; another step opens it again."""
        ...

    def discard(self) -> Receipt:
        """Erase, as `forget` does, the steps that were not committed, and close the session.

        Nothing is learnt from them. What was committed before stays, and so does the goal. Another step opens the
        session again.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...


class Verbs(Protocol):
    """A memory that can be used. Thread-safe."""

    @property
    def space(self) -> str:
        """The name of the space."""
        ...

    def close(self) -> None:
        """Release the memory. Safe to call twice."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    # Writing

    def remember(self, text: str, **fields: Unpack[Fields]) -> Remembered:
        """Keep one memory, verbatim; it can be found as soon as this returns. `outcome` says what became of it."""
        ...

    def remember_many(
        self, memories: Iterable[str | Mapping[str, Any]], *, progress: Progress | None = None
    ) -> builtins.list[Remembered]:
        """Keep many, each a text or a mapping with `text` and the keywords of `remember`."""
        ...

    def ingest(
        self,
        what: str | Path | Iterable[Mapping[str, Any]],
        *,
        session: str | None = None,
        format: str | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Keep the texts of chat messages or a file; known texts add nothing."""
        ...

    def relate(
        self, subject: str, relation: str, object: str, text: str | None = None, **times: Unpack[FactFields]
    ) -> Remembered:
        """Write a fact; a new value of a one-valued relation, such as lives_in, supersedes the old one."""
        ...

    def update(self, id: str, text: str | None = None, **changes: Unpack[Changes]) -> Remembered:
        """Change a memory's text or other fields, as a new version with the same id; the old one stays in its history.

        `outcome` says what became of it: merged, or known if nothing changes. Another text is true from now on, or from
        `at`; facts, names, tags and vectors follow it.
        """
        ...

    def forget(self, id: str | Ids | None = None, *, soft: bool = False, **filters: Unpack[Filters]) -> Receipt:
        """Erase one memory, several, or all that the filters choose, for good, with facts that rest on nothing else.

        If one of several ids is unknown, nothing is erased. With `soft`, they end now and stay in their history
        instead, and `undo` takes the receipt's `run` back.
        """
        ...

    # Sessions

    def session(self, goal: str | None = None, id: str | None = None, *, scope: str | None = None) -> SessionVerbs:
        """A run of an agent, used in a `with` block; a known id continues that session."""
        ...

    def recall_in_context(self, session: str, query: str, /, **options: Unpack[RecallOptions]) -> Recall:
        """`recall`, with the session's goal and last three steps before the question; plain for an unknown session."""
        ...

    def work(self) -> int:
        """Run the jobs that are due, such as committing abandoned sessions; returns how many ran."""
        ...

    def jobs(self) -> builtins.list[Job]:
        """Pending jobs, earliest due first, with how often each failed and why."""
        ...

    # Finding

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """Find what matters for a question, with a context ready for a prompt."""
        ...

    def explain(self, recall: Recall, id: str) -> Explanation:
        """How an item of a recall got its place."""
        ...

    def why_not(self, query: str, id: str, **options: Unpack[RecallOptions]) -> Absence:
        """Why a recall with these options does not return a memory: the stage that dropped it, and what was missing."""
        ...

    # Looking

    @overload
    def get(self, id: str) -> Memory | None: ...

    @overload
    def get(self, id: Ids) -> builtins.list[Memory | None]: ...

    def get(self, id: str | Ids) -> Memory | builtins.list[Memory | None] | None:
        """One memory, or None; of several ids, a list in their order."""
        ...

    def list(self, limit: int = 100, cursor: str | None = None, **filters: Unpack[Filters]) -> Page:
        """Memories in the order they were written; pass the `cursor` of a page to continue."""
        ...

    def pinned(self, limit: int = 100, **filters: Unpack[Filters]) -> builtins.list[Memory]:
        """The pinned memories that the filters admit, newest first: those at the head of every context."""
        ...

    def wake_up(self, max_tokens: int = 800, *, speaker: str | None = None, **filters: Unpack[Filters]) -> WakeUp:
        """What an agent should know at its start: pinned memories, then the most important and newest others.

        `speaker` is who will ask: memories by and about them come first.
        """
        ...

    def history(self, name: str) -> builtins.list[Memory]:
        """All versions of a memory, given its id, or of every fact about an entity; newest knowledge first."""
        ...

    def entities(
        self, prefix: str | None = None, limit: int = 100, kind: str | None = None, **filters: Unpack[Filters]
    ) -> builtins.list[EntitySummary]:
        """The names that memories mention, most mentioned first; optionally those that begin with a prefix."""
        ...

    def neighbours(self, entity: str, hops: int = 1, limit: int = 50, **filters: Unpack[Filters]) -> Neighbourhood:
        """The names and relations reached from an entity, with the facts and memories that each relation rests on."""
        ...

    def stats(self) -> StoreStats:
        """How much the space holds."""
        ...

    # Upkeep

    def feedback(self, id: str, verdict: str, recall: Recall | Mapping[str, Any] | None = None) -> Memory:
        """Say how a memory served: useful, wrong, outdated or hide. With the recall, its question is kept too."""
        ...

    def pin(self, id: str) -> Memory:
        """Keep a memory at the head of every context, whoever said it; read it before you do. `undo` takes it back."""
        ...

    def unpin(self, id: str) -> Memory:
        """Keep a memory no longer at the head of every context."""
        ...

    def invalidate(self, id: str, at: When | None = None, superseded_by: str | None = None) -> Memory:
        """End a memory's truth at a moment, now by default; it stays in its history. A second time is an error."""
        ...

    def tidy(self, *, dry_run: bool = True) -> Tidying:
        """List what there is to tidy; make the changes unless it is a dry run."""
        ...

    def consolidate(self, period: str | None = None) -> Consolidation:
        """Write the notes of days, weeks and quarters that are over, or of one kind of period; once each."""
        ...

    def sleep(self, *, dry_run: bool = True) -> Sleep:
        """`consolidate`, `tidy` and `audit`, in this order, as one run that `undo` takes back; a dry run only plans it.

        Fixes of the audit that cannot be undone are left to `audit`.
        """
        ...

    def audit(
        self, kinds: Iterable[str] | None = None, *, fix: bool = False, progress: Progress | None = None
    ) -> Report:
        """Find problems with memories; with `fix`, mend those that can be mended."""
        ...

    def mend(self, report: Report, ids: Iterable[str] | None = None) -> Report:
        """Apply the fixes of a report, or of some of its findings; `undo` reverts each."""
        ...

    def journal(
        self,
        verb: str | None = None,
        subject: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
        *,
        since: When | None = None,
    ) -> builtins.list[Entry]:
        """What was decided and changed, newest first: by a verb, about a memory, or since a moment.

        `cursor` is the id of the last entry of a page; the next page continues after it.
        """
        ...

    def undo(self, entry: str) -> Entry:
        """Undo an entry of the journal, or a whole tidying or sleep, given its run."""
        ...

    # Renewing and moving

    def reembed(self, embedder: Embedder | str | None = None, *, progress: Progress | None = None) -> Reembedding:
        """Embed every memory anew; recalls use the old vectors until all are done."""
        ...

    def backup(self, path: str | Path, *, overwrite: bool = False) -> Backup:
        """Copy the memory to a file while it is in use; `memorist.restore` restores it."""
        ...

    def export(
        self, path: str | Path | IO[bytes], *, overwrite: bool = False, progress: Progress | None = None
    ) -> Exported:
        """Write everything as lines of JSON, vectors included; `import_` reads them into any store."""
        ...

    def import_(
        self, path: str | Path | IO[bytes], *, without_vectors: bool = False, progress: Progress | None = None
    ) -> Imported:
        """Import an export; known memories stay as they are. Without its vectors, the texts are embedded anew."""
        ...
