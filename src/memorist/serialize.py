"""The JSON form of every value the verbs return, and memories read back from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memorist.errors import Error, InvalidInput
from memorist.model import (
    Fact,
    Item,
    Kind,
    Memory,
    Mention,
    Origin,
    Recall,
    Step,
    Tier,
    Times,
    Trace,
    Usage,
    Worth,
    instant,
    isoformat,
)
from memorist.ports import Entry, Job, Page, Receipt, StoreStats

if TYPE_CHECKING:
    from memorist.recall.explain import Absence, Explanation
    from memorist.remember.ingest import IngestReport
    from memorist.remember.sessions import Commit, Session


def memory_to_data(memory: Memory) -> dict[str, Any]:
    """A memory with every field, flat."""
    times, worth, origin, usage = memory.times, memory.worth, memory.origin, memory.usage
    return {
        "id": memory.id,
        "text": memory.text,
        "original": memory.original,
        "keywords": list(memory.keywords),
        "kind": str(memory.kind),
        "scope": memory.scope,
        "topic": memory.topic,
        "tier": str(memory.tier),
        "valid_from": isoformat(times.valid_from),
        "valid_to": _moment(times.valid_to),
        "ingested_at": isoformat(times.ingested_at),
        "expired_at": _moment(times.expired_at),
        "expires_at": _moment(times.expires_at),
        "retracted_at": _moment(times.retracted_at),
        "importance": worth.importance,
        "confidence": worth.confidence,
        "salience": worth.salience,
        "trust": worth.trust,
        "credibility": worth.credibility,
        "classification": worth.classification,
        "emotion": worth.emotion,
        "emotion_tags": list(worth.emotion_tags),
        "flags": list(worth.flags),
        "relevance": worth.relevance,
        "usage": None if usage is None else _usage(usage),
        "source": origin.source,
        "session": origin.session,
        "position": origin.position,
        "speaker": origin.speaker,
        "key": origin.key,
        "mentions": [
            {"text": one.text, "start": isoformat(one.start), "end": isoformat(one.end)} for one in memory.mentions
        ],
        "fact": _fact(memory),
        "metadata": dict(memory.metadata),
        "version": memory.version,
        "version_of": memory.version_of,
        "superseded_by": memory.superseded_by,
    }


ITEM_FIELDS = (
    "text",
    "kind",
    "scope",
    "tier",
    "importance",
    "confidence",
    "topic",
    "emotion_tags",
    "flags",
    "speaker",
    "session",
    "fact",
    "valid_from",
    "valid_to",
    "ingested_at",
    "source",
)


def item_to_data(item: Item) -> dict[str, Any]:
    """An item of a recall."""
    memory = memory_to_data(item.memory)
    return {
        "id": item.memory.id,
        "rank": item.rank,
        "score": item.score,
        **{name: memory[name] for name in ITEM_FIELDS},
        "signals": {
            name: {"rank": one.rank, "score": one.score, "norm": one.norm} for name, one in item.signals.items()
        },
        "phase": item.phase,
        "hop": item.hop,
        "notes": list(item.notes),
    }


def recall_to_data(recall: Recall) -> dict[str, Any]:
    """A recall, as `recall --json` prints it."""
    return {
        "id": recall.id,
        "query": recall.query,
        "recipe": recall.recipe,
        "now": isoformat(recall.now),
        "abstained": recall.abstained,
        "confidence": recall.confidence,
        "tokens": recall.tokens,
        "context": recall.context,
        "reasoned": {
            "episodic": recall.reasoned.episodic,
            "semantic": recall.reasoned.semantic,
            "procedural": recall.reasoned.procedural,
        },
        "items": [item_to_data(item) for item in recall.items],
        "touched": [
            {
                "id": one.id,
                "kind": one.kind,
                "score": one.score,
                "phase": one.phase,
                "hop": one.hop,
                "memory": memory_to_data(one.memory) if one.memory else None,
            }
            for one in recall.touched
        ],
        "trace": trace_to_data(recall.trace),
    }


def trace_to_data(trace: Trace) -> dict[str, Any]:
    """The trace of a recall."""
    return {
        "stages": [_step(step) for step in trace.steps],
        "total_ms": round(trace.total_ms, 3),
        "mode": trace.mode,
        "tags": list(trace.tags),
        "candidate_count": trace.candidate_count,
        "candidates_per_hop": list(trace.candidates_per_hop),
        "scores": dict(trace.scores),
        "phase_timings": {phase: round(ms, 3) for phase, ms in trace.phase_timings.items()},
        "llm": trace.llm and asdict(trace.llm),
    }


def page_to_data(page: Page) -> dict[str, Any]:
    """Part of a listing."""
    return {"items": [memory_to_data(memory) for memory in page.items], "cursor": page.cursor}


def receipt_to_data(receipt: Receipt) -> dict[str, Any]:
    """What was erased."""
    return {"forgotten": list(receipt.forgotten), "at": isoformat(receipt.at), "pending": receipt.pending}


def report_to_data(report: IngestReport) -> dict[str, Any]:
    """What became of what was ingested."""
    return asdict(report)


def stats_to_data(stats: StoreStats) -> dict[str, Any]:
    """How much a space holds."""
    return asdict(stats) | {"kinds": dict(stats.kinds), "scopes": dict(stats.scopes)}


def explanation_to_data(explanation: Explanation) -> dict[str, Any]:
    """An explanation as a tree."""
    return {
        "description": explanation.description,
        "value": explanation.value,
        "details": [explanation_to_data(detail) for detail in explanation.details],
    }


def session_to_data(session: Session) -> dict[str, Any]:
    """A session that is open."""
    return {"id": session.id, "goal": session.goal}


def commit_to_data(commit: Commit) -> dict[str, Any]:
    """How a session was learnt from."""
    return {
        "session": commit.session,
        "state": commit.state,
        "steps": commit.steps,
        "trajectories": commit.trajectories,
        "by": commit.by,
        "memories": [memory_to_data(memory) for memory in commit.memories],
        "counts": dict(commit.counts),
        "error": commit.error,
        "note": commit.note,
    }


def job_to_data(job: Job) -> dict[str, Any]:
    """Something left to do."""
    return asdict(job) | {"due": isoformat(job.due)}


def entry_to_data(entry: Entry) -> dict[str, Any]:
    """A line of the journal."""
    subjects, data = list(entry.subjects), dict(entry.data)
    return {"id": entry.id, "at": isoformat(entry.at), "verb": entry.verb, "subjects": subjects, "data": data}


def absence_to_data(absence: Absence) -> dict[str, Any]:
    """Why a memory is not in an answer."""
    return asdict(absence)


def error_name(error: type[Error]) -> str:
    """What an error is called where it is told as data, such as not-found."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", error.__name__).lower()


