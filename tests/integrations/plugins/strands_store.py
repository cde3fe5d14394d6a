"""Puts our store where Strands' store for tests was, with a file of JSON that shows what our store holds."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import strands.vended_memory_stores.test_memory_store as theirs
import strands.vended_memory_stores.test_memory_store.store as their_store

import memorist
from memorist.integrations.strands import MemoristMemoryStore
from memorist.model import Remembered

_opened: dict[str, memorist.Engine] = {}


class Mirrored(MemoristMemoryStore):
    __test__ = False

    def __init__(self, name: str, path: str | None = None, persist: bool = True, **given: Any) -> None:
        shown = Path(path) if path and persist else Path(tempfile.mkdtemp()) / "notes.json"
        place = str(shown.with_suffix(".db"))
        if place not in _opened:
            _opened[place] = memorist.open(place, embedder=None)
        super().__init__(_opened[place], name=name, **given)
        self._shown = shown

    async def add(self, content: str, metadata: dict[str, Any] | None = None) -> Remembered:
        kept = await super().add(content, metadata)
        records = [{"content": memory.text} for memory in self.memory.list().items]
        self._shown.write_text(json.dumps(records), encoding="utf-8")
        return kept


theirs.TestMemoryStore = their_store.TestMemoryStore = Mirrored  # type: ignore[misc,assignment]
