"""Backups, and new vectors for every memory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from memorist.errors import InvalidInput, StoreError
from memorist.files import make_private, refuse_existing, replacing, scratch, sync
from memorist.model import HIERARCHY, Kind, Memory
from memorist.models.embedding_text import generation_of, readings, turns_before
from memorist.ports import Embedded, Embedder, Progress, Store, Vectors
from memorist.remember.sessions.commit import INTENT_VIEW
from memorist.results.moving import Backup, Reembedding
from memorist.upkeep.consolidate.notes import PERIODS

NOTES = ".notes"
"""Suffix of the folder that holds the notes of a database file."""


def backup(
    copy: Callable[[Path], object],
    to: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    source: Path | None = None,
    notes: Path | None = None,
) -> Backup:
    """Put what `copy` writes, a verified snapshot of a store, in place: it appears complete, or not at all.

    `source` is the file of the store, `notes` the folder of its notes if they are not beside that file. The notes are
    copied beside the backup.
    """
    path = Path(to).absolute()
    refuse_existing(path, overwrite=overwrite)
    if path.with_name(f"{path.name}-wal").exists() or (source is not None and path.exists() and path.samefile(source)):
        raise InvalidInput(f"{path} is a memory in use", remedy="Choose another name for the backup.")
    with replacing(path, home=source) as part:
        copy(part)
    folder = notes or (source and _notes_beside(source))
    try:
        copied = 0 if folder is None else _copy_notes(folder, _notes_beside(path), source)
    except OSError as error:
        raise StoreError(f"The notes cannot be copied ({error.strerror})", remedy="Free some space.") from error
    return Backup(path, path.stat().st_size, copied)


def _notes_beside(file: Path) -> Path:
    return file.with_name(file.name + NOTES)


def _copy_notes(notes: Path, target: Path, home: Path | None) -> int:
    """Copy notes, replacing those of an earlier backup; returns the number of files.

    Only the folders of periods are copied: the user may keep other files in the folder.
    """
    ours = [notes / kind for kind in PERIODS if (notes / kind).is_dir()]
    if not ours:
        return 0
    with scratch(target, home=home) as folder:
        part = folder / target.name
        for path in ours:
            shutil.copytree(path, part / path.name)
        make_private(part)
        if target.exists():
            target.rename(folder / "before")
        part.rename(target)
        sync(target.parent)
    return sum(path.is_file() for path in target.rglob("*"))


LOOKED_UP = 4096
"""Memories per lookup: finding those without vectors reads past those that have them."""
BATCH = 256
"""Memories embedded and written together: a killed run loses at most these."""


def reembed(store: Store, embedder: Embedder, progress: Progress | None = None) -> Reembedding:
    """Embed every memory, then switch the search to the new vectors; with the same embedder, fill the gaps.

    The new generation of vectors is filled beside the current one and replaces it at once. If the run is killed,
    recall stays on the current generation, and the next run continues. Memories that others write meanwhile have
    vectors of the current generation only; the store refuses to switch until they are embedded too.
    """
    name, previous, embedded = generation_of(embedder), store.embedding, 0
    store.prepare(name, embedder.dim)
    while not store.switch(name):
        for batch in _lacking(store, name):
            store.add_vectors(name, batch, _vectors(store, embedder, batch))
            embedded += len(batch)
            if progress is not None:
                progress(len(batch))
    stats = store.stats()
    return Reembedding(name, embedder.dim, previous, embedded, stats.memories + stats.versions)


def _lacking(store: Store, name: str) -> Iterator[Sequence[Memory]]:
    while found := store.without_vectors(name, LOOKED_UP):
        for start in range(0, len(found), BATCH):
            yield found[start : start + BATCH]


def _vectors(store: Store, embedder: Embedder, memories: Sequence[Memory]) -> dict[str, Vectors]:
    wanted = [(memory.id, view, text) for memory, view, text in _views(store, memories)]
    texts = list(dict.fromkeys(text for _, _, text in wanted))
    rows = dict(zip(texts, embedder.embed(texts, purpose="memory"), strict=True))
    made = {memory.id: Embedded(generation_of(embedder), {}) for memory in memories}
    for id, view, text in wanted:
        made[id][view] = rows[text]
    return dict(made)


def _views(store: Store, memories: Sequence[Memory]) -> Iterator[tuple[Memory, str, str]]:
    """The texts that each memory is found by: its views, and for a procedure also its purpose."""
    texts = readings(memories, turns_before(memories, store))
    yield from ((memory, view, text) for memory in memories for view, text in texts[memory.id].items())
    procedures = {memory.id: memory for memory in memories if memory.kind is Kind.PROCEDURAL}
    links = [link for link in store.links(list(procedures)) if link.relation == HIERARCHY] if procedures else []
    purposes = store.get([link.target for link in links if link.source in procedures])
    for link in links:
        purpose = purposes.get(link.target)
        if link.source in procedures and purpose is not None and purpose.kind is Kind.INTENT:
            yield procedures[link.source], INTENT_VIEW, purpose.text
