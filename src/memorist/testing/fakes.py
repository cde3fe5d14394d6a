"""A fake clock, a fake embedder, and the contract of stages as an assertion."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zlib import crc32

from memorist.recall.stage import Draft, Env, Stage

if TYPE_CHECKING:
    from memorist.ports import Progress, Purpose, Vector


START = datetime(2024, 7, 1, 12, tzinfo=UTC)


class FakeClock:
    """A clock that only moves when it is set or advanced."""

    def __init__(self, now: datetime = START) -> None:
        self._now = now

    def now(self) -> datetime:
        """The current fake time."""
        return self._now

    def set(self, now: datetime) -> None:
        """Set the time, forwards or backwards."""
        self._now = now

    def advance(self, step: timedelta) -> datetime:
        """Advance the time by a step and return it."""
        self._now += step
        return self._now


class FakeEmbedder:
    """Hashes a bag of words into a vector: texts that share words are near each other, in any script."""

    def __init__(self, dim: int = 64) -> None:
        self._dim = dim

    @property
    def generation(self) -> str:
        """The method and the dimension."""
        return f"fake-bow:crc32:{self._dim}"

    @property
    def dim(self) -> int:
        """The dimension of its vectors."""
        return self._dim

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        """One unit vector per text; queries and memories are treated alike."""
        import numpy as np

        rows = np.zeros((len(texts), self._dim), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in _words(text):
                rows[row, crc32(word.encode("utf-8", "surrogatepass")) % self._dim] += 1
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        if progress is not None:
            progress(len(texts))
        return rows


def _words(text: str) -> list[str]:
    """Runs of ASCII letters and digits, and other letters one by one; a text without any is one word."""
    return re.findall(r"[a-z0-9]+|[^\W\x00-\x7f]", text.casefold()) or [text]


def assert_stage_contract(stage: Stage, draft: Draft, env: Env) -> Draft:
    """Run a stage twice on a draft, assert the contract, and return its result."""
    after = stage(draft, env)
    assert _ranking(stage(draft, env)) == _ranking(after), "the same input gives the same output"
    ids = _ids(after)
    assert len(set(ids)) == len(ids), "no memory occurs twice"
    assert _hits_are_ordered(after), "hits come best first, ties by id"
    where = draft.request.where
    new = [candidate.memory for candidate in after.candidates if candidate.memory.id not in _ids(draft)]
    assert all(where.admits(memory) for memory in new), "nothing outside the filter enters"
    _assert_effect(stage, draft, after)
    return after


def _assert_effect(stage: Stage, draft: Draft, after: Draft) -> None:
    if stage.effect == "keeps":
        assert set(_ids(after)) == set(_ids(draft)), "a stage that keeps neither adds nor removes candidates"
    if stage.effect == "removes":
        before = {candidate.memory.id: candidate for candidate in draft.candidates}
        unchanged = all(before.get(candidate.memory.id) == candidate for candidate in after.candidates)
        assert unchanged, "a stage that removes leaves the other candidates unchanged"


def _ids(draft: Draft) -> list[str]:
    return [candidate.memory.id for candidate in draft.candidates]


def _ranking(draft: Draft) -> list[tuple[str, float]]:
    return [(candidate.memory.id, candidate.score) for candidate in draft.candidates]


def _hits_are_ordered(draft: Draft) -> bool:
    return all(
        list(found.hits) == sorted(found.hits, key=lambda hit: (-hit.score, hit.id)) for found in draft.found.values()
    )
