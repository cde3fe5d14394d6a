"""A caller with a cap sees, touches and learns nothing above it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.attacks.two_worlds import compare, worlds


def _compared(folder: Path, kind: str, cap: int, seed: int, length: int) -> None:
    with ExitStack() as stack:
        compare(worlds(folder, kind, cap, seed, stack), length)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_secrets_change_no_answer_to_a_caller_below_them(tmp_path: Path, kind: str, seed: int) -> None:
    _compared(tmp_path, kind, cap=(1, 2, 0)[seed], seed=seed, length=12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_no_long_story_with_secrets_changes_an_answer(tmp_path: Path, kind: str, seed: int) -> None:
    _compared(tmp_path, kind, cap=seed % 3, seed=seed, length=40)
