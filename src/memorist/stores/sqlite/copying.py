"""A copy of a file as of one moment, made while others write."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from memorist.errors import StoreError
from memorist.stores.sqlite import checks
from memorist.stores.sqlite.database import Database
from memorist.stores.sqlite.failures import translated


def copy(db: Database, path: Path, source: Path) -> None:
    """Copy an open file, and check the copy."""
    with translated(path):
        db.copy_to(path)
        shutil.copymode(source, path)
        with closing(Database(path, create=False)) as made:
            problems = checks.damage(made)
    if problems:
        raise damaged(source, problems)


def damaged(file: Path, problems: Sequence[str]) -> StoreError:
    """What to say of a file that failed its checks."""
    return StoreError(
        f"{file} is damaged. {problems[0]}",
        remedy="Restore an older backup; `memorist export` may save what can still be read.",
    )
