"""The doctor: checks of an installation."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer

import memorist
from memorist.engine.open import locate, on_server, open_database
from memorist.errors import Error, StoreError
from memorist.model import isoformat
from memorist.ports import Store
from memorist.surfaces.cli.find import FieldOrigin, origins, settings_file
from memorist.surfaces.cli.options import Json, Target, chosen, target
from memorist.surfaces.cli.output import count, one_line, print_json, say, size

if TYPE_CHECKING:
    from memorist.engine.engine import Engine


NAMED = 3


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """One thing looked at: whether it is in order, what was found, and how to mend it."""

    name: str
    ok: bool
    found: str
    remedy: str | None = None


def checks(target: Target) -> Iterator[DoctorCheck]:
    """Look at everything, from the interpreter to the memories; one failure does not end it."""
    settings = _check("settings", lambda: _settings(target))
    yield settings
    yield _check("python", _python)
    yield _check("sqlite", _sqlite)
    yield _check("model", lambda: _answers("local", {}))
    if settings.ok:
        embedder = target.settings().embedder
        if embedder not in ("local", "none"):
            yield _check("embedder", lambda: _answers(embedder, target.config))
        yield from _store_checks(target)


def _store_checks(target: Target) -> Iterator[DoctorCheck]:
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
        yield from _memory_checks(engine)


def _memory_checks(engine: Engine) -> Iterator[DoctorCheck]:
    try:
        memories = list(chosen(engine, {}))
    except Exception as error:
        yield _failure("memories", error)
        return
    yield _check("vectors", lambda: _vectors(engine.store, [memory.id for memory in memories]))
    yield _check("clock", lambda: _clock([memory.times.ingested_at for memory in memories]))


def _check(name: str, look: Callable[[], str]) -> DoctorCheck:
    try:
        return DoctorCheck(name, True, look())
    except Exception as error:
        return _failure(name, error)


def _failure(name: str, error: Exception) -> DoctorCheck:
    if isinstance(error, Error):
        return DoctorCheck(name, False, error.problem, error.remedy)
    return DoctorCheck(
        name, False, f"{type(error).__name__}: {error}", "Install memorist again; if it stays, report it."
    )


def _settings(target: Target) -> str:
    target.settings()
    return f"file {settings_file(target) or 'none'}"


def _answers(embedder: str, config: str | Mapping[str, Any] | None) -> str:
    """Embed something: this loads a local model, which checks its files against their checksums."""
    started = perf_counter()
    with memorist.open(":memory:", embedder=embedder, config=config) as engine:
        engine.remember("Is anybody there?")
        return f"{engine.stats().embedding}, loaded and answered in {perf_counter() - started:.1f} s"


def _python() -> str:
    return f"{platform.python_version()}, {platform.system()} {platform.machine()}, {sys.executable}"


def _sqlite() -> str:
    import apsw

    return f"{apsw.sqlite_lib_version()}, by apsw {apsw.apsw_version()}"


def _absent(target: Target) -> str | None:
    """Where the store would be, if it is not there yet: looking must not create it."""
    settings = target.settings()
    if settings.db == ":memory:":
        return "in memory, gone when the program ends"
    if settings.db is not None and on_server(settings.db):
        there = open_database(settings.db).status().migrated
        return None if there else "none yet; the first memory creates the tables"
    path, _ = locate(settings.db, settings.space)
    return None if path.exists() else f"none yet; the first memory creates {path}"


def _store(engine: Engine) -> str:
    integrity: Callable[[], list[str]] = getattr(engine.store, "integrity", list[str])
    if problems := integrity():
        more = f" And {len(problems) - NAMED} more." if len(problems) > NAMED else ""
        raise StoreError(
            " ".join(problems[:NAMED]) + more, remedy="Restore a backup, or write to another file what is left."
        )
    stats = engine.stats()
    return f"space {stats.space!r}, {count(stats.memories, 'memory', 'memories')}, {size(stats.bytes)}, sound"


def _vectors(store: Store, ids: list[str]) -> str:
    lacking = len(ids) - len(store.embedded(ids))
    if lacking and store.embedding is not None:
        raise StoreError(
            f"{count(lacking, 'memory has', 'memories have')} no vector, and only words find them",
            remedy="Run `memorist reembed`.",
        )
    return f"of {store.embedding}" if store.embedding else "none yet"


def _clock(written: list[datetime]) -> str:
    now, newest = datetime.now(UTC), max(written, default=None)
    if newest is not None and newest > now:
        raise StoreError(
            f"the newest memory was written at {isoformat(newest)}, which is still to come",
            remedy="Set this machine's clock; until then that memory is not found.",
        )
    return isoformat(now) + (f", newest memory {isoformat(newest)}" if newest else "")


def doctor(context: typer.Context, as_json: Json = False) -> None:
    """Check the installation, the memory and the settings; say how to mend what is wrong."""
    results = list[DoctorCheck]()
    for check in checks(target(context)):
        results.append(check)
        if not as_json:
            _print(check)
    settings = origins(target(context)) if results[0].ok else []
    if as_json:
        checked = [asdict(check) for check in results]
        sound = all(check.ok for check in results)
        print_json({"ok": sound, "checks": checked, "settings": [asdict(one) for one in settings]})
    else:
        _print_settings(settings)
    wrong = sum(not check.ok for check in results)
    if wrong:
        raise Error(f"{wrong} of {len(results)} checks failed", remedy="Follow the remedies given above.")


def _print(check: DoctorCheck) -> None:
    mark = ("✓ ", "green") if check.ok else ("✗ ", "red")
    say(mark, (f"{check.name:<10}", "bold"), one_line(check.found))
    if check.remedy:
        say(one_line(check.remedy), indent=12)


def _print_settings(settings: list[FieldOrigin]) -> None:
    for one in settings:
        say((f"{one.name:<10}", "bold"), one.value or "none", (f"  from {one.origin}", "dim"), indent=2)
