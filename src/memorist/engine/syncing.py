"""`memorist.sync`: an open memory meets the other replicas of it in a folder that they share.

It works on an engine from the inside, as a verb does. It is no verb because no client can have it: the folder is on
this machine.
"""
# pyright: reportPrivateUsage=false

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memorist.engine.engine import Engine
from memorist.errors import MissingExtra
from memorist.model import MOST_CLASSIFIED, USUAL_CLASSIFICATION, Ids
from memorist.model.arguments import checks_call, within
from memorist.upkeep.maintenance import reembed

if TYPE_CHECKING:
    from memorist_import.sync import Synced

MOST_TRUSTED = 3


@checks_call
def sync(
    memory: Engine,
    folder: str | Path,
    *,
    scopes: Ids | None = None,
    classification: int | None = None,
    trust: int = MOST_TRUSTED,
    dry_run: bool = False,
    retire: str | None = None,
) -> Synced:
    """Exchange what changed with the other replicas of a memory, through a folder that all of them share.

    Only memories of these `scopes` (by default all), up to a `classification` (by default 1), pass in either direction;
    both are remembered for the folder. Texts of others are trusted up to `trust`. `retire` takes over the files of a
    replica that will not come back. If a sync is cut off, run it again.
    """
    try:
        from memorist_import.sync import MergeServices, Shared, sync_folder
    except ModuleNotFoundError:
        raise MissingExtra(
            "`memorist.sync` is not installed", remedy="Install it with: pip install 'memorist[import]'"
        ) from None
    within("trust", trust, 0, MOST_TRUSTED)
    within("classification", classification or 0, 0, MOST_CLASSIFIED)
    memory._concerns_everything()
    store, embedder = memory._whole, memory._embedder
    services = MergeServices(
        store,
        admit=memory._writer.admission(),
        erase=lambda ids: memory._erase(ids, ()),
        can_embed=lambda generation: embedder is not None and embedder.makes(generation),
        now=memory._clock.now(),
        trust=trust,
    )
    shared = None
    if scopes is not None or classification is not None:
        shared = Shared(tuple(sorted(scopes or ())), USUAL_CLASSIFICATION if classification is None else classification)
    done = sync_folder(Path(folder).expanduser().absolute(), services, shared, dry_run, retire)
    if not dry_run and embedder is not None and (done.came.memories or done.came.facts):
        reembed(store, embedder.making(store.embedding))  # what came without vectors that fit
    memory._wake()
    return done
