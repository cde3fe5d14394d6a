"""Hostile calls of the verbs and of the tools, and hostile files for the importers."""

from __future__ import annotations

import inspect
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import memorist
from import_tests import products
from import_tests.exports import chatgpt, claude, mem0
from memorist.engine.engine import Engine
from memorist.model import Changes, FactFields, Fields, Filters, RecallOptions, keywords_of
from memorist.remember.ingest import format_names, read
from memorist.results.upkeep import AUDIT_KINDS
from memorist.testing.fakes import FakeClock, FakeEmbedder
from memorist.verbs import SessionVerbs, Verbs
from tests.attacks.hostile import Hostile, json_bytes

PLAIN = (
    "Alice moved to Oslo in May 2021.",
    "Bob likes rowing on the lake.",
    "The key of the boat house hangs by the door.",
    "Chloe works at the harbour office since 2019.",
)
CANARY = "quetzalfeather"
"""A word of another space, which no answer may contain."""
KEPT_APART = f"The word of the vault is {CANARY}."
SECRET = "ocelotwhisker"
"""A word that only a caller with a high classification may read."""
CLASSIFIED = f"The word of the inner vault is {SECRET}."
GROUPS: dict[str, Any] = {
    "Fields": Fields,
    "Changes": Changes,
    "FactFields": FactFields,
    "Filters": Filters,
    "RecallOptions": RecallOptions,
}


def fresh(url: str) -> Engine:
    """A memory with a little in it."""
    engine = memorist.open(
        url, embedder=FakeEmbedder(), reranker="none", clock=FakeClock(), background=False, config={}
    )
    for number, text in enumerate(PLAIN):
        engine.remember(text, session="talk", position=number, key=f"key-{number}")
    engine.session("Book a boat", id="run").step("A form.", "fill it in")
    return engine


def still_works(engine: Engine) -> None:
    """The memory keeps and finds, whatever it was given."""
    kept = engine.remember("The heron stands by the weir in Bergen.")
    assert kept.id in [item.memory.id for item in engine.recall("Where does the heron stand?", limit=20).items]
    assert engine.forget(kept.id).forgotten
    engine.tidy(dry_run=False)  # or labels would be left whose text was edited
    wrong = {finding.reason for finding in engine.audit(kinds=("orphan", "drift")).findings}
    assert not wrong


# Verbs


Call = tuple[str, dict[str, Any]]
OTHER = {"close", "space", "session"}
VERBS = [name for name, one in vars(Verbs).items() if inspect.isfunction(one) and name[0] != "_" and name not in OTHER]
STEPS = ["step", "commit", "discard"]


def call_of_a_verb(engine: Engine, hostile: Hostile, folder: Path) -> Call:
    """A verb, and arguments for it by its signature; some of them of the wrong type."""
    dice = hostile.dice
    name = dice.choice([*VERBS, "remember", "recall", "relate", "session", *STEPS])
    of = SessionVerbs if name in STEPS else Verbs
    given: dict[str, Any] = {}
    for parameter in list(inspect.signature(getattr(of, name)).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            group = GROUPS[parameter.annotation.removeprefix("Unpack[").removesuffix("]")]
            types = keywords_of(group)
            for key in dice.sample(sorted(types), dice.choice((0, 1, 2, 4))):
                given[key] = _value(engine, hostile, key, str(types[key].type), folder)
        elif parameter.default is parameter.empty or dice.random() < 0.5:
            given[parameter.name] = _value(engine, hostile, parameter.name, str(parameter.annotation), folder)
    return name, given


def _value(engine: Engine, hostile: Hostile, name: str, annotation: str, folder: Path) -> Any:
    dice = hostile.dice
    if name in ("path", "what"):
        return _path(hostile, name, annotation, folder)
    if name in ("progress", "recall", "report", "embedder"):
        return _object(engine, hostile, name)
    if dice.random() < 0.1:
        return hostile.misfit()
    if name in ("id", "superseded_by", "ids", "entry", "name", "cursor") and dice.random() < 0.6:
        known = dice.choice([item.id for item in engine.list(limit=20).items] or ["x"])
        entries = [entry.id for entry in engine.journal(limit=20)] or ["x"]
        return [known] if name == "ids" else dice.choice(entries) if name == "entry" else known
    return typed(hostile, annotation)


def _object(engine: Engine, hostile: Hostile, name: str) -> Any:
    """One of our own objects, or something instead of it."""
    if name == "report":
        return engine.audit()
    if name == "embedder":
        return hostile.dice.choice((FakeEmbedder(dim=32), FakeEmbedder(), hostile.text()))
    if name == "progress":
        return None
    found = engine.recall("Alice", track=False)
    if hostile.dice.random() < 0.6:
        return found
    hostile.wrong = True
    return hostile.mutated({"id": found.id, "query": "q", "now": "2024", "items": [{"id": "x"}]})


WORDS = ("episodic", "global", "working", "useful", "lives_in", "Alice", "daily", "memorist", "talk", "run", "hide")
TALK = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}]


def typed(hostile: Hostile, annotation: str) -> Any:
    """Something hostile of the type that is asked for."""
    dice = hostile.dice
    if "None" in annotation and dice.random() < 0.2:
        return None
    if "When" in annotation or "datetime" in annotation:
        return hostile.moment()
    if "Iterable" in annotation:
        return [dice.choice((hostile.text(), *AUDIT_KINDS)) for _ in range(dice.choice((0, 1, 3)))]
    if "Mapping" in annotation:
        return {hostile.text(): hostile.value() for _ in range(dice.choice((0, 1, 3)))}
    if "bool" in annotation:
        return dice.random() < 0.5
    if "int" in annotation or "float" in annotation:
        return hostile.whole() if "float" not in annotation else hostile.number()
    return dice.choice((hostile.text(), hostile.text(), hostile.text(), dice.choice(WORDS)))


