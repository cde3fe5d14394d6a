"""Where hostile input goes: the verbs, the importers, the REST application and the MCP server, each in this process."""

from __future__ import annotations

import asyncio
import inspect
import io
import json
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args
from urllib.parse import quote, urlencode

import memorist
from memorist.engine.engine import Engine
from memorist.engine.verbs import SessionVerbs, Verbs
from memorist.errors import Error
from memorist.model import FactFields, Fields, Filters, RecallOptions, keywords_of
from memorist.remember.ingest import FORMATS, read
from memorist.testing.fakes import FakeClock, FakeEmbedder
from memorist.upkeep.audit.report import KINDS
from tests.attacks.hostile import Hostile, json_bytes
from tests.remember.ingest.exports import chatgpt, claude, mem0

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
NOT_YET = {"labels no memory"}
"""Findings of an audit that are known and wait for their cause to be removed."""
GROUPS: dict[str, Any] = {
    "Fields": Fields,
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
    wrong = {finding.reason for finding in engine.audit(kinds=("orphan", "drift")).findings} - NOT_YET
    assert not wrong


# Verbs


Call = tuple[str, dict[str, Any]]
OTHER = {"close", "space", "session"}
VERBS = [name for name, one in vars(Verbs).items() if inspect.isfunction(one) and name[0] != "_" and name not in OTHER]
STEPS = ["step", "commit"]


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
                given[key] = _value(engine, hostile, key, str(types[key]), folder)
        elif parameter.default is parameter.empty or dice.random() < 0.5:
            given[parameter.name] = _value(engine, hostile, parameter.name, str(parameter.annotation), folder)
    return name, given


def _value(engine: Engine, hostile: Hostile, name: str, annotation: str, folder: Path) -> Any:
    dice = hostile.dice
    if name in ("path", "what"):
        return _path(hostile, name, folder)
    if name == "progress":
        return None
    if name == "recall":
        found = engine.recall("Alice", track=False)
        if dice.random() < 0.6:
            return found
        hostile.wrong = True
        return hostile.mutated({"id": found.id, "query": "q", "now": "2024", "items": [{"id": "x"}]})
    if name == "report":
        return engine.audit()
    if name == "embedder":
        return dice.choice((FakeEmbedder(dim=32), FakeEmbedder(), hostile.text()))
    if dice.random() < 0.1:
        return hostile.misfit()
    if name in ("id", "superseded_by", "ids", "entry", "name", "cursor") and dice.random() < 0.6:
        known = dice.choice([item.id for item in engine.list(limit=20).items] or ["x"])
        entries = [one.id for one in engine.journal(limit=20)] or ["x"]
        return [known] if name == "ids" else dice.choice(entries) if name == "entry" else known
    return _typed(hostile, annotation)


WORDS = (
    "episodic",
    "global",
    "working",
    "useful",
    "lives_in",
    "Alice",
    "daily",
    "memorist",
    "talk",
    "run",
    "duplicate",
)


def _typed(hostile: Hostile, annotation: str) -> Any:
    """Something hostile of the type that is asked for."""
    dice = hostile.dice
    if "None" in annotation and dice.random() < 0.2:
        return None
    if "When" in annotation or "datetime" in annotation:
        return hostile.moment()
    if "Iterable" in annotation:
        return [dice.choice((hostile.text(), *KINDS)) for _ in range(dice.choice((0, 1, 3)))]
    if "Mapping" in annotation:
        return {hostile.text(): hostile.value() for _ in range(dice.choice((0, 1, 3)))}
    if "bool" in annotation:
        return dice.random() < 0.5
    if "int" in annotation or "float" in annotation:
        return hostile.whole() if "float" not in annotation else hostile.number()
    return dice.choice((hostile.text(), hostile.text(), hostile.text(), dice.choice(WORDS)))


def _path(hostile: Hostile, name: str, folder: Path) -> Any:
    """Something to read, or a name to write to that stays in the folder."""
    plain = "".join(sign for sign in hostile.plain() if sign not in "/\\\0\n.~")[:40] or "made"
    file = folder / plain
    kind = hostile.dice.randrange(4)
    hostile.wrong |= kind == 0 and name != "path"
    if name == "what" and kind < 3:
        hostile.wrong = True
        return hostile.mutated(
            [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}]
        )
    if kind == 0:
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
        "notes.md": b"---\ntitle: A\ndate: 2024-05-01\n---\n# One\n\nText [a](b).\n\n- x\n- y\n\n```py\ncode\n```\n## Two\n\nMore.\n",
        "notes.txt": b"First line.\n\nAlice: hello\nBob: hi there\n\n2024-05-01 10:00 something happened\n",
        "chatgpt.json": json.dumps(chatgpt()).encode(),
        "claude.json": json.dumps(claude()).encode(),
        "mem0.json": json.dumps(mem0()).encode(),
        "chatgpt.zip": packed.getvalue(),
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
    announced = dice.choice((None, None, dice.choice(FORMATS)))
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


