"""On PostgreSQL too, secrets change no answer to a caller below them."""

from __future__ import annotations

from contextlib import ExitStack
from random import Random

import pytest

from memorist.engine.engine import Engine
from memorist.testing import FakeClock, FakeEmbedder
from tests.attacks import two_worlds
from tests.attacks.two_worlds import Worlds, compare
from tests.stores.kinds import OpenStore


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_no_long_story_with_secrets_changes_an_answer(
    open_store: OpenStore, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two spaces of one server differ in their names.
    monkeypatch.setattr(two_worlds, "TIMINGS", (*two_worlds.TIMINGS, "space"))
    clock = FakeClock()
    with ExitStack() as stack:
        plain, secret = (
            stack.enter_context(
                Engine(
                    open_store("postgres", name),
                    embedder=FakeEmbedder() if seed % 2 else None,
                    clock=clock,
                    background=False,
                )
            )
            for name in ("plain", "secret")
        )
        compare(Worlds(seed % 3, clock, plain, secret, Random(seed)), 25)