def _step(step: Step) -> dict[str, Any]:
    return {
        "stage": step.stage,
        "ms": round(step.ms, 3),
        "before": step.before,
        "after": step.after,
        "skipped": "; ".join(filter(None, (step.skipped, *step.notes))) or None,
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "recalls": usage.recalls,
        "last_recall": _moment(usage.last_recall),
        "recall_times": [isoformat(time) for time in usage.recall_times],
        "reward_count": usage.reward_count,
        "reward_total": usage.reward_total,
    }


def _fact(memory: Memory) -> dict[str, str] | None:
    fact = memory.fact
    return fact and {"subject": fact.subject, "relation": fact.relation, "object": fact.object}


def _moment(moment: datetime | None) -> str | None:
    return isoformat(moment) if moment else None


TIMES = ("valid_from", "ingested_at", "valid_to", "expired_at", "expires_at", "retracted_at")
NUMBERS = ("importance", "confidence", "salience", "trust", "credibility", "classification", "emotion", "relevance")
ORIGIN = ("source", "session", "position", "speaker", "key")
PLAIN = ("id", "text", "scope", "topic", "original", "version", "version_of", "superseded_by")
LISTS = ("keywords", "emotion_tags", "flags")
REQUIRED = ("id", "text", "valid_from", "ingested_at")
FIELDS = {*TIMES, *NUMBERS, *ORIGIN, *PLAIN, *LISTS, "kind", "tier", "usage", "mentions", "fact", "metadata"}


def memory_from_data(data: Mapping[str, Any]) -> Memory:
    """A memory from every field that is given; what is left out has its default, what is unknown is refused."""
    if absent := [name for name in REQUIRED if data.get(name) is None]:
        raise InvalidInput(f"A memory has no {' and no '.join(absent)}", remedy="Give all that it was exported with.")
    if any(not isinstance(data[name], str) for name in ("id", "text")):
        raise InvalidInput("A memory's id or text is not a text", remedy="Give all that it was exported with.")
    if unknown := sorted(data.keys() - FIELDS):
        raise InvalidInput(
            f"A memory has fields of another version: {', '.join(unknown)}", remedy="Upgrade Memorist to read it."
        )
    try:
        return _memory(data)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"A memory has a field of the wrong form ({error})", remedy="Export it again.") from error


def _memory(data: Mapping[str, Any]) -> Memory:
    fact: Mapping[str, str] | None = data.get("fact")
    plain = {name: data[name] for name in PLAIN if name in data}
    numbers = {name: data[name] for name in NUMBERS if name in data}
    lists: dict[str, Any] = {name: tuple(data.get(name, ())) for name in LISTS}
    return Memory(
        **plain,
        times=Times(**{name: _read_moment(data.get(name)) for name in TIMES}),  # pyright: ignore[reportArgumentType]  # two are required above
        kind=Kind(data.get("kind", Kind.EPISODIC)),
        tier=Tier(data.get("tier", Tier.WORKING)),
        keywords=lists.pop("keywords"),
        worth=Worth(**numbers, **lists),
        usage=_read_usage(data.get("usage", {})),
        origin=Origin(**{name: data.get(name) for name in ORIGIN}),
        mentions=tuple(
            Mention(one["text"], instant(one["start"]), instant(one["end"])) for one in data.get("mentions", ())
        ),
        fact=None if fact is None else Fact(fact["subject"], fact["relation"], fact["object"]),
        metadata=dict(data.get("metadata", {})),
    )


def _read_usage(data: Mapping[str, Any] | None) -> Usage | None:
    if data is None:
        return None
    return Usage(
        recalls=data.get("recalls", 0),
        last_recall=_read_moment(data.get("last_recall")),
        recall_times=tuple(map(instant, data.get("recall_times", ()))),
        reward_count=data.get("reward_count", 0),
        reward_total=data.get("reward_total", 0.0),
    )


def _read_moment(text: str | None) -> datetime | None:
    return None if text is None else instant(text)