# REST


Request = tuple[str, str, str, dict[str, str], bytes]
"""Method, path, query, headers and body."""
Answer = tuple[int, dict[str, str], bytes]


class Rest:
    """The application with a key that sees little of one space, and nothing of another."""

    def __init__(self, folder: Path) -> None:
        from memorist.access.keys import KeyRing, keys_file
        from memorist.surfaces.rest.app import create_app
        from memorist.surfaces.rest.server import Settings

        self.folder = folder / "spaces"
        db = f"{self.folder}/"
        for space in ("agent", "vault"):
            with memorist.open(db, space=space, embedder="none", config={}) as engine:
                text = KEPT_APART if space == "vault" else PLAIN[0]
                self.id = engine.remember(text).id
                if space == "agent":
                    engine.remember(CLASSIFIED, classification=3)
                    self.ids = [item.id for item in engine.list(max_classification=3).items]
        with KeyRing(keys_file(db)) as ring:
            self.low = ring.create(space="agent", rights="admin", max_classification=1)[1]
            self.high = ring.create(space="agent", rights="admin")[1]
        self.app = create_app(Settings(db=db, embedder="none", rate=0))
        self.app.state.server.ready = True
        self.routes = [
            (method, path, operation)
            for path, methods in self.app.openapi()["paths"].items()
            for method, operation in methods.items()
        ]
        self._schemas = self.app.openapi()["components"]["schemas"]

    def close(self) -> None:
        self.app.state.server.close()

    def request(self, hostile: Hostile) -> Request:
        dice = hostile.dice
        method, path, operation = dice.choice(self.routes)
        for name in ("space", "id", "name"):
            usual = ["agent"] * 8 + ["vault"] if name == "space" else ["run", "Alice", self.id, *self.ids]
            value = dice.choice(usual) if dice.random() < 0.85 else hostile.plain()
            path = path.replace(f"{{{name}}}", quote(value[:300], safe=""))
        query = self._query(hostile, operation)
        content = operation.get("requestBody", {}).get("content", {})
        body = self._body(hostile, content["application/json"]["schema"]) if "application/json" in content else b""
        if content and not body:
            body = hostile.bytes_of(dice.choice(list(SAMPLES.values())))
        if dice.random() < 0.03:
            method, body = dice.choice(("put", "patch", "options", "head", "trace")), b""
        return method.upper(), path, query, self._headers(hostile), body

    def _query(self, hostile: Hostile, operation: Any) -> str:
        names = [one["name"] for one in operation.get("parameters", ()) if one["in"] == "query"]
        given = {
            name: _typed(hostile, hostile.dice.choice(("str", "int", "bool", "When")))
            for name in names
            if hostile.dice.random() < 0.2
        }
        if hostile.dice.random() < 0.05:
            given[hostile.plain()] = hostile.plain()
        return urlencode({name: str(value)[:2000] for name, value in given.items()}, errors="replace")

    def _body(self, hostile: Hostile, schema: Any) -> bytes:
        valid = self._example(hostile, schema)
        kind = hostile.dice.randrange(10)
        if kind < 3:
            return json_bytes(valid)
        if kind < 8:
            return json_bytes(hostile.mutated(valid))
        return hostile.bytes_of(json_bytes(valid))

    def _example(self, hostile: Hostile, schema: Any, depth: int = 5) -> Any:
        """A value that a schema allows, apart from what is said in it."""
        dice = hostile.dice
        if "$ref" in schema:
            schema = self._schemas[schema["$ref"].rsplit("/", 1)[-1]]
        if "anyOf" in schema:
            return self._example(hostile, dice.choice(schema["anyOf"]), depth)
        if "enum" in schema or "const" in schema:
            return dice.choice(schema.get("enum", [schema.get("const")]))
        kind = schema.get("type")
        if kind == "object":
            needed = schema.get("required", ())
            some = {
                name: one
                for name, one in schema.get("properties", {}).items()
                if name in needed or dice.random() < 0.15
            }
            return {name: self._named(hostile, name, one, depth) for name, one in some.items()} if depth else {}
        if kind == "array":
            return (
                [self._example(hostile, schema.get("items", {}), depth - 1) for _ in range(dice.choice((0, 1, 2)))]
                if depth
                else []
            )
        numbers = {"integer": 1, "number": 0.5, "boolean": dice.random() < 0.5, "null": None}
        return numbers[kind] if kind in numbers else hostile.text()

    def _named(self, hostile: Hostile, name: str, schema: Any, depth: int) -> Any:
        if name in ("id", "ids") and hostile.dice.random() < 0.7:
            one = hostile.dice.choice([*self.ids, self.id])
            return [one] if name == "ids" else one
        if name == "query" and hostile.dice.random() < 0.5:
            return "What is the word of the vault?"
        return self._example(hostile, schema, depth - 1)

    def _headers(self, hostile: Hostile) -> dict[str, str]:
        dice = hostile.dice
        key = dice.choice((self.low, self.high))
        headers = {"host": "127.0.0.1", "content-type": "application/json", "authorization": f"Bearer {key}"}
        if dice.random() < 0.05:
            headers["authorization"] = dice.choice(("", "Bearer", "Basic x", f"Bearer {hostile.plain()}", key))
        if dice.random() < 0.15:
            headers["idempotency-key"] = dice.choice((hostile.plain()[:300], "same"))
        if dice.random() < 0.1:
            name = dice.choice(("accept", "content-type", "host", "x-request-id", "content-length", "origin", "range"))
            headers[name] = dice.choice((hostile.plain()[:200], "text/event-stream", "-1", "*/*; q=x"))
        return headers

    async def ask(self, request: Request) -> Answer:
        """Send a request straight to the application."""
        method, path, query, headers, body = request
        raw = [(name.encode(), value.encode("utf-8", "replace")) for name, value in headers.items()]
        scope = {
            **{"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http"},
            **{"path": _unquoted(path), "raw_path": path.encode(), "query_string": query.encode(), "headers": raw},
            **{"server": ("127.0.0.1", 80), "client": ("127.0.0.1", 9), "root_path": "", "state": {}},
        }
        sent, told = [{"type": "http.request", "body": body, "more_body": False}], list[Any]()

        async def receive() -> Any:
            return sent.pop() if sent else await asyncio.Event().wait()  # the caller stays until it is answered

        async def send(message: Any) -> None:
            told.append(message)

        await self.app(scope, receive, send)
        answer = b"".join(one.get("body", b"") for one in told[1:])
        return told[0]["status"], {name.decode(): value.decode() for name, value in told[0]["headers"]}, answer

    def problem(self, request: Request, answer: Answer) -> str | None:
        """What is wrong with an answer, if anything is."""
        status, headers, body = answer
        text = body.decode("utf-8", "replace")
        if status >= 500 and status != 503:
            return f"status {status}"
        hidden = (CANARY,) if self.high in request[3]["authorization"] else (CANARY, SECRET)
        if any(word in text for word in hidden):
            return "it tells what the caller may not see"
        if status >= 400 and request[0] != "HEAD":
            if not headers.get("content-type", "").startswith("application/problem+json"):
                return f"{status} is no problem document"
            if {"type", "title", "status"} - json.loads(text).keys():
                return "the problem lacks a field"
            if "Traceback" in text or str(self.folder.parent) in text or ".py" in text:
                return "the problem tells of the machine"
        return None


def _unquoted(path: str) -> str:
    from urllib.parse import unquote

    return unquote(path)


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
            given[key] = dice.choice((_typed(hostile, kind.replace("number", "float")), dice.choice(choices)))
            if key in ("id", "name") and dice.random() < 0.5:
                given[key] = dice.choice(ids)
    if dice.random() < 0.3:
        given = hostile.mutated(given) if given else {}
    given = given if isinstance(given, dict) else {"text": given}
    try:
        return name, json.loads(json_bytes(given).decode("utf-8", "replace"))
    except RecursionError:
        return name, {}


def refused_in_our_words(error: BaseException) -> bool:
    """Whether an error is one that we raise on purpose."""
    return isinstance(error, Error)


Fails = Callable[[Any], bool]
UNION = get_args  # typing helpers for the generators above
RANDOM = random.Random
