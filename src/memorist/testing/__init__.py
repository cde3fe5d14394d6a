"""A test kit for code that uses or extends Memorist.

- `FakeClock` and `FakeEmbedder` are deterministic stand-ins for the clock and the embedding model.
- `memory` makes one memory, and `sample_world` a small world of 25 memories with something for every feature.
- `StoreConformance` is a pytest class with the tests that every store must pass.
- `assert_stage_contract` runs a stage of a recipe and checks the contract of stages.
- `OpenAIServer` and `AnthropicServer` are scripted language models behind real HTTP servers on the loopback
  interface. A script is a list of texts, mappings, `Reply`, `Status` or `Fault`; a server records each `LLMRequest`.

The names in `__all__` are stable: they change only with a major version, after a deprecation. New tests may be added
to `StoreConformance` in any minor version, because they describe what the engine relies on. Everything else in this
package is private. Importing it loads neither pytest nor numpy; only `StoreConformance` needs pytest.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

from memorist.testing.fakes import START, FakeClock, FakeEmbedder, assert_stage_contract
from memorist.testing.world import memory, sample_world

if TYPE_CHECKING:
    from memorist.testing.llm_server import AnthropicServer, Fault, LLMRequest, OpenAIServer, Reply, Status
    from memorist.testing.store_suite import StoreConformance

__all__ = [
    "START",
    "AnthropicServer",
    "FakeClock",
    "FakeEmbedder",
    "Fault",
    "LLMRequest",
    "OpenAIServer",
    "Reply",
    "Status",
    "StoreConformance",
    "assert_stage_contract",
    "memory",
    "sample_world",
]

_LAZY = {
    **dict.fromkeys(
        ("AnthropicServer", "Fault", "LLMRequest", "OpenAIServer", "Reply", "Status"), "memorist.testing.llm_server"
    ),
    "StoreConformance": "memorist.testing.store_suite",
}


def __getattr__(name: str) -> Any:
    """Import what needs pytest or an HTTP server when it is first used."""
    if name in _LAZY:
        return getattr(_import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'memorist.testing' has no attribute {name!r}")
