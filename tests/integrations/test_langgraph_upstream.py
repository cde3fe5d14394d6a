"""LangGraph's own tests of its stores, run on `MemoristStore`."""

from __future__ import annotations

import pytest

pytest.importorskip("langgraph.store.base")

from tests.integrations import upstream

AUTO = ("-o", "asyncio_mode=auto")
SQL = "tests how SqliteStore writes its SQL; there is none here"


def test_the_tests_of_the_in_memory_store() -> None:
    tests = upstream.sdist("langgraph-checkpoint", "4.3.2") / "tests" / "test_store.py"
    upstream.check(
        "langgraph",
        upstream.run("langgraph-checkpoint", "4.3.2", [tests], plugin="langgraph_store", options=AUTO),
    )


def test_the_tests_of_the_sqlite_store() -> None:
    folder = upstream.sdist("langgraph-checkpoint-sqlite", "3.1.2") / "tests"
    outcome = upstream.run(
        "langgraph-checkpoint-sqlite",
        "3.1.2",
        [folder / "test_store.py", folder / "test_async_store.py", folder / "test_ttl.py"],
        plugin="langgraph_store",
        without={
            "test_vector_store_initialization": "looks for SqliteStore's tables of vectors",
            "test_nonnull_migrations": SQL,
            "test_list_namespaces_prefix_uses_indexable_condition": SQL,
            "test_sql_injection_vulnerability": "wants an error for a filter key that SQL cannot hold; ours hold any",
            "test_ttl_override_default": "expects that reads do not extend a life unless told; TTLConfig says they do",
            "test_no_running_loop": "AsyncSqliteStore refuses synchronous calls in an event loop; ours allows them",
        },
        options=AUTO,
    )
    upstream.check("langgraph.sqlite", outcome)
