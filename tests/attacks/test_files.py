"""Files are private, whole at any moment, swept up after a kill, and not written once they were moved."""

from __future__ import annotations

import os
import resource
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

import memorist
from memorist import files
from memorist.engine.engine import Engine
from memorist.errors import Error, InvalidInput, NotFound, StoreError, StoreMoved
from memorist.stores.sqlite import SqliteStore, connection
from memorist.stores.sqlite.restoring import restore
from memorist.testing.fakes import FakeClock
from memorist_server.access.files import FileAnswers, FolderCatalogue
from memorist_server.access.keys import KeyRing
from memorist_server.rest.spaces import Spaces
from tests.attacks.killing import kills

SECRET = "The heron nests behind the old mill."


def opened(path: Path, clock: FakeClock | None = None) -> Engine:
    return memorist.open(path, embedder="none", background=False, clock=clock or FakeClock())


def texts(path: Path) -> list[str]:
    with opened(path) as engine:
        return [memory.text for memory in engine.list().items]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# Modes


@pytest.fixture(params=[0o000, 0o022])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def everything(folder: Path) -> None:
    """Write every sort of file, below a folder that does not exist yet."""
    clock = FakeClock()
    with opened(folder / "agent.db", clock) as engine:
        engine.remember(SECRET, at=clock.now())
        clock.advance(timedelta(days=2))
        engine.consolidate("daily")
        engine.backup(folder / "backups" / "copy.db")
        engine.export(folder / "exports" / "all.jsonl")
        assert (folder / "agent.db-wal").exists()
        check_private(folder)
    with KeyRing(folder / "keys" / "keys.db") as ring:
        ring.create(space="*", rights="read")
    FileAnswers(folder / "answers").close()


