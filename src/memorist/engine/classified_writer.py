"""Everything that writes within one classification.

A write meets only rows of its own classification. So it cannot replace, end, repeat or tell of a row that is more
secret, and what is secret leaves no trace in a row that is less so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memorist.asking import Askers
from memorist.errors import InvalidInput
from memorist.model import AGENT_TRUST, INSTRUCTIONS, USUAL_CLASSIFICATION, Fields, Memory, Outcome, Remembered, Tier
from memorist.model.arguments import check_argument
from memorist.models.store_embedder import StoreEmbedder
from memorist.ports import Clock, Job, Store
from memorist.ports.notices import Notices
from memorist.remember.policy import Policy
from memorist.stores.classified import ClassifiedStore

if TYPE_CHECKING:
    from memorist.remember.entities import Find
    from memorist.remember.gates import Gates
    from memorist.remember.llm_facts import FactReader
    from memorist.remember.sessions import Sessions
    from memorist.remember.writer import Writer, Written
    from memorist.upkeep.consolidate import Notebook

BATCH = 256
"""Memories per transaction of `remember_many`."""


@dataclass(frozen=True)
class WriteServices:
    """What the writers of all classifications share."""

    store: Store
    embedder: StoreEmbedder | None
    policy: Policy
    extract: bool
    tags: bool
    find: Find | None
    clock: Clock
    askers: Askers
    notices: Notices
    idle: timedelta | None
    notes: Path | None
    on_new_job: Callable[[], None]
    overwrite: Callable[[], bool]

    def label(self, text: str) -> str:
        """A name that is stored beside memories, as the gates leave it; they are loaded only if it holds a secret."""
        from memorist.text.secrets import secrets_in

        return self.gates.text(text) if secrets_in(text) else text

    @cached_property
    def gates(self) -> Gates:
        """What every text passes on its way in."""
        from memorist.remember.gates import Gates

        return Gates(self.policy, self.clock)


class ClassifiedWriter:
    """Writes memories, sessions and notes of one classification. Thread-safe.

    Each part is imported and made when it is first used: a process that only recalls needs none.
    """

    def __init__(self, classification: int, services: WriteServices) -> None:
        self.classification = classification
        self.store = ClassifiedStore(services.store, classification, classification, alone=True)
        self.embedder = services.embedder and services.embedder.within(self.store)
        self._services = services

    @cached_property
    def writer(self) -> Writer:
        """Writes its memories and facts."""
        from memorist.remember.entities import names
        from memorist.remember.writer import Writer

        services = self._services
        return Writer(
            self.store,
            self.embedder,
            services.gates,
            extract=services.extract,
            tags=services.tags,
            find=services.find or names,
            follow_up_jobs=self._follow_up_jobs,
        )

    @cached_property
    def fact_reader(self) -> FactReader:
        """Has a language model read facts in new memories."""
        from memorist.remember.llm_facts import FactReader

        return FactReader(self.store, self._services.clock, self._services.askers)

    @cached_property
    def sessions(self) -> Sessions:
        """The sessions of this classification."""
        from memorist.remember.sessions import IDLE, Sessions

        services = self._services
        return Sessions(
            self.store,
            self.writer,
            services.clock,
            askers=services.askers,
            notices=services.notices,
            idle=IDLE if services.idle is None else services.idle,
            on_new_job=services.on_new_job,
            cut_notes=self._cut_notes,
            overwrite=services.overwrite,
            classification=self.classification,
        )

    @cached_property
    def notebook(self) -> Notebook:
        """The notes of this classification; its files are in a folder of their own unless it is the usual one."""
        from memorist.upkeep.consolidate import Notebook

        return Notebook(self.store, self._notes, self._services.askers, self.writer, self.classification)

    def _cut_notes(self, ids: Collection[str], now: datetime) -> Collection[str]:
        return self.notebook.forget(ids, now)

    @property
    def _notes(self) -> Path | None:
        folder = self._services.notes
        if folder is None or self.classification == USUAL_CLASSIFICATION:
            return folder
        return folder / f"classification-{self.classification}"

    def read_notes(self, now: datetime, most: int) -> None:
        """Take over what the user changed in the files of notes, in at most `most` of them."""
        if self._notes is not None and self._notes.is_dir():
            self.notebook.read(now, most=most)

    def commit(self, job: Job) -> None:
        """Commit the session of a job."""
        self.sessions.work(job)

    def read_facts(self, job: Job) -> None:
        """Have the memories of a job read, unless texts are no longer read for facts."""
        if self._services.extract:
            self.fact_reader.work(job, self.writer)

    def pinned_too(self, given: Memory, kept: Remembered) -> Remembered:
        """The memory that answers for a text; if the text was known and is to be pinned now, it is.

        Not if the known one is untrusted or reads like instructions: whoever repeats it may not have read that.
        """
        unread = kept.worth.trust < AGENT_TRUST or INSTRUCTIONS in kept.worth.flags
        if given.tier is not Tier.PINNED or kept.outcome is not Outcome.KNOWN or kept.tier is Tier.PINNED or unread:
            return kept
        from memorist.upkeep.feedback import pin

        return Remembered.of(pin(self.store, kept.id, self._services.clock.now()), kept.outcome, kept.gates)

    def _follow_up_jobs(self, memories: Sequence[Memory]) -> Sequence[Job]:
        reads = self._services.extract and self._services.askers.models
        return self.fact_reader.follow_up_jobs(memories) if reads else ()


def keep(memories: Sequence[Memory], writer_for: Callable[[int], ClassifiedWriter]) -> Written:
    """Keep memories, each by the writer of its classification; all of them are checked before one is written."""
    from memorist.remember.writer import Written

    groups: dict[int, list[Memory]] = {}
    for memory in memories:
        groups.setdefault(memory.worth.classification, []).append(memory)
    writers = {classification: writer_for(classification).writer for classification in groups}
    checked = {each: writers[each].check(some) for each, some in groups.items()}
    done = {each: writers[each].keep(some, checked[each]) for each, some in groups.items()}
    answers = {each: iter(one.memories) for each, one in done.items()}
    kept = [
        writer_for(memory.worth.classification).pinned_too(memory, next(answers[memory.worth.classification]))
        for memory in memories
    ]
    new = frozenset(id for written in done.values() for id in written.new)
    return Written(kept, new, any(written.has_jobs for written in done.values()))


_MEMORIES = Iterable[str | Mapping[str, Any]]


def record_entry(given: str | Mapping[str, Any], now: datetime) -> Memory:
    """The memory that an entry of `remember_many` describes."""
    from memorist.remember.record import record

    if not _is_plain(given):
        check_argument("memories", [given], _MEMORIES)
    fields = {"text": given} if isinstance(given, str) else dict(given)
    if "text" not in fields:
        raise InvalidInput("A memory has no text", remedy="Give each one as a string or with a 'text' key.")
    return record(fields.pop("text"), now, **cast("Fields", fields))


def _is_plain(given: object) -> bool:
    """Whether an entry is a dictionary with strings as keys, which surely fits."""
    return type(given) is dict and set(map(type, cast("dict[str, Any]", given))) <= {str}


def batches(memories: Iterable[Memory]) -> Iterator[list[Memory]]:
    """Batches in which no id occurs twice: two versions of one memory need two writes."""
    batch: dict[str, Memory] = {}
    for memory in memories:
        if len(batch) == BATCH or memory.id in batch:
            yield list(batch.values())
            batch = {}
        batch[memory.id] = memory
    if batch:
        yield list(batch.values())
