"""The audit: every memory seen once, page by page; then what was found is mended, if that is asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from memorist.errors import InvalidInput, MissingService
from memorist.model import Filter, Memory, fingerprint
from memorist.ports import Batch, Entry, Progress, Reader, Store, Vectors
from memorist.remember.journal import FINAL, changes, unlinked
from memorist.upkeep.audit.checks import Check, Contradictions, Drift, Loops, Orphans, Stale, Texts
from memorist.upkeep.audit.duplicates import Duplicates
from memorist.upkeep.audit.model import KINDS, AuditChange, Finding, Fix, Report

VERB = "audit"
"""The verb of the journal's entries about fixes."""
PAGE = 500
TOGETHER = 200
"""Findings that are mended in one transaction."""
_SEVERITIES = ("high", "medium", "low")


class Embedding(Protocol):
    """Gives texts their vectors."""

    def of_texts(self, texts: Sequence[str]) -> dict[str, Vectors]:
        """Vectors of texts, by text."""
        ...


def audit(
    store: Store, now: datetime, *, kinds: Collection[str] | None = None, progress: Progress | None = None
) -> Report:
    """Look at every memory and tell what is wrong with which; nothing is changed."""
    wanted = checked_kinds(kinds)
    checks = [check for check in _checks(store, now) if wanted & set(check.kinds)]
    findings: list[Finding] = []
    seen = 0
    for page in _pages(store):
        seen += len(page)
        for check in checks:
            findings += check.see(page)
        if progress is not None:
            progress(len(page))
    for check in checks:
        findings += check.close()
    return Report(now, seen, tuple(_in_order(finding for finding in findings if finding.kind in wanted)))


def mend(
    report: Report, store: Store, embedding: Embedding | None = None, *, ids: Collection[str] | None = None
) -> Report:
    """Apply the fixes of a report, or of some of its findings by their ids; each is journalled for its undo."""
    chosen = [one for one in report.findings if one.fix is not None and (ids is None or one.id in ids)]
    fixed = dict(report.fixed)
    for start in range(0, len(chosen), TOGETHER):
        fixed |= _mend(chosen[start : start + TOGETHER], store, embedding, report.at)
    return replace(report, fixed=fixed)


def checked_kinds(kinds: Collection[str] | None) -> set[str]:
    """The kinds to look for; None is all of them."""
    unknown = sorted(set(kinds or ()) - set(KINDS))
    if unknown:
        raise InvalidInput(f"There are no findings of {', '.join(unknown)}", remedy=f"Kinds are {', '.join(KINDS)}.")
    return set(KINDS if kinds is None else kinds)


def _checks(store: Store, now: datetime) -> list[Check]:
    return [
        Texts(store, now),
        Loops(now),
        Duplicates(now),
        Contradictions(now),
        Orphans(store, now),
        Stale(now),
        Drift(store),
    ]


def _pages(store: Store) -> Iterator[tuple[Memory, ...]]:
    cursor = None
    while True:
        page = store.scan(Filter(), PAGE, cursor)
        yield page.items
        if (cursor := page.cursor) is None:
            return


def _in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The gravest first; of a severity, by kind and then as found."""
    return sorted(findings, key=lambda one: (_SEVERITIES.index(one.severity), KINDS.index(one.kind)))


def _mend(findings: Sequence[Finding], store: Store, embedding: Embedding | None, now: datetime) -> dict[str, str]:
    fresh = _fresh(findings, store, embedding)
    entries: dict[str, str] = {}

    def plan(reader: Reader) -> Batch:
        writing = _Writing(reader)
        entries.clear()
        for finding in findings:
            entry = writing.mend(finding, now, fresh)
            if entry is not None:
                entries[finding.id] = entry.id
        return writing.batch()

    store.update(plan)
    return entries


def _fresh(findings: Sequence[Finding], store: Store, embedding: Embedding | None) -> dict[str, Vectors]:
    """Vectors that the fixes need, made before anybody has to wait for us."""
    texts = [text for one in findings if one.fix is not None for text in one.fix.texts(store)]
    if not texts or store.embedding is None:
        return {}
    if embedding is None:
        raise MissingService(
            "Vectors must be made anew, and there is no embedder", remedy="Open the memory with its embedder."
        )
    return embedding.of_texts(texts)


class _Writing:
    """Fixes put together: each sees the memories as those before it leave them."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._revised: dict[str, Memory] = {}
        self._changes: list[AuditChange] = []
        self._entries: list[Entry] = []

    def get(self, ids: Sequence[str]) -> Mapping[str, Memory]:
        """The memories with these ids as they will be."""
        return {**self._reader.get(ids), **{id: self._revised[id] for id in ids if id in self._revised}}

    def mend(self, finding: Finding, now: datetime, fresh: Mapping[str, Vectors]) -> Entry | None:
        """Add a finding's fix; None where there is nothing left to mend."""
        if (fix := finding.fix) is None:
            return None
        change = fix.change(self, now, fresh)
        if not change.revised and not change.unlinked:
            return None
        entry = self._entry(finding, fix, change, now)
        self._revised |= {memory.id: memory for memory in change.revised}
        self._changes.append(change)
        self._entries.append(entry)
        return entry

    def batch(self) -> Batch:
        """All of them."""
        return Batch(
            revised=list(self._revised.values()),
            unlinked=[link for change in self._changes for link in change.unlinked],
            vectors={id: views for change in self._changes for id, views in change.vectors.items()},
            journal=self._entries,
        )

    def _entry(self, finding: Finding, fix: Fix, change: AuditChange, now: datetime) -> Entry:
        data = {"kind": finding.kind, "reason": finding.reason, "fix": fix.told()}
        if fix.final is not None:
            data[FINAL] = fix.final
        else:
            before = self.get([memory.id for memory in change.revised])
            data |= changes((before[after.id], after) for after in change.revised)
            data |= unlinked(change.unlinked) if change.unlinked else {}
        subjects = finding.ids or tuple(memory.id for memory in change.revised[:1])
        return Entry(fingerprint(VERB, finding.id, now), now, VERB, subjects, data)
