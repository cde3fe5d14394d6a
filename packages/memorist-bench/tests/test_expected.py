"""The figures we publish are rerun: a drop is a failure, an absent dataset is a sentence."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
TINY = HERE / "expected" / "tiny.toml"


def check(expected: Path, *arguments: str, data: Path = HERE / "data") -> subprocess.CompletedProcess[str]:
    script = str(ROOT / "benchmarks" / "check.py")
    where = ["--expected", str(expected), "--data", str(data)]
    return subprocess.run([sys.executable, script, *where, *arguments], capture_output=True, text=True)


def test_figures_that_stand_pass(tmp_path: Path) -> None:
    ran = check(TINY.parent)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("as expected") == 2


@pytest.mark.slow
def test_a_drop_fails_and_is_named(tmp_path: Path) -> None:
    better = TINY.read_text().replace('[recipes.bm25]\n"recall@10" = 0.7857', '[recipes.bm25]\n"recall@10" = 0.95')
    (tmp_path / "tiny.toml").write_text(better)
    ran = check(tmp_path)
    assert ran.returncode == 1
    assert "bm25 recall@10 0.7857, was 0.9500: DROPPED" in ran.stdout


def test_a_dataset_that_is_not_here_is_skipped_with_a_sentence(tmp_path: Path) -> None:
    ran = check(TINY.parent, data=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, f"tiny: skipped, there is no tiny in {tmp_path}\n")


@pytest.mark.slow
def test_an_experiment_that_does_not_run_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(TINY.read_text().replace("--recipe bm25", "--recipe best"))
    ran = check(tmp_path)
    assert ran.returncode == 1
    assert "There is no recipe 'best'" in ran.stderr


@pytest.mark.parametrize("file", sorted((ROOT / "benchmarks" / "expected").glob("*.toml")), ids=lambda file: file.stem)
def test_an_experiment_tells_its_command_and_figures(file: Path) -> None:
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    assert data["command"].startswith(f"memorist bench DATA/{data['dataset']} ")
    assert " --reranking " in data["command"] and " --ingest " in data["command"]  # a default may change
    assert data["recipes"] and all(
        0 <= figure <= 1 for figures in data["recipes"].values() for figure in figures.values()
    )
