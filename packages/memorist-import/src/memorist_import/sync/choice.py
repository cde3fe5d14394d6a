"""Which state of each record wins: a function of the stamps alone, so every replica chooses the same one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from memorist.model import PROVENANCE, Memory
from memorist.remember.derived import DERIVED
from memorist.remember.fact_rows import sources_of
from memorist_import.sync.folder import UNUSABLE, ChangeFile, SharedFolder, Unreadable, UnreadLine, UnreadReport
from memorist_import.sync.holdings import HeldRecord, Holdings
from memorist_import.sync.records import LATEST, Change, Stamp, StatedClaim, Text, text_key, words_of
from memorist_import.sync.state import RecordStamp, State


@dataclass(frozen=True, slots=True)
class RemoteState:
    """A state of a record that another replica wrote, and where it is."""

    stamp: Stamp
    digest: str
    file: ChangeFile
    offset: int
    rests_on: tuple[str, ...] = ()
    """Keys of the texts that it was derived from: it is forgotten with the last of them."""

    def beats(self, other: RecordStamp | RemoteState | None) -> bool:
        """Whether this state wins over another one."""
        return other is None or (self.stamp, self.digest) > (other.stamp, other.digest)


@dataclass(slots=True)
class Arrived:
    """The best state of each record in files that were not read before."""

    records: dict[str, RemoteState] = field(default_factory=dict[str, RemoteState])
    read: list[ChangeFile] = field(default_factory=list[ChangeFile])
    report: UnreadReport = field(default_factory=UnreadReport)


def read_arrivals(folder: SharedFolder, files: Iterable[ChangeFile]) -> Arrived:
    """Read files; one that cannot be read is read again at the next sync."""
    found = Arrived()
    for file in files:
        best: dict[str, RemoteState] = {}
        try:
            for line in folder.read(file, found.report):
                try:
                    key, basis = line.change.key, tuple(_basis(line.change))
                    remote = RemoteState(line.stamp, line.change.digest, file, line.offset, basis)
                except UNUSABLE:
                    found.report.line(file, line.number)
                    continue
                if remote.beats(best.get(key)):
                    best[key] = remote
        except Unreadable as error:
            found.report.named.append(UnreadLine(file.name, str(error)))
            continue
        found.read.append(file)
        for key, remote in best.items():
            if remote.beats(found.records.get(key)):
                found.records[key] = remote
    return found


def _basis(change: Change) -> Iterator[str]:
    if isinstance(change, StatedClaim) and change.claim.source is not None:
        yield text_key(change.claim.source)
    elif isinstance(change, Text):
        yield from map(text_key, _sources(change.memory, change))


def _sources(memory: Memory, text: Text) -> Iterable[str]:
    if memory.version_of is not None:
        return (memory.version_of,)
    if memory.kind not in DERIVED:
        return ()
    return sources_of(memory) or [link.target for link in text.links if link.relation == PROVENANCE]


def local_changes(here: Holdings, state: State, incoming: Mapping[str, RemoteState]) -> dict[str, RecordStamp]:
    """The records that were written, changed or forgotten here since the last sync, with their new stamps."""
    changed: dict[str, RecordStamp] = {}
    for key, held in here.records.items():
        known, other = state.records.get(key), incoming.get(key)
        if known is not None and not known.stamp.gone and known.digest == held.digest:
            continue
        if other is not None and not other.stamp.gone and other.digest == held.digest and other.beats(known):
            continue  # both replicas have it, or a sync was cut off
        changed[key] = RecordStamp(_next(known, held, state.replica), held.digest)
    for key, known in state.records.items():
        if not known.stamp.gone and known.digest and key not in here.records and key not in here.private:
            changed[key] = RecordStamp(Stamp(known.stamp.life, True, 0, 0, state.replica), "")
    return changed


def _next(known: RecordStamp | None, held: HeldRecord, replica: str) -> Stamp:
    """The stamp of a change made here: above everything that was known about the record."""
    if known is None:
        return Stamp(0, False, held.version, held.at, replica)
    before = known.stamp
    if before.gone or _told_again(known, held):
        return Stamp(min(LATEST, before.life + 1), False, held.version, held.at, replica)
    return Stamp(before.life, False, held.version, min(LATEST, max(held.at, before.at + 1)), replica)


def _told_again(known: RecordStamp, held: HeldRecord) -> bool:
    """Whether a text was forgotten and told again since the last sync: other words in no later version."""
    same = words_of(known.digest) == words_of(held.digest)
    earlier = held.version < known.stamp.version
    return bool(known.digest) and held.version > 0 and (earlier or (held.version == known.stamp.version and not same))


def orphans(incoming: Mapping[str, RemoteState], state: State) -> set[str]:
    """The keys of arrived records that rest only on texts which were forgotten: they are forgotten, too.

    A replica that did not know of the forget may have derived them meanwhile.
    """
    gone = {key for key, known in state.records.items() if known.stamp.gone}
    gone |= {key for key, remote in incoming.items() if remote.stamp.gone and remote.beats(state.records.get(key))}
    gone -= {key for key, remote in incoming.items() if not remote.stamp.gone and remote.beats(state.records.get(key))}
    found: set[str] = set()
    while True:
        more = {
            key
            for key, remote in incoming.items()
            if key not in found and not remote.stamp.gone and remote.rests_on and gone.issuperset(remote.rests_on)
        }
        if not more:
            return found
        found |= more
        gone |= more
