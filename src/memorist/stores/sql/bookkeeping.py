"""The tables next to the memories: usage, showings, the noise bank, jobs and the journal."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from memorist.model import Usage
from memorist.ports import Batch, Entry
from memorist.stores.index import micros
from memorist.stores.rows import encodable, read_usage, usage_row
from memorist.stores.sql.database import Database, WriteStatements

SHOWN_KEPT = timedelta(days=30)
"""How long the showings of a session are kept."""


class Use(NamedTuple):
    """Memories that were recalled, or shown to a session, at a moment."""

    ids: Sequence[str]
    at: datetime
    session: str | None = None


def put_usages(db: Database, sql: WriteStatements, usages: Mapping[str, Usage | None]) -> None:
    """Replace the usages of memories."""
    db.execute_many(sql.put_usage, [usage_row(id, usage) for id, usage in usages.items()])


def count(db: Database, sql: WriteStatements, batch: Batch) -> None:
    """Set the usages of a batch and add its rewards, for memories that exist."""
    known = _usages(db, sql, (*batch.usage, *batch.rewards))
    counted = {id: batch.usage.get(id, usage).rewarded(batch.rewards.get(id, ())) for id, usage in known.items()}
    put_usages(db, sql, counted)


def count_uses(db: Database, sql: WriteStatements, uses: Sequence[Use]) -> None:
    """Count the recalls of each memory that exists, and note which were shown to sessions."""
    recalls: defaultdict[str, list[datetime]] = defaultdict(list)
    known = _usages(db, sql, (id for use in uses for id in use.ids))
    for use in uses:
        ids = [id for id in dict.fromkeys(use.ids) if id in known]
        if use.session is not None:
            _show(db, sql, use.session, ids, use.at)
        else:
            for id in ids:
                recalls[id].append(use.at)
    put_usages(db, sql, {id: known[id].recalled(*at) for id, at in recalls.items()})


def are_counted(db: Database, sql: WriteStatements, uses: Sequence[Use]) -> bool:
    """Whether uses that were counted together, or not at all, are counted: then usage has their last moments."""
    last = {id: use.at for use in uses if use.session is None for id in use.ids}
    known = _usages(db, sql, last)
    return any(last[id] in usage.recall_times for id, usage in known.items())


def _usages(db: Database, sql: WriteStatements, ids: Iterable[str]) -> dict[str, Usage]:
    """The usage of each memory that exists."""
    asked = encodable(ids)
    rows = db.execute(sql.usages, {"ids": asked}) if asked else ()
    return {row[0]: read_usage(row[1:]) or Usage() for row in rows}


def put_jobs(db: Database, sql: WriteStatements, batch: Batch) -> None:
    """Add or replace the jobs of a batch, and remove the finished ones."""
    added = {(job.task, job.subject): job for job in batch.jobs}
    finished = set(batch.done)
    db.execute_many(sql.drop_job, [{"task": task, "subject": subject} for task, subject in (*added, *batch.done)])
    rows = [
        {"task": job.task, "subject": job.subject, "due": micros(job.due), "attempts": job.attempts, "error": job.error}
        for key, job in added.items()
        if key not in finished
    ]
    db.execute_many(sql.insert_job, rows)


def note(db: Database, sql: WriteStatements, entry: Entry, draw: Callable[[], int]) -> None:
    """Write a journal entry; one with the same id keeps its row."""
    known = db.first(sql.entry_row, {"id": entry.id})
    if known is not None:
        _drop_entries(db, sql, [known[0]])
    row = draw() if known is None else known[0]
    data = json.dumps(dict(entry.data), ensure_ascii=False)
    values = {"row": row, "id": entry.id, "at": micros(entry.at), "verb": entry.verb, "data": data}
    db.execute(sql.insert_entry, values)
    subjects = [{"row": row, "place": place, "subject": subject} for place, subject in enumerate(entry.subjects)]
    db.execute_many(sql.insert_entry_subject, subjects)


def forget_entries(db: Database, sql: WriteStatements, subjects: list[str]) -> None:
    """Remove the journal entries about any of these memories."""
    _drop_entries(db, sql, [row for (row,) in db.execute(sql.entries_about, {"ids": subjects})])


def _drop_entries(db: Database, sql: WriteStatements, rows: list[int]) -> None:
    if rows:
        for statement in sql.drop_entries:
            db.execute(statement, {"rows": rows})


def _show(db: Database, sql: WriteStatements, session: str, ids: list[str], at: datetime) -> None:
    """Note that a session was shown memories, and forget old showings."""
    db.execute(sql.drop_shown, {"session": session, "ids": ids, "old": micros(at - SHOWN_KEPT)})
    db.execute_many(sql.insert_shown, [{"session": session, "id": id, "at": micros(at)} for id in ids])


def learn_noise(
    db: Database,
    sql: WriteStatements,
    known: Mapping[str, int],
    texts: Sequence[str],
    keep: int,
    draw: Callable[[], int],
) -> None:
    """Add texts to the noise bank, whose known texts are given with their rows, and drop the oldest."""
    every = [*known, *(text for text in dict.fromkeys(texts) if text not in known)]
    kept = every[-keep:] if keep else []
    dropped = known.keys() - set(kept)
    db.execute(sql.drop_noise, {"rows": [known[text] for text in dropped]})
    db.execute_many(sql.insert_noise, [{"row": draw(), "text": text} for text in kept if text not in known])
