"""An engine's verbs by way of MCP tools, as far as there are tools for them."""

from __future__ import annotations

import json
from functools import partial
from types import SimpleNamespace
from typing import Any

from anyio.from_thread import BlockingPortal
from mcp import Client
from mcp.types import TextResourceContents

from memorist import Outcome
from server_tests.mcp.servers import call


class OverMcp:
    """What tools and resources tell, in the shapes that stories about an engine look at."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self._client = client

    def remember(self, text: str, **fields: Any) -> SimpleNamespace:
        answer = self._call("remember", text=text, **fields)
        outcome = Outcome(answer["outcome"])
        memory = _memory(answer) if outcome is Outcome.WITHHELD else self.get(answer["id"])
        return SimpleNamespace(**{**vars(memory), "outcome": outcome})

    def relate(self, subject: str, relation: str, object: str, **fields: Any) -> SimpleNamespace:
        return self.get(self._call("relate", subject=subject, relation=relation, object=object, **fields)["id"])

    def recall(self, query: str, **options: Any) -> SimpleNamespace:
        found = self._call("recall", query=query, **options)
        items = [SimpleNamespace(memory=_memory(memory)) for memory in found["memories"]]
        return SimpleNamespace(items=items, abstained=found["abstained"])

    def history(self, name: str) -> list[SimpleNamespace]:
        return [_memory(version) for version in self._call("history", name=name)["versions"]]

    def stats(self) -> SimpleNamespace:
        return SimpleNamespace(**self._call("status"))

    def get(self, id: str) -> SimpleNamespace:
        [whole] = self._portal.call(self._client.read_resource, f"memorist://memory/{id}").contents
        assert isinstance(whole, TextResourceContents)
        return _memory(json.loads(whole.text.split("<data>\n")[1].removesuffix("\n</data>")))

    def _call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return self._portal.call(partial(call, self._client, tool, **arguments))


def _memory(data: dict[str, Any]) -> SimpleNamespace:
    fact = SimpleNamespace(**data["fact"]) if "fact" in data else None
    return SimpleNamespace(**data | {"fact": fact})
