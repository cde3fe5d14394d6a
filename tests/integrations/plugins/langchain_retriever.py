"""The retriever suite of `langchain-tests` on `MemoristRetriever`, over a memory with four texts."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from langchain_tests.integration_tests import RetrieversIntegrationTests

import memorist
from memorist.integrations.langchain import MemoristRetriever

MEMORY = memorist.open(Path(tempfile.mkdtemp()) / "agent.db")
MEMORY.remember_many([f"Alice {what} in Stockholm." for what in ("lives", "works", "sings", "skates")])


class TestMemoristRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[MemoristRetriever]:
        return MemoristRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": MEMORY}

    @property
    def retriever_query_example(self) -> str:
        return "What does Alice do in Stockholm?"
