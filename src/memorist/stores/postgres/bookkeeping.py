"""What is kept beside memories: usage, showings, noise, jobs, journal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from memorist.model import Usage
from memorist.ports import Batch, Entry, Job
from memorist.stores.index import micros
from memorist.stores.postgres.database import Database
from memorist.stores.postgres.reads import askable
from memorist.stores.rows import USAGE_COLUMNS, read_usage, usage_row

USAGE = f"""
    SELECT m.id, u.id, {", ".join(f"u.{name}" for name in USAGE_COLUMNS)} FROM memorist.memories AS m
    LEFT JOIN memorist.usage AS u ON u.space = m.space AND u.id = m.id
    WHERE m.space = %(space)s AND m.id = ANY(%(ids)s)
"""  # noqa: S608 - names of our own
PUT_USAGE = (
    f"INSERT INTO memorist.usage (space, id, {', '.join(USAGE_COLUMNS)}) "  # noqa: S608
    f"VALUES (%(space)s, %(id)s, {', '.join(f'%({name})s' for name in USAGE_COLUMNS)})"
)
FORGET_ENTRIES = (
    "DELETE FROM memorist.journal WHERE space = %(space)s AND row = ANY(%(rows)s)",
    "DELETE FROM memorist.journal_subjects WHERE space = %(space)s AND entry = ANY(%(rows)s)",
)
SHOWN_KEPT = timedelta(days=30)
"""How long a session's showings are kept."""


def put_usage(db: Database, usages: Mapping[str, Usage | None]) -> None:
    """Keep usages, each in place of what was counted before."""
    if usages:
        db.execute("DELETE FROM memorist.usage WHERE space = %(space)s AND id = ANY(%(ids)s)", ids=list(usages))
        rows = (usage_row(id, usage) for id, usage in usages.items())
        db.execute_many(PUT_USAGE, [dict(zip(("id", *USAGE_COLUMNS), row, strict=True)) for row in rows])


def count(db: Database, batch: Batch) -> None:
    """Give each memory there is the usage that a batch has for it, and add rewards to its history."""
    ids = [*batch.usage, *batch.rewards]
    _recount(db, ids, lambda id, usage: batch.usage.get(id, usage).rewarded(batch.rewards.get(id, ())))


def touch(db: Database, ids: Iterable[str], at: datetime) -> None:
    """Count a recall of each memory there is."""
    _recount(db, ids, lambda _, usage: usage.recalled(at))


def _recount(db: Database, ids: Iterable[str], changed: Callable[[str, Usage], Usage]) -> None:
    asked = askable(ids)
    if asked:
        known = db.execute(USAGE, ids=asked)
        put_usage(db, {id: changed(id, read_usage(usage) or Usage()) for id, *usage in known})


def put_jobs(db: Database, jobs: Sequence[Job], done: Sequence[tuple[str, str]]) -> None:
    """Add jobs, each in place of that task for that subject, and take out what is done."""
    added = {(job.task, job.subject): job for job in jobs}
    db.execute_many(
        "DELETE FROM memorist.jobs WHERE space = %(space)s AND task = %(task)s AND subject = %(subject)s",
        [{"task": task, "subject": subject} for task, subject in (*added, *done)],
    )
    db.execute_many(
        "INSERT INTO memorist.jobs VALUES (%(space)s, %(task)s, %(subject)s, %(due)s, %(attempts)s, %(error)s)",
        [_job_row(job) for key, job in added.items() if key not in set(done)],
    )


def _job_row(job: Job) -> dict[str, object]:
    return {
        "task": job.task,
        "subject": job.subject,
        "due": micros(job.due),
        "attempts": job.attempts,
        "error": job.error,
    }


def note(db: Database, entry: Entry, row: int) -> None:
    """Write a line of the journal with this number, or in the place of the one with its id."""
    values = {"id": entry.id, "at": micros(entry.at), "verb": entry.verb}
    data = json.dumps(dict(entry.data), ensure_ascii=False)
    known = db.first("SELECT row FROM memorist.journal WHERE space = %(space)s AND id = %(id)s", id=entry.id)
    if known is not None:
        (row,) = known
        _forget(db, [row])
    db.execute(
        "INSERT INTO memorist.journal VALUES (%(space)s, %(row)s, %(id)s, %(at)s, %(verb)s, %(data)s)",
        row=row, data=data, **values,
    )  # fmt: skip
    db.execute_many(
        "INSERT INTO memorist.journal_subjects VALUES (%(space)s, %(row)s, %(place)s, %(subject)s)",
        [{"row": row, "place": place, "subject": subject} for place, subject in enumerate(entry.subjects)],
    )


def forget_entries(db: Database, subjects: list[str]) -> None:
    """Take out the lines of the journal about any of these memories."""
    rows = db.execute(
        "SELECT DISTINCT entry FROM memorist.journal_subjects WHERE space = %(space)s AND subject = ANY(%(ids)s)",
        ids=subjects,
    )
    _forget(db, [row for (row,) in rows])


def _forget(db: Database, rows: list[int]) -> None:
    if rows:
        for statement in FORGET_ENTRIES:
            db.execute(statement, rows=rows)


def show(db: Database, session: str, ids: Iterable[str], at: datetime) -> None:
    """Note that a session was shown memories; what it was shown long ago leaves."""
    asked = list(dict.fromkeys(ids))
    db.execute(
        "DELETE FROM memorist.shown WHERE space = %(space)s "
        "AND (at < %(old)s OR (session = %(session)s AND id = ANY(%(ids)s)))",
        old=micros(at - SHOWN_KEPT), session=session, ids=asked,
    )  # fmt: skip
    db.execute_many(
        "INSERT INTO memorist.shown VALUES (%(space)s, %(session)s, %(id)s, %(at)s)",
        [{"session": session, "id": id, "at": micros(at)} for id in asked],
    )


def learn_noise(db: Database, texts: Sequence[str], keep: int, rows: Iterator[int]) -> None:
    """Add texts to the noise bank under the numbers drawn for them, and let the oldest go."""
    known = db.execute("SELECT row, text FROM memorist.noise WHERE space = %(space)s ORDER BY row")
    held = {text for _, text in known}
    fresh = [(next(rows), text) for text in dict.fromkeys(texts) if text not in held]
    gone = [row for row, _ in [*known, *fresh][: -keep or None]] if keep < len(known) + len(fresh) else []
    db.execute("DELETE FROM memorist.noise WHERE space = %(space)s AND row = ANY(%(rows)s)", rows=gone)
    db.execute_many(
        "INSERT INTO memorist.noise VALUES (%(space)s, %(row)s, %(text)s)",
        [{"row": row, "text": text} for row, text in fresh if row not in set(gone)],
    )
