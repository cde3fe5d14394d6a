"""The test cases of the Recognizers, if they are next to the repository."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "dates.py"


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmarks_dates", SCRIPT)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_dates_match_the_cases_under_their_convention_for_ranges(bench: ModuleType, data: Path, language: str) -> None:
    score = bench.score(data / "dates" / f"{language}.jsonl", "point")
    assert score.total > 100
    assert score.share >= 0.90


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_the_default_reading_differs_only_in_the_end_of_ranges(bench: ModuleType, data: Path, language: str) -> None:
    score = bench.score(data / "dates" / f"{language}.jsonl", "whole")
    other = [kind for kind, _ in score.misses if not kind.startswith("range:")]
    assert 1 - len(other) / score.total >= 0.90
