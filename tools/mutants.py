"""Plant small faults in the code that must not fail, and see whether its tests find them: `make mutants`.

A fault is planted in one function: another comparison, number, operator or condition, or a statement or result that is
gone. Tests are collected once; each fault is tried in a process forked from there, which replaces the code of the
function in place and runs the tests that call it, until one fails. The share of faults that are found must be at least
`ENOUGH` in each chapter. `--sample N` tries at most N faults per chapter, always the same ones.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import json
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
ENOUGH = 0.95


@dataclass(frozen=True)
class Chapter:
    """Some modules, and the tests that should find faults in them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


CHAPTERS = {
    "gates": Chapter(
        ("remember/gates/__init__.py", "remember/gates/checks.py", "remember/gates/verdict.py"),
        (
            *("tests/remember/gates", "tests/remember/test_one_way_in.py"),
            *("tests/attacks/test_different_facts.py", "tests/attacks/test_forged_context.py"),
        ),
    ),
    "secrets": Chapter(
        tuple(f"text/secrets/{name}.py" for name in ("__init__", "disguise", "form", "numbers", "passwords", "values")),
        ("tests/text/test_secrets.py", "tests/text/test_secret_values.py", "tests/attacks/test_secrets.py"),
    ),
    "caps": Chapter(("stores/classified.py",), ("tests/stores/test_classified.py", "tests/attacks/test_caps.py")),
    "fusion": Chapter(("recall/fuse.py",), ("tests/recall/test_fuse.py", "tests/recall/test_stages.py")),
    "timeline": Chapter(
        ("remember/timeline.py",), ("tests/remember/test_truth.py", "tests/recipes/test_folded_facts.py")
    ),
}
"""What is tried; modules are below `src/memorist`."""

AT_IMPORT = "runs once, at import: before a fault can be planted"
AT_ONCE = "it only says how much is read at once"
EQUIVALENT = {
    "text/secrets/form form": AT_IMPORT,
    "text/secrets/form ignoring_case": AT_IMPORT,
    "text/secrets/__init__ _grouped": AT_IMPORT,
    "text/secrets/numbers _checked: len(numbers) - _WORDS → ": "no run of words begins so late",
    "text/secrets/numbers _may_hold_seed_phrase: 1 → 2": "it only spares the search",
    "remember/gates/__init__ Gates._check: for memory in memories if memory.id in new": "it only asks at once",
    "remember/gates/__init__ Gates._check: 0 → -1": "a repeat is about one memory",
    "remember/gates/checks _may_be_copied: return False → ": "None is as false",
    "recall/fuse _clamped: 0.0 < score < 1.0 → ": "0 and 1 are themselves either way",
    "stores/classified FEW: ": AT_ONCE,
    "stores/classified PAGE: ": AT_ONCE,
    "stores/classified ClassifiedReader.journal: 4 → ": AT_ONCE,
    "stores/classified ClassifiedStore.neighbours: 1 → 2": AT_ONCE,
    "remember/timeline Segment.name: 0 → -1": "all claims of a segment have the same value",
    "remember/timeline _Line.add: _order(new[0]) < _order(self._events[-1]) → "
    "_order(new[0]) <= _order(self._events[-1])": "starting again gives the same segments",
    "remember/timeline _Line.add: one is not None": "the names of what was before are those of what is after",
    "remember/timeline _Line.add: for name, one in self._before.items()": "likewise",
    "remember/timeline _Line._begin: for value, name in": "a value that is closed is opened again at the same moment",
}
"""Prefixes of functions and faults that are exempt because no test could see a difference, each with the reason."""


# Faults

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult},
    **{ast.Mod: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd},
}
REMOVED = (ast.AugAssign, ast.Break, ast.Continue, ast.Delete, ast.Expr, ast.Raise)
"""Statements that can be left out."""


@dataclass(frozen=True)
class Fault:
    """A part of a function, or of a module, that is replaced."""

    file: str
    owner: str
    """The name of the function, or of the constant of a module."""
    first: int
    """The first line of the function; 0 for a constant."""
    line: int
    parent: ast.AST
    field: str
    place: int | None
    new: ast.AST

    @property
    def old(self) -> ast.AST:
        there = getattr(self.parent, self.field)
        return there if self.place is None else there[self.place]

    @property
    def name(self) -> str:
        """The fault in words, whatever its line."""
        module = Path(self.file).relative_to(ROOT / "src/memorist").with_suffix("").as_posix()
        if isinstance(self.old, ast.cmpop | ast.operator | ast.boolop):
            whole = copy.deepcopy(self.parent)
            old = _source(whole)
            if self.place is None:
                setattr(whole, self.field, self.new)
            else:
                getattr(whole, self.field)[self.place] = self.new
            return f"{module} {self.owner}: {old} → {_source(whole)}"
        return f"{module} {self.owner}: {_source(self.old)} → {_source(self.new)}"

    def plant(self) -> None:
        there = getattr(self.parent, self.field)
        if self.place is None:
            setattr(self.parent, self.field, self.new)
        else:
            there[self.place] = self.new


