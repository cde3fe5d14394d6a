"""What a server answers, as the values that an engine gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memorist.model import Evidence, Item, Memory, Reasoned, Recall, RecallRequest, Spent, Step, Touched, Trace, instant
from memorist.ports import Entry, Job, Page, Receipt, StoreStats
from memorist.recall.explain import Explanation
from memorist.serialize import memory_from_data

if TYPE_CHECKING:
    from memorist.remember.ingest import IngestReport
    from memorist.remember.sessions import Commit
    from memorist.upkeep.audit import Report
    from memorist.upkeep.consolidate import Consolidation
    from memorist.upkeep.tidy import Tidying


Data = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RemoteRecall(Recall):
    """A recall that a server made. Its trace tells times and counts; explanations came with it, by id."""

    explanations: Mapping[str, Explanation] = field(default_factory=dict[str, Explanation])


def memories(data: Data) -> list[Memory]:
    """Several memories."""
    return [memory_from_data(one) for one in data["items"]]


def page(data: Data) -> Page:
    """Part of a listing."""
    return Page(tuple(memories(data)), data["cursor"])


def receipt(data: Data) -> Receipt:
    """What was erased."""
    return Receipt(tuple(data["forgotten"]), instant(data["at"]), data.get("pending", False))


def recall(data: Data, request: RecallRequest) -> RemoteRecall:
    """An answer with its details."""
    return RemoteRecall(
        id=data["id"],
        query=data["query"],
        recipe=data["recipe"],
        now=instant(data["now"]),
        items=tuple(_item(one) for one in data["items"]),
        context=data["context"],
        tokens=data["tokens"],
        reasoned=Reasoned(**data["reasoned"]),
        touched=tuple(_touched(one) for one in data["touched"]),
        abstained=data["abstained"],
        confidence=data["confidence"],
        trace=_trace(data["trace"]),
        request=request,
        explanations={one["id"]: explanation(one["explanation"]) for one in data["items"]},
    )


def explanation(data: Data) -> Explanation:
    """An explanation, as a tree."""
    return Explanation(data["description"], data["value"], tuple(map(explanation, data["details"])))


def _item(data: Data) -> Item:
    return Item(
        memory_from_data(data["memory"]),
        data["score"],
        data["rank"],
        {name: Evidence(**one) for name, one in data["signals"].items()},
        data["phase"],
        data["hop"],
        tuple(data["notes"]),
    )


def _touched(data: Data) -> Touched:
    return Touched(**_with(data, memory=data["memory"] and memory_from_data(data["memory"])))


def _trace(data: Data) -> Trace:
    return Trace(
        steps=tuple(
            Step(one["stage"], one["ms"], (), one["before"], one["after"], one["skipped"]) for one in data["stages"]
        ),
        found={},
        total_ms=data["total_ms"],
        mode=data["mode"],
        tags=tuple(data["tags"]),
        candidate_count=data["candidate_count"],
        candidates_per_hop=tuple(data["candidates_per_hop"]),
        scores=data["scores"],
        phase_timings=data["phase_timings"],
        llm=data["llm"] and Spent(**data["llm"]),
    )


def stats(data: Data) -> StoreStats:
    """How much a space holds."""
    return StoreStats(**data)


def job(data: Data) -> Job:
    """Something left to do."""
    return Job(**_with(data, due=instant(data["due"])))


def entry(data: Data) -> Entry:
    """A line of the journal."""
    return Entry(data["id"], instant(data["at"]), data["verb"], tuple(data["subjects"]), data["data"])


def commit(data: Data) -> Commit:
    """How a session was learnt from."""
    from memorist.remember.sessions import Commit

    plain = {name: value for name, value in data.items() if name not in ("memories", "counts")}
    return Commit(**plain, memories=tuple(map(memory_from_data, data["memories"])))


def ingest_report(data: Data) -> IngestReport:
    """What became of what was ingested."""
    from memorist.remember.ingest import Cleaned, IngestReport, Skipped

    skipped, cleaned = _named(Skipped, data["skipped"]), _named(Cleaned, data["cleaned"])
    return IngestReport(**_with(data, skipped=skipped, cleaned=cleaned))


def _named(kind: type[Any], rows: Sequence[Data]) -> tuple[Any, ...]:
    return tuple(kind(**row) for row in rows)


def report(data: Data) -> Report:
    """What an audit found; how a finding would be mended is known to the server alone."""
    from memorist.upkeep.audit import Finding, Report

    findings = tuple(
        Finding(one["kind"], tuple(one["ids"]), one["reason"], one["severity"]) for one in data["findings"]
    )
    fixed = {one["id"]: one["fixed"] for one in data["findings"] if one["fixed"] is not None}
    return Report(instant(data["at"]), data["checked"], findings, fixed)


def tidying(data: Data) -> Tidying:
    """What there is to tidy, or was tidied; memories before and after are known to the server alone."""
    from memorist.upkeep.change import Change
    from memorist.upkeep.tidy import Tidying

    changes = tuple(Change(one["rule"], one["id"], one["reason"]) for one in data["changes"])
    return Tidying(instant(data["at"]), changes, data["run"])


def consolidation(data: Data) -> Consolidation:
    """Notes that were written."""
    from memorist.upkeep.consolidate import Consolidation
    from memorist.upkeep.consolidate.notes import WrittenNote

    written = tuple(WrittenNote(**one) for one in data["written"])
    return Consolidation(instant(data["at"]), written, data["unchanged"], tuple(data["dropped"]))


def _with(data: Data, **read: Any) -> dict[str, Any]:
    return {**data, **read}
