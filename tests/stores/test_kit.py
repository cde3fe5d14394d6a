"""The test kit itself: what it promises to those who test with it."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorist.testing
from memorist.model import Kind, instant
from memorist.testing import FakeClock, FakeEmbedder, sample_world


@given(text=st.text())
def test_any_text_has_a_vector_of_length_one(text: str) -> None:
    (row,) = FakeEmbedder().embed([text], purpose="memory")
    assert row.shape == (64,)
    assert float(np.linalg.norm(row)) == pytest.approx(1)


def test_texts_that_share_words_are_near() -> None:
    asked, near, far = FakeEmbedder().embed(
        ["Where does Alice live?", "alice does not live here", "人工智能"], purpose="query"
    )
    assert float(asked @ near) > 0.5 > float(asked @ far)


def test_progress_is_told_and_no_texts_give_no_rows() -> None:
    heard: list[int] = []
    assert FakeEmbedder(8).embed(["a", "b"], purpose="query", progress=heard.append).shape == (2, 8)
    assert FakeEmbedder(8).embed([], purpose="query").shape == (0, 8)
    assert heard == [2]


def test_the_clock_moves_only_when_told() -> None:
    clock = FakeClock(instant("2024-07-01"))
    assert clock.now() == clock.now() == instant("2024-07-01")
    assert clock.advance(timedelta(days=1)) == clock.now() == instant("2024-07-02")
    clock.set(instant("2020-01-01"))
    assert clock.now() == instant("2020-01-01")


def test_the_sample_world_has_something_for_every_part() -> None:
    world = sample_world()
    assert len({memory.id for memory in world}) == len(world) == 25
    assert {memory.kind for memory in world} == set(Kind)
    assert {memory.worth.classification for memory in world} == {1, 2, 3}
    assert len({memory.scope for memory in world if memory.scope.startswith("user:")}) == 2
    assert world == sample_world()


def test_the_kit_can_be_imported_without_pytest() -> None:
    code = "import sys, memorist.testing; print('pytest' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_every_public_name_can_be_imported() -> None:
    assert all(getattr(memorist.testing, name) is not None for name in memorist.testing.__all__)
    assert not hasattr(memorist.testing, "FakeStore")
