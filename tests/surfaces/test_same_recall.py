"""Every surface takes the options of `recall` and tells the fields of its answer, or says here why not."""

from __future__ import annotations

from dataclasses import fields
from inspect import signature
from typing import Any, get_args

import anyio
import pytest

import memorist
from memorist.client.client import Client, RemoteRecall
from memorist.engine.engine import Engine
from memorist.model import Item, Recall, RecallOptions, keywords_of
from memorist.model.recall import Step, Trace
from memorist.model.serialize import json_fields
from memorist.surfaces.cli.app import all_commands
from memorist.verbs import Verbs
from memorist_server.mcp.schemas import RecalledMemory, RecallResult
from memorist_server.mcp.server import MemoryServer
from memorist_server.rest.routes.memories import ExplainBody, RecallBody
from memorist_server.rest.schemas import answer_of

OPTIONS = frozenset(keywords_of(RecallOptions))
FIELDS = frozenset(field.name for field in json_fields(Recall))


def own_fields(kind: type) -> set[str]:
    return {field.name for field in fields(kind)}


# Options


@pytest.mark.parametrize("verb", ["recall", "recall_in_context", "why_not"])
def test_python_takes_the_same_options_here_and_over_http(verb: str) -> None:
    for kind in (Engine, Verbs, Client):
        assert signature(getattr(kind, verb)).parameters["options"].annotation == "Unpack[RecallOptions]"


def test_rest_takes_every_option() -> None:
    assert RecallBody.model_fields.keys() == OPTIONS | {"query", "details"}
    assert ExplainBody.model_fields.keys() == OPTIONS | {"query", "id"}


@pytest.mark.parametrize("command", ["recall", "session recall", "why-not"])
def test_the_command_line_takes_every_option(command: str) -> None:
    assert {param.name for param in all_commands()[1][command].params} >= OPTIONS


BOUND_BY_THE_SERVER = {"session", "max_classification"}
"""An agent chooses neither whose conversation this is nor what it may see."""
OF_NO_USE_TO_AN_AGENT = {"track", "verbosity"}
"""What it recalls counts as used, and the answer has no list of touched memories."""


def test_mcp_takes_every_option_that_an_agent_may_choose() -> None:
    async def arguments() -> set[str]:
        with memorist.open(":memory:", embedder="none", config={}) as engine:
            tools = {tool.name: tool for tool in await MemoryServer(engine).list_tools()}
        return set(tools["recall"].input_schema["properties"])

    assert anyio.run(arguments) == OPTIONS - BOUND_BY_THE_SERVER - OF_NO_USE_TO_AN_AGENT | {"query", "in_session"}


# Fields of the answer


def test_json_tells_every_field_but_the_request_and_the_candidates_of_each_stage() -> None:
    assert own_fields(Recall) - FIELDS == {"request"}
    assert own_fields(Trace) - {field.name for field in json_fields(Trace)} == {"steps", "found"}  # steps are `stages`
    assert own_fields(Step) - {field.name for field in json_fields(Step)} == {"candidates"}
    assert own_fields(Item) - {field.name for field in json_fields(Item)} == {"memory"}  # an item shows part of it


def test_rest_and_its_client_tell_the_same_fields() -> None:
    for verb in (Verbs.recall, Verbs.recall_in_context):
        told: Any = answer_of(verb)
        assert told.model_fields.keys() == FIELDS
        (item,) = get_args(told.model_fields["items"].annotation)
        assert item.model_fields.keys() == {field.name for field in json_fields(Item)} | {"memory", "explanation"}
    assert own_fields(RemoteRecall) == own_fields(Recall) | {"explanations"}


KNOWN_TO_THE_AGENT = {"id", "query", "recipe", "now"}
FOR_PEOPLE = {"tokens", "touched", "trace", "why_abstained", "remarks", "cites_sources"}
"""How the answer came about; a stage's notes are `notes`."""
MEMORIES = {"id", "text", "kind", "topic", "flags", "speaker", "fact", "source", "notes", "probability"}
"""Of an item, what an agent needs to judge it; `at` and `until` are when it was true."""


def test_mcp_tells_what_an_agent_can_use() -> None:
    told = FIELDS - KNOWN_TO_THE_AGENT - FOR_PEOPLE - {"items"}
    assert told == {"abstained", "confidence", "context", "reasoned", "shown_before", "standing"}
    assert RecallResult.model_fields.keys() == told | {"memories", "notes", "notice"}
    assert RecalledMemory.model_fields.keys() == MEMORIES | {"at", "until", "trust"}
    assert {field.name for field in json_fields(Item)} >= MEMORIES
