"""Whatever happens at the moment at which the search changes to new vectors: verbs go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from memorist import Engine
from memorist.ports import Progress, Purpose
from memorist.stores.memory import MemoryStore
from memorist.testing.fakes import FakeEmbedder
from tests.upkeep.test_reembed import Mirrored, cosine

if TYPE_CHECKING:
    from memorist.ports import Vector

VERBS: dict[str, Callable[[Engine], object]] = {
    "remember": lambda engine: engine.remember("Ben keeps a lamp."),
    "remember_many": lambda engine: engine.remember_many(["Ben keeps a lamp.", "Ben keeps a fox."]),
    "ingest": lambda engine: engine.ingest([{"role": "user", "content": "Ben keeps a lamp."}]),
    "relate": lambda engine: engine.relate("Ben", "lives_in", "Oslo"),
    "session": lambda engine: engine.session("Ben keeps a lamp."),
    "step": lambda engine: engine.session(id="s").step("Ben keeps a lamp."),
    "commit": lambda engine: engine.session(id="s").commit(),
    "consolidate": lambda engine: engine.consolidate(),
}


class Meanwhile(FakeEmbedder):
    """Does something once, after it has embedded a text."""

    act: Callable[[], object] | None = None

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Progress | None = None) -> Vector:
        made = super().embed(texts, purpose=purpose, progress=progress)
        act, self.act = self.act, None
        if act is not None:
            act()
        return made


@pytest.mark.parametrize("verb", VERBS)
def test_a_write_that_meets_the_switch_is_kept_with_new_vectors(verb: str) -> None:
    embedder = Meanwhile()
    with Engine(MemoryStore(), embedder=embedder, background=False) as engine:
        engine.remember("Ann keeps a lamp.", at=datetime.now(UTC) - timedelta(days=3))
        engine.session("Tidy", "s").step("The shelf is full.", "clear it", 1)
        embedder.act = lambda: engine.reembed(Mirrored())
        VERBS[verb](engine)
        assert embedder.act is None, "the verb embeds nothing"
        ids = [memory.id for memory in engine.list().items if not (memory.origin.key or "").startswith("source/")]
        assert engine.stats().embedding == "mirrored:64:turns-1" and engine.store.embedded(ids) == set(ids)


def test_a_recall_right_after_the_switch_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    with Engine(MemoryStore(), embedder=FakeEmbedder(), background=False) as engine:
        engine.remember("Ann keeps a lamp.")
        switch, seen = engine.store.switch, list[float]()

        def switched(embedding: str) -> bool:
            done = switch(embedding)
            seen.append(cosine(engine, "Ann keeps a lamp."))
            return done

        monkeypatch.setattr(engine.store, "switch", switched)
        engine.reembed(Mirrored())
        assert seen == pytest.approx([1.0] * len(seen), abs=2e-3) and len(seen) > 1
