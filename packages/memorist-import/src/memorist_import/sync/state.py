"""What a replica knows about a shared folder: its own name, the files it read, and the stamp of every record.

It is kept in the journal of the store, so that a backup or a copy of the database holds the state that fits its
memories. A record that was here at the last sync and is not here now was therefore forgotten, not lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

from memorist.errors import StoreBusy
from memorist.model import MOST_CLASSIFIED, Memory, fingerprint, mark_name
from memorist.ports import Batch, Entry, Reader, Store
from memorist.remember.journal import EVERY_ENTRY, SYNC
from memorist_import.sync.folder import ChangeFile
from memorist_import.sync.records import Stamp


@dataclass(frozen=True, slots=True)
class Shared:
    """Which memories pass, in either direction: those of these scopes (all if empty) up to a classification."""

    scopes: tuple[str, ...] = ()
    classification: int = 1

    def holds(self, scope: str, classification: int) -> bool:
        """Whether a scope and a classification pass."""
        return classification <= self.classification and (not self.scopes or scope in self.scopes)

    def admits(self, memory: Memory) -> bool:
        """Whether a memory passes."""
        return self.holds(memory.scope, memory.worth.classification)


@dataclass(frozen=True, slots=True)
class RecordStamp:
    """The stamp of a record, and the digest of it as it is held here; empty if it is not held."""

    stamp: Stamp
    digest: str


@dataclass(slots=True)
class State:
    """What is known about one folder."""

    name: str
    """Names the state; unlike the replica, it never changes."""
    replica: str
    path: str
    shared: Shared
    number: int = 0
    """The number of the last file written."""
    own: set[ChangeFile] = field(default_factory=set[ChangeFile])
    """The files of this replica."""
    pending: set[ChangeFile] = field(default_factory=set[ChangeFile])
    """Files that were about to be put in place, or removed."""
    read: set[ChangeFile] = field(default_factory=set[ChangeFile])
    """The files of others that were read."""
    generation: int = -1
    """The content counter of the store when everything in it was known."""
    revision: int = 0
    records: dict[str, RecordStamp] = field(default_factory=dict[str, RecordStamp])
    saved: dict[str, str] = field(default_factory=dict[str, str])
    """A digest of each bucket as it is stored."""


def new_replica() -> str:
    """A name that no other replica has."""
    return token_hex(8)


def load(store: Store, folder: Path, files: Iterable[ChangeFile], shared: Shared | None) -> State:
    """The state of a folder: of the replica that has files there, else of the same path, else a new one."""
    entries = {entry.id: entry for entry in store.journal(SYNC, limit=EVERY_ENTRY)}
    heads = [entry for entry in entries.values() if "replica" in entry.data]
    writers = {file.replica for file in files}
    known = [entry for entry in heads if entry.data["replica"] in writers] or [
        entry for entry in heads if entry.data["path"] == str(folder)
    ]
    if not known:
        return State(token_hex(8), new_replica(), str(folder), shared or Shared())
    data = known[0].data
    state = State(data["name"], data["replica"], str(folder), shared or Shared(*_shared(data["shared"])))
    state.number, state.generation, state.revision = data["number"], data["generation"], data["revision"]
    state.own, state.pending, state.read = (_files(data[name]) for name in ("own", "pending", "read"))
    for entry in entries.values():
        if entry.data.get("of") == state.name:
            records = entry.data["records"]
            state.saved[entry.data["bucket"]] = fingerprint(records)
            for key, (life, gone, version, at, by, digest) in records.items():
                state.records[key] = RecordStamp(Stamp(life, gone, version, at, by), digest)
    if shared is not None and shared != Shared(*_shared(data["shared"])):
        state.generation = -1
    return state


def save(store: Store, state: State, now: datetime, reason: str) -> None:
    """Keep a state, unless another process has kept one since it was loaded."""
    buckets = dict[str, dict[str, Any]]()
    for key in sorted(state.records):
        known = state.records[key]
        buckets.setdefault(_bucket(key), {})[key] = [*known.stamp, known.digest]
    digests = {bucket: fingerprint(records) for bucket, records in buckets.items()}
    entries = [
        Entry(
            mark_name(f"{SYNC}/{state.name}/{bucket}", MOST_CLASSIFIED),
            now,
            SYNC,
            data={"of": state.name, "bucket": bucket, "records": records},
        )
        for bucket, records in buckets.items()
        if state.saved.get(bucket) != digests[bucket]
    ]
    before, state.revision = state.revision, state.revision + 1
    head = Entry(mark_name(f"{SYNC}/{state.name}", MOST_CLASSIFIED), now, SYNC, data={**_head(state), "reason": reason})

    def plan(reader: Reader) -> Batch:
        heads = [entry.data for entry in reader.journal(SYNC, limit=EVERY_ENTRY) if "replica" in entry.data]
        known = [data["revision"] for data in heads if data["name"] == state.name]
        if known != [before] and (before or any(data["path"] == state.path for data in heads)):
            raise StoreBusy("Another process has synced this memory meanwhile", remedy="Sync it again.")
        return Batch(journal=[*entries, head])

    store.update(plan)
    state.saved = digests


def _head(state: State) -> dict[str, Any]:
    return {
        "name": state.name,
        "replica": state.replica,
        "path": state.path,
        "shared": [list(state.shared.scopes), state.shared.classification],
        "number": state.number,
        "own": sorted(state.own),
        "pending": sorted(state.pending),
        "read": sorted(state.read),
        "generation": state.generation,
        "revision": state.revision,
    }


def _shared(data: Sequence[Any]) -> tuple[tuple[str, ...], int]:
    scopes, classification = data
    return tuple(scopes), classification


def _files(data: Iterable[Sequence[Any]]) -> set[ChangeFile]:
    return {ChangeFile(*parts) for parts in data}


def _bucket(key: str) -> str:
    """One of sixteen entries that hold the records: a small change need not write all of them again."""
    return fingerprint(key)[0]