def check_private(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        assert mode(path) == (0o700 if path.is_dir() else 0o600), path


def test_whatever_the_umask_files_are_for_their_user_only(tmp_path: Path, umask: int) -> None:
    everything(tmp_path / "new")
    check_private(tmp_path / "new")


def test_a_mode_that_somebody_chose_stays(tmp_path: Path) -> None:
    everything(tmp_path / "new")
    (tmp_path / "new").chmod(0o750)
    for name in ("agent.db", "backups/copy.db", "exports/all.jsonl"):
        (tmp_path / "new" / name).chmod(0o640)
    with opened(tmp_path / "new" / "agent.db") as engine:
        engine.remember("The lamp is new.")
        engine.backup(tmp_path / "new" / "backups" / "copy.db", overwrite=True)
        engine.export(tmp_path / "new" / "exports" / "all.jsonl", overwrite=True)
        assert mode(tmp_path / "new" / "agent.db-wal") == 0o640
    for name in ("agent.db", "backups/copy.db", "exports/all.jsonl"):
        assert mode(tmp_path / "new" / name) == 0o640
    assert mode(tmp_path / "new") == 0o750


# Kills


Verb = Callable[[Path], object]


def backed_up(folder: Path) -> None:
    with opened(folder / "agent.db") as engine:
        engine.backup(folder / "copy.db", overwrite=True)


def exported(folder: Path) -> None:
    with opened(folder / "agent.db") as engine:
        engine.export(folder / "all.jsonl", overwrite=True)


def consolidated(folder: Path) -> None:
    clock = FakeClock()
    clock.advance(timedelta(days=200))
    with opened(folder / "agent.db", clock) as engine:
        engine.consolidate()


VERBS = [
    pytest.param(backed_up, id="backup", marks=pytest.mark.slow),
    pytest.param(exported, id="export"),
    pytest.param(consolidated, id="consolidate", marks=pytest.mark.slow),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a memory."""
    with opened(tmp_path / "home" / "agent.db") as engine:
        engine.remember("The old one.")
        engine.remember(SECRET)
    return tmp_path / "home"


@pytest.mark.parametrize("verb", VERBS)
def test_a_kill_leaves_nothing_that_the_next_to_open_does_not_remove(folder: Path, verb: Verb) -> None:
    for step in kills(lambda: verb(folder), folder):
        opened(folder / "agent.db").close()
        assert [path for path in folder.rglob("*") if "part" in path.name] == [], step


@pytest.mark.parametrize("verb", VERBS)
def test_what_a_kill_leaves_is_forgotten_with_the_memory(folder: Path, verb: Verb) -> None:
    whole = ("copy.db", "all.jsonl")  # finished before it was forgotten
    for step in kills(lambda: verb(folder), folder):
        with opened(folder / "agent.db") as engine:
            engine.forget(engine.list().items[1].id)
        content = [path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name not in whole]
        assert not any(b"heron" in data for data in content), step


def test_forget_removes_what_an_earlier_version_left_half_written(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with opened(tmp_path / "agent.db") as engine:
        id = engine.remember(SECRET).id
        (tmp_path / "agent.db.notes" / "daily").mkdir(parents=True)
        left = [tmp_path, tmp_path / "agent.db.notes" / "daily"]
        for folder in left:
            (folder / f".copy.part-{gone.pid}").write_text(SECRET)
            (folder / f".copy.part-{os.getpid()}").write_text("of a process that lives")
        engine.forget(id)
    for folder in left:
        assert [path.name for path in folder.glob(".*.part-*")] == [f".copy.part-{os.getpid()}"]


def test_a_part_on_another_disk_is_found_too(folder: Path) -> None:
    disks = [disk for disk in (Path("/dev/shm"), Path("/var/tmp")) if disk.is_dir()]
    disk = next((disk for disk in disks if disk.stat().st_dev != folder.stat().st_dev), None)
    if disk is None:
        pytest.skip("there is no other disk")
    other = disk / f"memorist-{os.getpid()}"
    other.mkdir()

    def export() -> None:
        with opened(folder / "agent.db") as engine:
            engine.export(other / "all.jsonl", overwrite=True)

    try:
        for step in kills(export, folder):
            opened(folder / "agent.db").close()
            assert [path for path in other.rglob("*") if path.is_file() and path.name != "all.jsonl"] == [], step
        assert SECRET in (other / "all.jsonl").read_text()
    finally:
        shutil.rmtree(other)


def test_a_living_process_keeps_its_unfinished_file(tmp_path: Path) -> None:
    home = tmp_path / "agent.db"
    script = (
        "import sys; from pathlib import Path; from memorist.files import replacing\n"
        "with replacing(Path(sys.argv[1]), home=Path(sys.argv[2])) as part:\n"
        "    part.write_text('half'); print('ready', flush=True); sys.stdin.readline()\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "out.txt"), str(home)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None and writer.stdin is not None
        assert writer.stdout.readline() == "ready\n"
        files.sweep(home)
        with opened(home) as engine:
            engine.backup(tmp_path / "copy.db")
            engine.forget(engine.remember(SECRET).id)
        writer.stdin.write("go on\n")
    assert (tmp_path / "out.txt").read_text() == "half"
    assert {path.name for path in tmp_path.iterdir()} == {"out.txt", "copy.db", "agent.db"}


def test_a_new_file_appears_with_its_tables_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "home" / "agent.db"
    path.parent.mkdir()
    for step in kills(lambda: opened(path).close(), path.parent):
        assert texts(path) == [], step
        assert [file.name for file in path.parent.iterdir()] == ["agent.db"], step


@pytest.mark.parametrize("damaged", [False, True])
def test_a_kill_in_a_restore_leaves_the_old_memory_or_the_new_one(folder: Path, damaged: bool) -> None:
    path, copy = folder / "agent.db", folder / "copy.db"
    with opened(path) as engine:
        engine.backup(copy)
        engine.remember("The newer one.")
    if damaged:  # with a log that would be applied to whatever has this name
        path.write_bytes(b"damaged" + path.read_bytes()[7:])
        path.with_name("agent.db-wal").write_bytes(b"7\x7f\x06\x82" + bytes(60))
    whole = (["The old one.", SECRET], ["The old one.", SECRET, "The newer one."])
    for step in kills(lambda: restore(copy, path), folder):
        still_damaged = damaged and path.read_bytes().startswith(b"damaged")
        assert still_damaged or texts(path) in whole, step
    assert texts(path) == whole[0]


# Import


@pytest.mark.slow
def test_a_kill_in_an_import_leaves_no_label_of_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memorist.upkeep.importing.BATCH", 4)
    with opened(tmp_path / "old.db") as engine:
        for run in range(2):
            with engine.session(f"Deploy service {run} to production", id=f"s{run}") as session:
                session.step(action="run make deploy", observation="It failed: the disk is full.")
                session.step(action="remove old images", observation="12 GB are free.")
                session.step(action="run make deploy", observation="Deployed.")
        engine.work()
        engine.export(tmp_path / "all.jsonl")
        assert not engine.audit(["orphan"]).findings

    target = tmp_path / "new.db"
    sound = 0
    for writes in range(1, 200):
        for path in tmp_path.glob("new.db*"):
            path.unlink()
        finished = imported_until(tmp_path / "all.jsonl", target, writes)
        with opened(target) as engine:
            assert engine.audit(["orphan", "drift"]).findings == (), writes
            sound += 1
        if finished:
            break
    assert sound > 5
    with opened(target) as engine, opened(tmp_path / "old.db") as old:
        assert engine.stats().memories == old.stats().memories
        assert engine.stats().links == old.stats().links


def imported_until(lines: Path, target: Path, writes: int) -> bool:
    """Import in a fork that is killed after so many writes; returns whether it finished first."""
    child = os.fork()
    if child == 0:
        left = writes
        update = SqliteStore.update

        def counted(self: SqliteStore, *arguments: Any) -> Any:
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), 9)
            left -= 1
            return update(self, *arguments)

        SqliteStore.update = counted  # pyright: ignore
        try:
            with opened(target) as engine:
                engine.import_(lines)
        finally:
            os._exit(0)
    return not os.WIFSIGNALED(os.waitpid(child, 0)[1])


# Moved files


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "agent.db"


def replaced(path: Path) -> None:
    shutil.copy(path, path.with_name("other.db"))
    path.with_name("other.db").replace(path)


MOVES: dict[str, Callable[[Path], object]] = {
    "the file is deleted": lambda path: path.unlink(),
    "the file is renamed": lambda path: path.rename(path.with_name("b.db")),
    "the file is replaced": replaced,
    "its folder is renamed": lambda path: path.parent.rename(path.parent.with_name("away")),
    "its folder is deleted": lambda path: shutil.rmtree(path.parent),
    "its log is deleted": lambda path: path.with_name(path.name + "-wal").unlink(),
    "its shared memory is deleted": lambda path: path.with_name(path.name + "-shm").unlink(),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_a_write_to_a_file_that_was_moved_is_refused(path: Path, move: Callable[[Path], object]) -> None:
    with opened(path) as engine:
        engine.remember("Before.")
        move(path)
        with pytest.raises(StoreMoved, match="open it again"):
            engine.remember("Into nowhere.")
        with pytest.raises(StoreMoved):
            engine.store.learn_noise(["hm"], keep=1)


def test_a_read_of_a_file_that_was_moved_is_refused_after_a_while(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LOOK_EVERY", 0)
    with opened(path) as engine:
        path.rename(path.with_name("b.db"))
        with pytest.raises(StoreMoved):
            engine.list()
        path.with_name("b.db").rename(path)
        assert engine.list().items


def test_what_was_acknowledged_before_the_log_was_deleted_is_not_lost(path: Path) -> None:
    with opened(path) as engine:
        engine.remember("Acknowledged.")
        path.with_name("agent.db-wal").unlink()
        with pytest.raises(StoreMoved):
            engine.remember("Refused.")
    assert texts(path) == ["The old one.", SECRET, "Acknowledged."]


def test_closing_does_not_harm_the_file_that_took_the_place(path: Path) -> None:
    old = opened(path)
    old.remember("Before.")
    for file in list(path.parent.iterdir()):
        file.unlink()
    with opened(path) as new:
        new.remember("Of the new memory.")
        old.close()
        assert path.with_name("agent.db-wal").exists()
        new.remember("Still there.")
    assert texts(path) == ["Of the new memory.", "Still there."]


def test_a_server_opens_what_took_the_place(tmp_path: Path) -> None:
    folder = FolderCatalogue(tmp_path)
    spaces = Spaces(folder, lambda name: opened(tmp_path / f"{name}.db"), lambda name: opened(tmp_path / name), 2)
    with spaces.use("agent", create=True) as engine:
        engine.remember("Before.")
    for path in tmp_path.iterdir():
        path.unlink()
    with pytest.raises(StoreMoved), spaces.use("agent", create=True) as engine:
        engine.remember("Into nowhere.")
    with spaces.use("agent", create=True) as engine:
        engine.remember("After.")
    spaces.close()
    assert texts(tmp_path / "agent.db") == ["After."]


# Disks and permissions


def test_a_disk_that_is_full_keeps_what_was_acknowledged(path: Path) -> None:
    child = os.fork()
    if child == 0:
        code = 1
        with opened(path) as engine:
            size = path.stat().st_size + 40_000
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            kept = 2
            try:
                for number in range(10_000):
                    engine.remember(f"Number {number}: " + "lamp " * 200)
                    kept += 1
            except StoreError:
                code = 0 if len(engine.list(limit=10_000).items) == kept else 2
        os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with opened(path) as engine:
        assert engine.remember("There is room again.")
        assert engine.audit(["drift"]).findings == ()


# What lies at the path


def test_a_link_and_its_target_are_one_memory(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(path)
    with opened(link) as one, opened(path) as other:
        one.remember("By the link.")
        assert other.recall("link").items
        assert one.store.path == other.store.path  # pyright: ignore
        with pytest.raises(InvalidInput, match="in use"):
            one.backup(link, overwrite=True)
        link.unlink()  # not the file
        assert one.remember("The link is gone, the file is not.")


def _nothing_behind(path: Path) -> None:
    path.symlink_to(path.with_name("unmounted.db"))


def _loop(path: Path) -> None:
    path.symlink_to(path)


THINGS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link to nothing": (_nothing_behind, "remove the link"),
    "a link to itself": (_loop, "Check the path"),
    "a pipe": (os.mkfifo, "path of a file"),
    "a device": (lambda path: path.symlink_to("/dev/null"), "path of a file"),
    "an empty file": (lambda path: path.touch(), "Restore a backup"),
    "a text": (lambda path: path.write_text("Dear diary, " * 1000), "path of a store"),
    "a short text": (lambda path: path.write_text("x"), "path of a store"),
    "the database of another program": (
        lambda path: apsw.Connection(str(path)).execute("CREATE TABLE t (a)"),
        "path of a store",
    ),
}


@pytest.mark.parametrize(("put", "remedy"), THINGS.values(), ids=THINGS)
def test_what_is_no_memory_is_refused_with_a_remedy(tmp_path: Path, put: Callable[[Path], object], remedy: str) -> None:
    put(tmp_path / "agent.db")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(Error, match=remedy):
        opened(tmp_path / "agent.db")
    assert sorted(tmp_path.iterdir()) == before


def test_a_file_without_permission_is_refused_with_a_remedy(path: Path) -> None:
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:
            for folder in (path.parent, *path.parents):
                if folder.stat().st_uid == 0 and mode(folder) & 0o055 != 0o055:
                    folder.chmod(mode(folder) | 0o055)
            os.setuid(65534)
        else:
            path.chmod(0)
        code = 1
        try:
            opened(path)
        except StoreError as error:
            code = 0 if "permission" in error.remedy else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("target", ["export", "backup"])
def test_a_link_at_the_target_is_not_followed(path: Path, tmp_path: Path, target: str) -> None:
    precious, link = tmp_path / "precious", tmp_path / "out"
    precious.write_text("keep me")
    link.symlink_to(precious)
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "elsewhere")
    with opened(path) as engine:
        verb: Callable[..., object] = getattr(engine, target)
        for file in (link, dangling):
            with pytest.raises(InvalidInput, match="exists"):
                verb(file)
            verb(file, overwrite=True)
            assert not file.is_symlink()
    assert (precious.read_text(), (tmp_path / "elsewhere").exists()) == ("keep me", False)


def test_a_restore_says_what_is_missing(path: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for backup in (tmp_path / "nothing", tmp_path, tmp_path / "pipe"):
        with pytest.raises(NotFound, match="Check the path"):
            restore(backup, path)
    assert texts(path) == ["The old one.", SECRET]


def test_what_a_killed_writer_left_beside_no_database_goes_with_the_next_write(tmp_path: Path) -> None:
    abandoned = tmp_path / ".all.jsonl.part-abandoned"
    abandoned.mkdir(mode=0o700)
    (abandoned / "all.jsonl").write_text(SECRET)
    with files.scratch(tmp_path / "all.jsonl") as alive:
        assert (abandoned.exists(), alive.exists()) == (False, True)
        files.write_text(tmp_path / "other.jsonl", "{}")
        assert alive.exists()
