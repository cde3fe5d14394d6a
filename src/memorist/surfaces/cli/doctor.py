"""The doctor command: checks of an installation, its settings and its memory."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import typer

from memorist.config import SETTINGS, Config, Setting
from memorist.engine.open import locate, on_server, open_database, open_engine
from memorist.errors import Error, StoreError, without_passwords
from memorist.model import isoformat
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.options import all_memories, command
from memorist.surfaces.cli.output import GAP, count, one_line, print_json, say, say_row, say_table, size
from memorist.surfaces.remedies import as_command, in_words

if TYPE_CHECKING:
    from memorist.engine.engine import Engine


app = typer.Typer()
PROBLEMS_SHOWN = 3
LONGEST_NAME = len("✓ settings")


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """The result of one check: whether it passed, what was found and how to fix it."""

    name: str
    ok: bool
    found: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """The value of a setting and where it comes from."""

    name: str
    value: str | None
    origin: str


@command(app)
def doctor(target: Target, as_json: bool) -> None:
    """Check the installation, the settings and the memory; say how to fix each problem."""
    results = list[DoctorCheck]()
    for check in run_checks(target):
        results.append(check)
        if not as_json:
            _print_check(check)
    settings = settings_in_force(target) if results[0].ok else []
    if as_json:
        checked = [asdict(check) for check in results]
        passed = all(check.ok for check in results)
        print_json({"ok": passed, "checks": checked, "settings": [asdict(setting) for setting in settings]})
    else:
        rows = [
            ((setting.name, "bold"), f"{one_line(setting.value or 'none')}  from {setting.origin}")
            for setting in settings
        ]
        say_table(rows, indent=2)
    failed = sum(not check.ok for check in results)
    if failed:
        raise Error(f"{failed} of {len(results)} checks failed", remedy="Follow the remedies given above.")


def _print_check(check: DoctorCheck) -> None:
    mark, style = ("✓", "green") if check.ok else ("✗", "red")
    say_row([(f"{mark} {check.name}", f"bold {style}"), one_line(check.found)], [LONGEST_NAME])
    if check.remedy:
        say(one_line(check.remedy), indent=LONGEST_NAME + GAP)


def run_checks(target: Target) -> Iterator[DoctorCheck]:
    """Check everything, from the interpreter to the memories; a failed check does not stop the others."""
    settings = _settings(target)
    yield settings
    yield _check("python", _python)
    yield _check("sqlite", _sqlite)
    models = target.settings().models if settings.ok else Config().models
    made = list[str | None]()
    yield _check("model", lambda: f"{models}: {_answers(Config(models=models), made)}")
    if settings.ok:
        embedder = target.settings().embedder
        if embedder not in ("local", "none"):
            yield _check("embedder", lambda: _answers(target.settings(), made))
        yield from _store_checks(target, made[-1] if made and embedder != "none" else None)


def _store_checks(target: Target, wanted: str | None) -> Iterator[DoctorCheck]:
    try:
        if absent := _absent(target):
            yield DoctorCheck("store", True, absent)
            return
        engine = target.open()
    except Exception as error:
        yield _failure("store", error)
        return
    with engine:
        yield _check("store", lambda: _store(engine))
        yield from _memory_checks(engine, wanted)


def _memory_checks(engine: Engine, wanted: str | None) -> Iterator[DoctorCheck]:
    try:
        memories = list(all_memories(engine, {}))
    except Exception as error:
        yield _failure("memories", error)
        return
    yield _check("vectors", lambda: _vectors(engine, [memory.id for memory in memories], wanted))
    yield _check("clock", lambda: _clock([memory.times.ingested_at for memory in memories]))


def _check(name: str, look: Callable[[], str]) -> DoctorCheck:
    try:
        return DoctorCheck(name, True, look())
    except Exception as error:
        return _failure(name, error)


def _failure(name: str, error: Exception) -> DoctorCheck:
    if isinstance(error, Error):
        return DoctorCheck(name, False, error.problem, in_words(error.remedy, as_command))
    remedy = "Reinstall memorist; if the problem stays, report it."
    return DoctorCheck(name, False, f"{type(error).__name__}: {error}", remedy)


def _settings(target: Target) -> DoctorCheck:
    """The files that settings come from, and what is ignored because its file is not trusted."""
    try:
        chosen = target.settings()
    except Exception as error:
        return _failure("settings", error)
    files = dict.fromkeys(map(str, chosen.origins.values()))
    found = f"from {', '.join(files)}" if files else "no file"
    if chosen.untrusted is None or not chosen.untrusted.ignored:
        return DoctorCheck("settings", True, found)
    return DoctorCheck("settings", True, f"{found}. {chosen.untrusted.problem}", chosen.untrusted.remedy)


def _python() -> str:
    return f"{platform.python_version()}, {platform.system()} {platform.machine()}, {sys.executable}"


def _sqlite() -> str:
    import apsw

    return f"{apsw.sqlite_lib_version()}, by apsw {apsw.apsw_version()}"


def _answers(settings: Config, made: list[str | None]) -> str:
    """Embed a text, and add the generation of its vector; loading a local model also verifies its checksums."""
    started = perf_counter()
    with open_engine(replace(settings, db=":memory:")) as engine:
        engine.remember("Is anybody there?")
        made.append(engine.stats().embedding)
        return f"{made[-1]}, loaded and answered in {perf_counter() - started:.1f} s"


def _absent(target: Target) -> str | None:
    """Where the store would be created, if it does not exist; the check must not create it."""
    settings = target.settings()
    if settings.db == ":memory:":
        return "in memory, gone when the program ends"
    if settings.db is not None and on_server(settings.db):
        there = open_database(settings.db).status().migrated
        return None if there else "none yet; the first memory creates the tables"
    path, _ = locate(settings.db, settings.space)
    return None if path.exists() else f"none yet; the first memory creates {path}"


def _store(engine: Engine) -> str:
    integrity: Callable[[], list[object]] = getattr(engine.store, "integrity", list[object])
    if problems := [str(damage) for damage in integrity()]:
        more = f" And {len(problems) - PROBLEMS_SHOWN} more." if len(problems) > PROBLEMS_SHOWN else ""
        raise StoreError(
            " ".join(problems[:PROBLEMS_SHOWN]) + more,
            remedy="Restore a backup, or export the readable memories to another file.",
        )
    stats = engine.stats()
    return f"space {stats.space!r}, {count(stats.memories, 'memory', 'memories')}, {size(stats.bytes)}, intact"


def _vectors(engine: Engine, ids: list[str], wanted: str | None) -> str:
    missing, embedding = len(ids) - len(engine.store.embedded(ids)), engine.store.embedding
    if missing and embedding is not None:
        raise StoreError(
            f"{count(missing, 'memory has', 'memories have')} no vector and can be found only by words",
            remedy="Run `memorist reembed`.",
        )
    if embedding and wanted not in (None, embedding):
        return f"of {embedding}; `memorist reembed` changes them to {wanted}"
    return f"of {embedding}" if embedding else "none yet"


def _clock(written: list[datetime]) -> str:
    now, newest = datetime.now(UTC), max(written, default=None)
    if newest is not None and newest > now:
        raise StoreError(
            f"the newest memory was written at {isoformat(newest)}, which is in the future",
            remedy="Set this machine's clock; until then that memory is not found.",
        )
    return isoformat(now) + (f", newest memory {isoformat(newest)}" if newest else "")


def settings_in_force(target: Target) -> list[SettingInForce]:
    """Every setting, with passwords hidden."""
    settings = target.settings()
    return [
        SettingInForce(
            setting.name,
            without_password(getattr(settings, setting.name)),
            _origin(setting, target, settings.origins.get(setting.name)),
        )
        for setting in SETTINGS
    ]


def _origin(setting: Setting, target: Target, file: Path | None) -> str:
    """Where a setting comes from, in the order of `memorist.config`, strongest first."""
    if getattr(target, setting.name, None) is not None:
        return f"--{setting.name}"
    if os.environ.get(setting.variable):
        return setting.variable
    return str(file or "default")


def without_password(value: str | int | None) -> str | None:
    """A value without its password."""
    return None if value is None else without_passwords(str(value))