def _path(hostile: Hostile, name: str, annotation: str, folder: Path) -> Any:
    """Something to read, or a name to write to that stays in the folder."""
    plain = "".join(sign for sign in hostile.plain() if sign not in "/\\\0\n.~")[:40] or "made"
    file = folder / plain
    kind = hostile.dice.randrange(4)
    if name == "what" and kind < 3:
        talk = hostile.mutated(TALK)
        hostile.wrong |= not isinstance(talk, list)
        return talk
    if kind == 0:
        hostile.wrong |= "IO" not in annotation
        return io.BytesIO(hostile.text().encode("utf-8", "surrogatepass"))
    return hostile.dice.choice((file, str(file)))


def do(engine: Engine, call: Call) -> Any:
    """Make a call; answers that are long are read to their end."""
    name, given = call
    if name in STEPS:
        return getattr(engine.session(id="run"), name)(**given)
    if name == "recall_in_context":
        given = dict(given)
        return engine.recall_in_context(given.pop("session"), given.pop("query"), **given)
    return getattr(engine, name)(**given)


# Importers


NOTES = b"""---
title: A
date: 2024-05-01
---
# One

Text [a](b).

- x
- y

```py
code
```
## Two

More.
"""


def packed_slack() -> bytes:
    packed = io.BytesIO()
    products.slack_zip(packed)
    return packed.getvalue()


def samples() -> dict[str, bytes]:
    """A valid file for every format, by its name."""
    turns = [{"role": "user", "content": "I moved to Oslo.", "timestamp": "2024-05-01T10:00:00Z"}]
    turns.append({"role": "assistant", "content": [{"type": "text", "text": "Noted."}]})
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps(chatgpt()))
    return {
        "messages.json": json.dumps(turns).encode(),
        "log.jsonl": "\n".join(map(json.dumps, turns)).encode(),
        "rows.json": json.dumps({"messages": turns, "session": "s"}).encode(),
        "notes.md": NOTES,
        "notes.txt": b"First line.\n\nAlice: hello\nBob: hi there\n\n2024-05-01 10:00 something happened\n",
        "chatgpt.json": json.dumps(chatgpt()).encode(),
        "claude.json": json.dumps(claude()).encode(),
        "mem0.json": json.dumps(mem0()).encode(),
        "chatgpt.zip": packed.getvalue(),
        "page.html": products.PAGE.encode(),
        "tides.pdf": products.pdf("High tide at noon.", "Low tide."),
        "transcript.jsonl": "\n".join(map(json.dumps, products.claude_code())).encode(),
        "memory.jsonl": "\n".join(map(json.dumps, products.mcp_memory())).encode(),
        "sam.json": json.dumps(products.letta()).encode(),
        "graph.json": json.dumps(products.graphiti()).encode(),
        "zep.json": json.dumps(products.zep()).encode(),
        "store.json": json.dumps(products.langgraph()).encode(),
        "locomo.json": json.dumps(products.locomo()).encode(),
        "longmemeval.json": json.dumps(products.longmemeval()).encode(),
        "2024-06-03.json": json.dumps(products.slack()["boats/2024-06-03.json"]).encode(),
        "slack.zip": packed_slack(),
    }


SAMPLES = samples()


def file_of(hostile: Hostile) -> tuple[str, bytes, str | None]:
    """A name, the bytes of a file with something wrong in it, and perhaps the wrong format announced."""
    dice = hostile.dice
    name = dice.choice(list(SAMPLES))
    data = SAMPLES[name]
    if name.endswith(".json") and dice.random() < 0.5:
        data = json_bytes(hostile.mutated(json.loads(data), depth=9))
    else:
        data = hostile.bytes_of(data)
    announced = dice.choice((None, None, dice.choice(format_names())))
    return dice.choice((name, name, dice.choice(list(SAMPLES)))), data, announced


def parse(folder: Path, given: tuple[str, bytes, str | None]) -> int:
    """Read a file to its end, without keeping its texts."""
    name, data, announced = given
    path = folder / name
    path.write_bytes(data)
    return sum(1 for _ in read(path, format=announced))


def import_lines(engine: Engine, hostile: Hostile) -> bytes:
    """An export with something wrong in it."""
    file = io.BytesIO()
    engine.export(file)
    lines = file.getvalue().splitlines(keepends=True)
    place = hostile.dice.randrange(len(lines))
    if hostile.dice.random() < 0.6:
        lines[place] = json_bytes(hostile.mutated(json.loads(lines[place]), depth=9)) + b"\n"
        return b"".join(lines)
    return hostile.bytes_of(b"".join(lines))


# MCP


def tool_call(server_tools: dict[str, Any], ids: list[str], hostile: Hostile) -> Call:
    """A tool, and arguments for it by its schema."""
    dice = hostile.dice
    name = dice.choice(list(server_tools))
    given: dict[str, Any] = {}
    for key, schema in server_tools[name]["properties"].items():
        if key in server_tools[name].get("required", ()) or dice.random() < 0.3:
            kind = str(schema.get("type") or schema)
            choices = schema.get("enum") or [None]
            given[key] = dice.choice((typed(hostile, kind.replace("number", "float")), dice.choice(choices)))
            if key in ("id", "name") and dice.random() < 0.5:
                given[key] = dice.choice(ids)
    if dice.random() < 0.3:
        given = hostile.mutated(given) if given else {}
    given = given if isinstance(given, dict) else {"text": given}
    try:
        return name, json.loads(json_bytes(given).decode("utf-8", "replace"))
    except RecursionError:
        return name, {}
