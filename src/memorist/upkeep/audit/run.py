"""Run an audit: read every memory once, page by page, and collect findings; apply fixes if asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from memorist.errors import InvalidInput, MissingService
from memorist.model import Filter, fingerprint
from memorist.models.store_embedder import StoreEmbedder
from memorist.ports import Batch, Damage, Entry, Progress, Store, Vectors
from memorist.remember.journal import FINAL
from memorist.results.upkeep import AUDIT_KINDS, Finding, Report
from memorist.upkeep.audit.checks import Check, Drift, GateCheck, Loops, Orphans, Stale, damage_findings
from memorist.upkeep.audit.facts import WrongFacts
from memorist.upkeep.audit.fixes import change_of, texts_of
from memorist.upkeep.audit.statements import Contradictions, Duplicates
from memorist.upkeep.change import RUN, PendingWrite, batch_of, every_page, write

VERB = "audit"
"""The verb of the journal entries of fixes."""
CHECKS: tuple[type[Check], ...] = (GateCheck, Loops, Duplicates, Contradictions, WrongFacts, Orphans, Stale, Drift)
PAGE = 500
FIXES_PER_WRITE = 200


def audit(
    store: Store, now: datetime, *, kinds: Collection[str] | None = None, progress: Progress | None = None
) -> Report:
    """Check every memory and report what is wrong; nothing is changed."""
    wanted = check_kinds(kinds)
    checks = [check(store, now) for check in CHECKS if wanted & set(check.kinds)]
    findings: list[Finding] = []
    seen = 0
    for page in every_page(store, Filter(), PAGE):
        seen += len(page)
        for check in checks:
            findings += check.see(page) or ()
        if progress is not None:
            progress(len(page))
    for check in checks:
        findings += check.close() or ()
    return Report.of([Report(now, seen, tuple(finding for finding in findings if finding.kind in wanted))])


def audit_whole(store: Store, now: datetime, kinds: Collection[str] | None) -> Report:
    """Report what a store says about itself, beyond what its parts show."""
    if "drift" not in check_kinds(kinds):
        return Report(now, 0, ())
    ids = (memory.id for page in every_page(store, Filter(), PAGE) for memory in page)
    return Report(now, 0, tuple(damage_findings(store, ids)))


def apply_fixes(
    report: Report,
    store: Store,
    embedder: StoreEmbedder | None = None,
    *,
    ids: Collection[str] | None = None,
    run: str | None = None,
) -> Report:
    """Apply the fixes of a report, or only those of the findings with these ids; each is journalled for `undo`.

    They may be part of a `run`, which is undone as a whole.
    """
    chosen = [
        finding for finding in report.findings if finding.repair is not None and (ids is None or finding.id in ids)
    ]
    fixed = _repair([finding for finding in chosen if finding.repair and finding.repair.damage], store, report.at)
    chosen = [finding for finding in chosen if finding.repair and not finding.repair.damage]
    for start in range(0, len(chosen), FIXES_PER_WRITE):
        fixed |= _apply(chosen[start : start + FIXES_PER_WRITE], store, embedder, report.at, run)
    return replace(
        report,
        findings=tuple(replace(finding, fixed=fixed.get(finding.id, finding.fixed)) for finding in report.findings),
    )


def _repair(damaged: Sequence[Finding], store: Store, now: datetime) -> dict[str, str]:
    """Let the store repair what it reports as damaged; returns the journal entry of each finding that is gone."""
    if not damaged:
        return {}
    integrity: Callable[[], list[Damage]] = getattr(store, "integrity", list[Damage])
    repair: Callable[[], None] = getattr(store, "repair", lambda: None)
    repair()
    left = set(map(str, integrity()))
    gone = [finding for finding in damaged if finding.repair and finding.repair.damage not in left]
    entries = {finding.id: fingerprint(VERB, finding.id, now) for finding in gone}
    store.put(Batch(journal=[Entry(entries[finding.id], now, VERB, (), _about(finding)) for finding in gone]))
    return entries


def _about(finding: Finding) -> dict[str, Any]:
    final = finding.repair and finding.repair.final
    return {"kind": finding.kind, "reason": finding.reason, "fix": finding.fix} | ({FINAL: final} if final else {})


def check_kinds(kinds: Collection[str] | None) -> set[str]:
    """The kinds of findings to look for; None selects all of them."""
    unknown = sorted(set(kinds or ()) - set(AUDIT_KINDS))
    if unknown:
        raise InvalidInput(
            f"Unknown kinds of findings: {', '.join(unknown)}", remedy=f"Kinds are {', '.join(AUDIT_KINDS)}."
        )
    return set(AUDIT_KINDS if kinds is None else kinds)


def _apply(
    findings: Sequence[Finding], store: Store, embedder: StoreEmbedder | None, now: datetime, run: str | None
) -> dict[str, str]:
    """Apply fixes in one write; returns the journal entry of each finding that was fixed."""
    fresh = _fresh_vectors(findings, store, embedder, now)
    part_of = {} if run is None else {RUN: run}

    def plan(pending: PendingWrite) -> dict[str, str]:
        entries: dict[str, str] = {}
        for finding in findings:
            change = finding.repair and change_of(finding, finding.repair, pending, now, fresh)
            if change is not None:
                entry = entries[finding.id] = fingerprint(VERB, finding.id, now)
                pending.add(
                    batch_of(change, Entry(entry, now, VERB, finding.ids or (change.id,), _about(finding) | part_of))
                )
        return entries

    return write(store, plan)


def _fresh_vectors(
    findings: Sequence[Finding], store: Store, embedder: StoreEmbedder | None, now: datetime
) -> dict[str, Vectors]:
    """The vectors that the fixes need, by text; made before the write, so that nobody waits for the model."""
    texts = [text for finding in findings if finding.repair for text in texts_of(finding.repair, store, now)]
    if not texts or store.embedding is None:
        return {}
    if embedder is None:
        raise MissingService(
            "These fixes need new vectors, and there is no embedder", remedy="Open the memory with its embedder."
        )
    return embedder.of_texts(texts)
