"""Sync: read what others changed, write it here, and leave what was changed here for the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memorist.errors import InvalidInput
from memorist.ports import Batch
from memorist.remember.forgetting import refuse_damaged
from memorist.remember.journal import SYNC
from memorist.results.moving import ExportHeader
from memorist_import.sync.choice import Arrived, local_changes, orphans, read_arrivals
from memorist_import.sync.folder import ChangeFile, SharedFolder, Unreadable, UnreadLine, UnreadReport
from memorist_import.sync.holdings import Holdings, changes, holdings
from memorist_import.sync.merge import Merge, MergeServices
from memorist_import.sync.records import Gone, Stamp
from memorist_import.sync.state import RecordStamp, Shared, State, load, new_replica, save

MOST_FILES = 32
"""Files of one replica; when there are more, it writes them as one."""
KINDS = {"memory": "memories", "claim": "facts", "mark": "marks"}
"""The kinds of records by their keys, as they are counted: a claim is counted as a fact."""


@dataclass(frozen=True, slots=True)
class Moves:
    """How many records of each kind moved in one direction."""

    memories: int = 0
    facts: int = 0
    marks: int = 0
    forgotten: int = 0

    def __bool__(self) -> bool:
        return bool(self.memories or self.facts or self.marks or self.forgotten)


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync moved, or would move if it is a dry run."""

    folder: Path
    replica: str
    came: Moves
    went: Moves
    refused: int = 0
    """Records of others that the gates or the limits kept out."""
    skipped: tuple[UnreadLine, ...] = ()
    """Files and lines that could not be read."""
    renewed: bool = False
    """Whether the replica took a new name, because its old one is in use elsewhere or its database was restored."""
    dry_run: bool = False


def sync_folder(
    folder: Path, services: MergeServices, shared: Shared | None, dry_run: bool, retire: str | None
) -> Synced:
    """Bring a store and a folder together; if it is cut off, the next run completes it."""
    run = _Run(SharedFolder(folder), services, shared)
    return run.dry() if dry_run else run.run(retire)


