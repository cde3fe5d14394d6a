"""Puts our session where the SDK's own SQLite session was."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"

import agents
import agents.memory
import agents.memory.sqlite_session

import memorist
from memorist.integrations.openai_agents import MemoristSession
from tests.integrations.upstream import KEPT

_opened: dict[str, memorist.Engine] = {}


class OverFile(MemoristSession):
    """Made as theirs is: with the path of a database, or nothing for one that is not kept."""

    def __init__(self, session_id: str, db_path: str | Path = ":memory:", **given: Any) -> None:
        if str(db_path) == ":memory:":
            db_path = Path(tempfile.mkdtemp()) / "session.db"
        if str(db_path) not in _opened or _opened[str(db_path)].closed:
            _opened[str(db_path)] = memorist.open(db_path, embedder=None)
        super().__init__(session_id, _opened[str(db_path)], **given)


agents.SQLiteSession = agents.memory.SQLiteSession = OverFile  # type: ignore[misc,assignment]
agents.memory.sqlite_session.SQLiteSession = OverFile  # type: ignore[misc,assignment]

# Their tests import each other as parts of a package `tests`, which here is ours.
for name in ("test_responses", "memory.test_session"):
    place = KEPT / "openai-agents-0.24.0" / "tests" / f"{name.replace('.', '/')}.py"
    spec = importlib.util.spec_from_file_location(f"tests.{name}", place)
    assert spec is not None and spec.loader is not None
    sys.modules[f"tests.{name}"] = module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault("tests.memory", ModuleType("tests.memory"))
    spec.loader.exec_module(module)