def _source(node: ast.AST) -> str:
    return " ".join(ast.unparse(ast.fix_missing_locations(node)).split())


def faults(tree: ast.Module, file: str) -> Iterator[Fault]:
    """Every fault that can be planted in a module."""
    for place, node in enumerate(tree.body):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.targets[0], ast.Name)
        ):
            for new in _instead(node.value):
                yield Fault(file, node.targets[0].id, 0, node.lineno, node, "value", None, new)
        else:
            yield from _within(tree, "body", place, file, "", 0)


def _within(parent: ast.AST, field: str, place: int | None, file: str, owner: str, first: int) -> Iterator[Fault]:
    """The faults in one node and below it."""
    node: ast.AST = getattr(parent, field) if place is None else getattr(parent, field)[place]
    if isinstance(node, ast.ClassDef | ast.FunctionDef) and not first:
        owner = f"{owner}.{node.name}".lstrip(".")
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        for at, statement in enumerate(node.body):
            if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):  # a docstring
                yield from _within(node, "body", at, file, owner, first)
        return
    if not first:
        return
    line = getattr(node, "lineno", getattr(parent, "lineno", first))
    for new in _instead(node):
        yield Fault(file, owner, first, line, parent, field, place, new)
    for name, at in _children(node):
        yield from _within(node, name, at, file, owner, first)


def _children(node: ast.AST) -> Iterator[tuple[str, int | None]]:
    """The fields of a node that hold code, each with the place in a list."""
    for name, child in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list") or isinstance(node, ast.JoinedStr):
            continue
        if isinstance(child, ast.AST):
            yield name, None
        elif isinstance(child, list):
            yield from ((name, at) for at, one in enumerate(child) if isinstance(one, ast.AST))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _instead(node: ast.AST) -> Iterator[ast.AST]:
    """What a node may be replaced by."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield ast.Constant(not node.value)
        elif isinstance(node.value, int | float):
            yield from (ast.Constant(node.value + by) for by in ((1, -1) if isinstance(node.value, int) else (0.1,)))
    elif type(node) in SWAPS:
        yield SWAPS[type(node)]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        changed = copy.copy(node)
        changed.test = ast.UnaryOp(ast.Not(), node.test)
        yield changed
    elif isinstance(node, ast.comprehension):
        for at in range(len(node.ifs)):
            yield ast.comprehension(node.target, node.iter, [*node.ifs[:at], *node.ifs[at + 1 :]], node.is_async)
    elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, REMOVED):
        yield ast.Pass()


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


# Trying them


class Trial:
    """A plugin of pytest that tries faults instead of running the tests once."""

    def __init__(self, chapter: Chapter, sample: int, workers: int) -> None:
        self.files = [str(ROOT / "src/memorist" / name) for name in chapter.modules]
        self.sample, self.workers = sample, workers
        self.known = self.tried = 0
        self.survivors: list[Fault] = []

    @pytest.hookimpl
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try every fault with the tests that call its function."""
        called, seconds = _calls(session, self.files)
        trees = {file: ast.parse(Path(file).read_text(encoding="utf-8")) for file in self.files}
        known = [
            fault
            for file, tree in trees.items()
            for fault in faults(tree, file)
            if not fault.name.startswith(tuple(EQUIVALENT))
        ]
        self.known = len(known)
        chosen = known if self.sample >= len(known) else random.Random(0).sample(known, self.sample)
        functions = _functions(self.files)
        running: dict[int, Fault] = {}
        for fault in chosen:
            self.tried += 1
            tests = _callers(fault, called, functions)
            if not tests:
                self.survivors.append(fault)
                continue
            if len(running) >= self.workers:
                self._ended(running)
            if not (child := os.fork()):
                limit = 10 + 10 * sum(seconds[place] for place in tests)
                _try(session, fault, trees[fault.file], functions, sorted(tests, key=seconds.__getitem__), int(limit))
            running[child] = fault
        while running:
            self._ended(running)
        return True

    def _ended(self, running: dict[int, Fault]) -> None:
        child, status = os.wait()
        fault = running.pop(child)
        if status == 0:
            self.survivors.append(fault)