@dataclass(slots=True)
class _Run:
    folder: SharedFolder
    services: MergeServices
    shared: Shared | None
    state: State = field(init=False)
    files: list[ChangeFile] = field(init=False)
    former: str | None = None
    """The name that this replica had until now, if it takes a new one."""
    rewrite: bool = False
    """Whether all files of this replica are to be written again."""
    forgot: bool = False
    """Whether something was forgotten, here or elsewhere, since the last sync."""

    def __post_init__(self) -> None:
        self.files = self.folder.files()
        self.state = load(self.services.store, self.folder.path, self.files, self.shared)
        self._look_at_own_files()

    def _look_at_own_files(self) -> None:
        """Find out whether the files of this replica are those it wrote.

        A file that this database does not know was written by a copy of it, or before it was restored from a backup:
        two writers under one name would hide changes from each other, so this one takes a new name.
        """
        state = self.state
        there = {file for file in self.files if file.replica == state.replica}
        if there - state.own - state.pending:
            self.former = state.replica
            state.replica, state.number, state.own = new_replica(), 0, set()
        else:
            self.rewrite = bool(state.pending) or there != state.own
            state.own = there
        state.pending = set()

    def _arrived(self) -> Arrived:
        others = [file for file in self.files if file.replica != self.state.replica and file not in self.state.read]
        return read_arrivals(self.folder, others)

    def _unchanged(self, new: Arrived) -> bool:
        still = not (new.read or self.rewrite or self.former)
        return still and self.services.store.stats().generation == self.state.generation

    def dry(self) -> Synced:
        """What would move."""
        new = self._arrived()
        if self._unchanged(new):
            return self._report(Moves(), Moves(), new, 0, dry_run=True)
        here = holdings(self.services.store, self.state.shared)
        changed = local_changes(here, self.state, new.records)
        came = [
            key for key, remote in new.records.items() if remote.beats(changed.get(key) or self.state.records.get(key))
        ]
        held = {key: "" if key not in here.records else here.records[key].digest for key in came}
        fresh = {key: new.records[key].stamp for key in came if held[key] != new.records[key].digest}
        went = {key: record.stamp for key, record in changed.items() if key not in fresh}
        return self._report(_moves(fresh), _moves(went), new, 0, dry_run=True)

    def run(self, retire: str | None) -> Synced:
        """Do it."""
        new = self._arrived()
        if retire is None and self._unchanged(new):
            return self._report(Moves(), Moves(), new, 0)
        refuse_damaged(self.services.store)
        leaving = [] if retire is None else self._leaving(retire, new)
        came, went, refused, here = self._merge(holdings(self.services.store, self.state.shared), new)
        inherited = {name for name in (self.former, retire) if name is not None}
        went |= self._inherited(inherited, new if retire is None else Arrived()) if inherited else {}
        self._publish(here, went, came, leaving)
        return self._report(_moves(came), _moves(went), new, refused)

    def _merge(self, here: Holdings, new: Arrived) -> tuple[dict[str, Stamp], dict[str, Stamp], int, Holdings]:
        """Write what arrived; returns what came, what is to go, how many were refused, and what is held now."""
        state = self.state
        for key in here.private & state.records.keys():
            known = state.records[key]
            self.rewrite |= known.stamp.by == state.replica and bool(known.digest)  # it is shared no longer
            state.records[key] = RecordStamp(known.stamp, "")
        known, went = dict(state.records), local_changes(here, state, new.records)
        state.records |= went
        for key in orphans(new.records, state):
            went[key] = state.records[key] = RecordStamp(
                Stamp(new.records[key].stamp.life, True, 0, 0, state.replica), ""
            )
        winners = {key: remote for key, remote in new.records.items() if remote.beats(state.records.get(key))}
        held = {key: here.records[key].digest if key in here.records else "" for key in winners}
        fresh = {key: remote for key, remote in winners.items() if held[key] != remote.digest}
        merge = Merge(self.services, state.shared, here)
        if fresh:
            merge.write(self.folder, fresh, [key for key in fresh if _is_reborn(fresh[key].stamp, known.get(key))])
        lost = fresh.keys() - merge.reached
        winners = {key: remote for key, remote in winners.items() if key not in lost}
        after = holdings(self.services.store, state.shared) if fresh else here
        if after.unlinked or after.outdated:
            self.services.store.put(Batch(links=after.unlinked, unlinked=after.outdated))
        for key, remote in winners.items():
            here_now = after.records[key].digest if key in after.records else ""
            state.records[key] = RecordStamp(remote.stamp, here_now if key in merge.altered else remote.digest)
        follow = local_changes(after, state, {})
        state.records |= follow
        changed = [*winners.items(), *went.items(), *follow.items()]
        self.forgot = any(record.stamp.gone or _is_reborn(record.stamp, known.get(key)) for key, record in changed)
        own = {key: record.stamp for key, record in {**went, **follow}.items() if state.records[key] == record}
        unread = {fresh[key].file for key in lost}  # the next sync reads them, or what has replaced them
        state.read = (state.read | set(new.read)) & set(self.files) - unread
        return {key: remote.stamp for key, remote in fresh.items() if key not in lost}, own, merge.refused, after

    def _leaving(self, replica: str, new: Arrived) -> list[ChangeFile]:
        """The files of a replica that will not come back, if all of them could be read."""
        files = [file for file in self.files if file.replica == replica]
        if replica == self.state.replica or not files:
            raise InvalidInput(f"{replica!r} is no other replica of this folder", remedy="Give the name in its files.")
        if unread := [file.name for file in files if file not in self.state.read and file not in new.read]:
            raise InvalidInput(f"{unread[0]} cannot be read", remedy="Sync when it is complete, then retire it.")
        return files

    def _inherited(self, names: set[str], new: Arrived) -> dict[str, Stamp]:
        """The records that were written under other names and are in no file that stays; from now on they are ours."""
        own: dict[str, Stamp] = {}
        for key, known in self.state.records.items():
            there = new.records.get(key)
            if known.stamp.by in names and (there is None or there.stamp != known.stamp):
                own[key] = known.stamp._replace(by=self.state.replica)
        self.state.records |= {key: RecordStamp(stamp, self.state.records[key].digest) for key, stamp in own.items()}
        return own

    def _publish(
        self, here: Holdings, went: Mapping[str, Stamp], came: Mapping[str, Stamp], leaving: Sequence[ChangeFile]
    ) -> None:
        """Leave changes for the others, and remove what was forgotten from the files of this replica."""
        state, store = self.state, self.services.store
        keys, outdated = dict.fromkeys(went), set[ChangeFile]()
        if self.rewrite or len(state.own) >= MOST_FILES:
            keys |= self._own_keys()
            outdated = set(state.own)
        elif self.forgot:
            outdated, kept = self._with_forgotten()
            keys |= kept
        sent = sorted(key for key in keys if state.records[key].digest or state.records[key].stamp.gone)
        head = ExportHeader(SYNC, here.stats.embedding, here.stats.dimension)
        state.generation = here.stats.generation
        if not (sent or outdated or leaving):
            save(store, state, self.services.now, self._reason(went, came))
            return
        with self.folder.writing(state.replica, state.number + 1, head, changes(store, sent, state, here)) as written:
            state.pending = {file for _, file in written}
            state.number += len(written)
            save(store, state, self.services.now, self._reason(went, came))
            self.folder.place(written)
        self.folder.remove([*outdated, *leaving])
        state.own, state.pending = state.own - outdated | state.pending, set()
        state.read -= set(leaving)
        save(store, state, self.services.now, self._reason(went, came))

    def _with_forgotten(self) -> tuple[set[ChangeFile], dict[str, None]]:
        """The files of this replica that hold a text which was forgotten, and what else in them has to stay."""
        outdated, kept = set[ChangeFile](), dict[str, None]()
        records = self.state.records
        for file in sorted(self.state.own):
            try:
                lines = [
                    (line.change, line.stamp)
                    for line in self.folder.read(file, UnreadReport())
                    if line.change.key in records
                ]
            except Unreadable:  # somebody has changed it
                return set(self.state.own), self._own_keys()
            texts = [(records[change.key].stamp, stamp) for change, stamp in lines if not isinstance(change, Gone)]
            if any(now.gone or now.life > then.life for now, then in texts):
                outdated.add(file)
                kept |= dict.fromkeys(change.key for change, stamp in lines if records[change.key].stamp == stamp)
        return outdated, kept

    def _own_keys(self) -> dict[str, None]:
        """The keys of everything that this replica wrote."""
        return dict.fromkeys(key for key, record in self.state.records.items() if record.stamp.by == self.state.replica)

    def _reason(self, went: Mapping[str, Stamp], came: Mapping[str, Stamp]) -> str:
        return f"synced with {self.folder.path}: {len(came)} records came, {len(went)} went"

    def _report(self, came: Moves, went: Moves, new: Arrived, refused: int, *, dry_run: bool = False) -> Synced:
        return Synced(
            self.folder.path,
            self.state.replica,
            came,
            went,
            refused,
            new.report.skipped,
            self.former is not None,
            dry_run,
        )


def _is_reborn(stamp: Stamp, known: RecordStamp | None) -> bool:
    """Whether a record was forgotten and written again since it was known."""
    return known is not None and not known.stamp.gone and stamp.life > known.stamp.life


def _moves(stamps: Mapping[str, Stamp]) -> Moves:
    kinds = Counter("forgotten" if stamp.gone else KINDS[key.partition(":")[0]] for key, stamp in stamps.items())
    return Moves(**kinds)
