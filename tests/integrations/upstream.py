"""A framework's own tests, run against our adapter: fetched as a source distribution, never kept in this repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEPT = ROOT / ".integrations" / "sdists"
EXPECTED = Path(__file__).parent / "expected"
PLUGINS = Path(__file__).parent / "plugins"
"""On the path itself, because a framework's tests may be a package `tests`, too; none has a framework's name."""
"""Plugins that need a package named `tests` of the framework are named without ours, as in `-p langgraph_store`."""
QUIET = {**os.environ, "LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false", "OTEL_SDK_DISABLED": "true"}
"""The environment of processes that use frameworks: they send no traces."""
RECORDING = bool(os.environ.get("MEMORIST_RECORD"))
"""Whether to write what the tests of a framework gave as what they should give; our tests clear the variable later."""


@dataclass(frozen=True)
class Outcome:
    """What became of a framework's tests; skipped and failed ones by id, with the reason."""

    framework: str
    version: str
    passed: int = 0
    skipped: Mapping[str, str] = field(default_factory=dict[str, str])
    failed: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def total(self) -> int:
        return self.passed + len(self.skipped) + len(self.failed)


def sdist(name: str, version: str) -> Path:
    """The unpacked source distribution of a package, downloaded once."""
    place = KEPT / f"{name}-{version}"
    if not place.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        wanted = [f"{name}=={version}", "--no-deps", "--no-binary", ":all:", "--dest", str(KEPT)]
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *wanted], check=True)
        (packed,) = KEPT.glob(f"{name.replace('-', '[-_]')}-{version}.tar.gz")
        with tarfile.open(packed) as archive:
            archive.extractall(KEPT / f"{place.name}.part", filter="data")
        (folder,) = (KEPT / f"{place.name}.part").iterdir()
        folder.rename(place)
    return place


def run(
    framework: str,
    version: str,
    tests: Sequence[Path],
    *,
    plugin: str | None = None,
    without: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> Outcome:
    """Run tests of a framework with a pytest plugin of ours, which puts our adapter where the framework's class was.

    `without` names tests that are not ours to pass, by a part of their id, with the reason; `options` are pytest's.
    """
    KEPT.mkdir(parents=True, exist_ok=True)
    report = KEPT / f"{framework}.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
    command += [] if plugin is None else ["-p", plugin]
    folder = str(tests[0].parent)
    command += ["--rootdir", folder, "--confcutdir", folder, f"--junitxml={report}", *options, *map(str, tests)]
    report.unlink(missing_ok=True)
    env = QUIET | {"PYTHONPATH": os.pathsep.join(map(str, (PLUGINS, ROOT)))}
    ran = subprocess.run(command, cwd=tests[0].parent, env=env, capture_output=True, text=True, check=False)
    assert report.exists(), ran.stdout + ran.stderr
    return _read(report, framework, version, without or {})


def _read(report: Path, framework: str, version: str, without: Mapping[str, str]) -> Outcome:
    passed, skipped, failed = 0, dict[str, str](), dict[str, str]()
    for case in ET.parse(report).getroot().iter("testcase"):
        id = f"{case.get('classname', '').rpartition('.')[2]}::{case.get('name')}"
        excused = next((why for part, why in without.items() if part in id), None)
        fault = next((child for child in case if child.tag in ("failure", "error")), None)
        skip = case.find("skipped")
        if excused is not None and (fault is not None or skip is not None):
            skipped[id] = excused
        elif fault is not None:
            failed[id] = (fault.get("message") or fault.tag).splitlines()[0]
        elif skip is not None:
            skipped[id] = skip.get("message") or ""
        else:
            passed += 1
    return Outcome(framework, version, passed, skipped, failed)


def check(adapter: str, outcome: Outcome) -> None:
    """Compare an outcome with the one of `expected/ADAPTER.json`, from which the tables of the docs are made."""
    kept = EXPECTED / f"{adapter}.json"
    if RECORDING:
        EXPECTED.mkdir(exist_ok=True)
        kept.write_text(json.dumps(asdict(outcome), indent=2, sort_keys=True) + "\n", encoding="utf-8")
    assert asdict(outcome) == json.loads(kept.read_text(encoding="utf-8"))