Key = tuple[str, int]
"""The file and the first line of a function."""


def _functions(files: list[str]) -> dict[Key, list[FunctionType]]:
    found: dict[Key, list[FunctionType]] = {}
    for value in gc.get_objects():
        if isinstance(value, FunctionType) and value.__code__.co_filename in files:
            found.setdefault((value.__code__.co_filename, value.__code__.co_firstlineno), []).append(value)
    return found


def _callers(fault: Fault, called: dict[Key, list[int]], functions: dict[Key, list[FunctionType]]) -> list[int]:
    """The tests that call the function of a fault, or those that read its constant."""
    if fault.first:
        return called.get((fault.file, fault.first), [])
    using = [
        key for key, (one, *_) in functions.items() if key[0] == fault.file and fault.owner in _names(one.__code__)
    ]
    return sorted({test for key in using for test in called.get(key, [])})


def _names(code: CodeType) -> set[str]:
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*inner)


def _calls(session: pytest.Session, files: list[str]) -> tuple[dict[Key, list[int]], list[float]]:
    """The tests that call each function, by their place among all tests, and how many seconds of work each takes."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as kept:
        if not (child := os.fork()):
            _record(session, frozenset(files), Path(kept.name))
        if os.waitpid(child, 0)[1]:
            sys.exit("The tests fail without any fault.")
        rows: list[tuple[float, list[Key]]] = json.load(kept)
    called: dict[Key, list[int]] = {}
    for place, (_, keys) in enumerate(rows):
        for file, line in keys:
            called.setdefault((file, line), []).append(place)
    return called, [seconds for seconds, _ in rows]


def _record(session: pytest.Session, files: frozenset[str], into: Path) -> None:
    """Run all tests and write down the functions of these files that each calls; ends the process."""
    keys = set[Key]()

    def note(frame: Any, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename in files:
            keys.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    rows: list[tuple[float, list[Key]]] = []
    _silence()
    for item, following in zip(session.items, [*session.items[1:], None], strict=True):
        keys.clear()
        began = time.process_time()
        threading.setprofile(note)
        sys.setprofile(note)
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        sys.setprofile(None)
        rows.append((time.process_time() - began, sorted(keys)))
    into.write_text(json.dumps(rows), encoding="utf-8")
    os._exit(1 if session.testsfailed else 0)


def _try(
    session: pytest.Session,
    fault: Fault,
    tree: ast.Module,
    functions: dict[Key, list[FunctionType]],
    tests: list[int],
    limit: int,
) -> None:
    """Plant a fault and run tests until one fails; ends the process, with 0 if none does."""
    _silence()
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(60 * limit)
    if fault.first:
        fault.plant()
        (code,) = _codes(compile(ast.fix_missing_locations(tree), fault.file, "exec"), fault)
        for function in functions[fault.file, fault.first]:
            function.__code__ = code
    else:
        function = next(function for (file, _), (function, *_) in functions.items() if file == fault.file)
        function.__globals__[fault.owner] = ast.literal_eval(fault.new)
    items = [session.items[place] for place in tests]
    for item, following in zip(items, [*items[1:], None], strict=True):
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            os._exit(1)
    os._exit(0)


def _codes(code: CodeType, fault: Fault) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_firstlineno == fault.first and constant.co_qualname == fault.owner:
                yield constant
            yield from _codes(constant, fault)


def _silence() -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("chapter", nargs="*", choices=[*CHAPTERS, []], default=list(CHAPTERS))
    parser.add_argument("--sample", type=int, default=sys.maxsize, metavar="N")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    few = False
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
        for name in given.chapter:
            began, chapter = time.monotonic(), CHAPTERS[name]
            trial = Trial(chapter, given.sample, given.workers)
            options = [
                "-qq",
                "--capture=no",
                "--hypothesis-seed=0",
                "-m",
                "not slow and not browser",
                f"--rootdir={ROOT}",
            ]
            if ended := pytest.main([*options, *(str(ROOT / test) for test in chapter.tests)], plugins=[trial]):
                return ended
            found = trial.tried - len(trial.survivors)
            few |= found < ENOUGH * trial.tried
            share = f"{found} of {trial.tried} faults found, {found / trial.tried:.1%}"
            print(f"{name}: {share}; of {trial.known} in all; {time.monotonic() - began:.0f} s", flush=True)
            for fault in trial.survivors:
                print(f"  {fault.line:>4} {fault.name}", flush=True)
    return int(few)


if __name__ == "__main__":
    sys.exit(main())
