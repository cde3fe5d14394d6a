"""Files deleted, copied and left behind in random orders: a database holds what its file was given, and no more."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memorist.model import Filter
from memorist.ports import Batch
from memorist.stores.sqlite import SqliteStore
from memorist.testing import memory

STEPS = 30


class Folder:
    """A database that people and killed processes work on, a backup of it, and what each should hold."""

    def __init__(self, folder: Path) -> None:
        self.path, self.saved, self.attic = folder / "a.db", folder / "saved.db", folder / "attic"
        self.holds: set[str] | None = None
        self.saved_holds: set[str] | None = None
        self.written = 0

    def write_and_die(self) -> None:
        self._write(lambda store: None)

    def write_and_close(self) -> None:
        self._write(SqliteStore.close)

    def _write(self, end: Callable[[SqliteStore], None]) -> None:
        self.written += 1
        id = f"m{self.written}"

        def write() -> None:
            store = SqliteStore.open(self.path)
            store.put(Batch([memory(f"The number is {id}.", id=id)]))
            end(store)

        in_a_process_that_dies(write)
        self.holds = {*(self.holds or ()), id}

    def delete(self) -> None:
        self.path.unlink(missing_ok=True)
        self.holds = None

    def save(self) -> None:
        if self.holds is not None and self.saved_holds is None:
            in_a_process_that_dies(lambda: SqliteStore.open(self.path).backup(self.saved))
            self.saved_holds = self.holds

    def copy_back(self) -> None:
        self._copy_back()

    def copy_back_with_attributes(self) -> None:
        self._copy_back("-a")

    def _copy_back(self, *how: str) -> None:
        if self.holds is None and self.saved_holds is not None:
            subprocess.run(["cp", *how, self.saved, self.path], check=True)
            self.holds = self.saved_holds

    def archive_and_unpack(self) -> None:
        """Each file of the database leaves and comes back as a copy, in any order."""
        family = [self.path, *(self.path.with_name(f"a.db{side}") for side in ("-wal", "-shm"))]
        family = [path for path in family if path.exists()]
        self.attic.mkdir(exist_ok=True)
        for path in random.sample(family, len(family)):
            shutil.copy2(path, self.attic / path.name)
            path.unlink()
        for path in random.sample(family, len(family)):
            shutil.copy2(self.attic / path.name, path)

    def read(self) -> None:
        def look() -> None:
            store = SqliteStore.open(self.path, create=False)
            found = {memory.id for memory in store.scan(Filter(), 1000).items}
            assert found == self.holds, (found, self.holds)
            assert store.integrity() == []

        if self.holds is not None:
            in_a_process_that_dies(look)


def in_a_process_that_dies(work: Callable[[], object]) -> None:
    """Do something in a process that ends as if it were killed."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("seed", range(6))
def test_a_database_holds_what_its_file_was_given(tmp_path: Path, seed: int) -> None:
    random.seed(seed)
    folder = Folder(tmp_path)
    often = [folder.write_and_die, folder.write_and_die, folder.delete, folder.copy_back, folder.read]
    now_and_then = [folder.write_and_close, folder.save, folder.copy_back_with_attributes, folder.archive_and_unpack]
    for _ in range(STEPS):
        random.choice([*often, *now_and_then])()
    folder.read()
