"""Hostile requests for the REST application, sent to it in this process, and what is wrong with its answers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode

import memorist
from memorist_server.access.home import key_ring
from memorist_server.rest.app import create_app
from memorist_server.rest.server import Settings
from tests.attacks.fuzz_targets import CANARY, CLASSIFIED, KEPT_APART, PLAIN, SAMPLES, SECRET, typed
from tests.attacks.hostile import Hostile, json_bytes

Request = tuple[str, str, str, dict[str, str], bytes]
"""Method, path, query, headers and body."""
Answer = tuple[int, dict[str, str], bytes]


class Rest:
    """The application with a key that sees little of one space, and nothing of another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "spaces"
        db = f"{self.folder}/"
        for space in ("agent", "vault"):
            with memorist.open(db, space=space, embedder="none", config={}) as engine:
                text = KEPT_APART if space == "vault" else PLAIN[0]
                self.id = engine.remember(text).id
                if space == "agent":
                    engine.remember(CLASSIFIED, classification=3)
                    self.ids = [item.id for item in engine.list(max_classification=3).items]
        with key_ring(db) as ring:
            self.low = ring.create(space="agent", rights="admin", max_classification=1)[1]
            self.high = ring.create(space="agent", rights="admin")[1]
        self.app = create_app(Settings(db=db, embedder="none", rate=0))
        self.app.state.server.accepting = True
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
        names = [parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "query"]
        given = {
            name: typed(hostile, hostile.dice.choice(("str", "int", "bool", "When")))
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
            **{"path": unquote(path), "raw_path": path.encode(), "query_string": query.encode(), "headers": raw},
            **{"server": ("127.0.0.1", 80), "client": ("127.0.0.1", 9), "root_path": "", "state": {}},
        }
        sent, told = [{"type": "http.request", "body": body, "more_body": False}], list[Any]()

        async def receive() -> Any:
            return sent.pop() if sent else await asyncio.Event().wait()  # the caller stays until it is answered

        async def send(message: Any) -> None:
            told.append(message)

        await self.app(scope, receive, send)
        answer = b"".join(message.get("body", b"") for message in told[1:])
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
