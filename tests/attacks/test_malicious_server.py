"""A client asks a server that lies: it raises our errors, keeps its memory small, and shows its key to nobody else."""

from __future__ import annotations

import gzip
import io
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from memorist.client import Client, Unreachable, connect, transport
from memorist.errors import Error, InvalidInput

Answer = tuple[int, dict[str, str], bytes]
KEY = "rk_0123456789ab_secret"


class Liar(ThreadingHTTPServer):
    """Gives the same answer to every request, and counts the keys that it was shown."""

    answer: Answer = (200, {}, b"")
    endless = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.keys: list[str | None] = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what we hope for."""


class _Handler(BaseHTTPRequestHandler):
    server: Liar  # pyright: ignore[reportIncompatibleVariableOverride]  # that is who starts it

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.server.keys.append(self.headers.get("authorization"))
        status, headers, body = self.server.answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        while self.server.endless:
            self.wfile.write(b"x" * 65536)

    do_POST = do_DELETE = do_GET  # noqa: N815


@pytest.fixture
def liar() -> Iterator[Liar]:
    with Liar() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def client(liar: Liar) -> Iterator[Client]:
    with connect(liar.url, key=KEY, retries=0, timeout=5) as one:
        yield one


def verbs(client: Client, folder: Path) -> dict[str, Callable[[], object]]:
    file = folder / "notes.md"
    file.write_text("# Notes\n\nThe kettle is new.\n")
    return {
        "remember": lambda: client.remember("x"),
        "remember_many": lambda: client.remember_many(["x"]),
        "relate": lambda: client.relate("Ann", "lives_in", "Oslo"),
        "forget": lambda: client.forget("x"),
        "session": lambda: client.session("Book a table."),
        "jobs": client.jobs,
        "recall": lambda: client.recall("x"),
        "why_not": lambda: client.why_not("x", "y"),
        "get": lambda: client.get("x"),
        "list": client.list,
        "history": lambda: client.history("x"),
        "stats": client.stats,
        "recipes": client.recipes,
        "ingest": lambda: client.ingest([{"role": "user", "content": "x"}], progress=lambda _: None),
        "ingest a file": lambda: client.ingest(file),
        "feedback": lambda: client.feedback("x", "useful"),
        "invalidate": lambda: client.invalidate("x"),
        "tidy": client.tidy,
        "sleep": client.sleep,
        "wake_up": client.wake_up,
        "consolidate": client.consolidate,
        "audit": client.audit,
        "journal": client.journal,
        "undo": lambda: client.undo("x"),
        "reembed": client.reembed,
        "export": lambda: client.export(folder / "space.jsonl"),
        "export to a stream": lambda: client.export(io.BytesIO()),
        "backup": lambda: client.backup(folder / "space.db"),
        "import": lambda: client.import_(file),
    }


LIES: dict[str, Answer] = {
    "nothing": (200, {}, b""),
    "null": (200, {}, b"null"),
    "a number": (200, {}, b"1"),
    "a text": (200, {}, b'"x"'),
    "a wrong list": (200, {}, b"[3]"),
    "a page": (200, {"Content-Type": "text/html"}, b"<html>Sign in</html>"),
    "items that are none": (200, {}, b'{"items":3}'),
    "items of another type": (200, {}, b'{"items":[3],"cursor":{}}'),
    "items without explanations": (200, {}, b'{"items":[{"id":3}]}'),
    "a session without an id": (200, {}, b'{"id":5,"goal":5}'),
    "deep data": (200, {}, b"[" * 100_000),
    "an event that is no JSON": (200, {}, b"event: done\ndata: {x\n\n"),
    "an event of another type": (200, {}, b"event: problem\ndata: []\n\n"),
    "progress of another type": (200, {}, b'event: progress\ndata: {"done":"x"}\n\n'),
    "a redirection": (307, {"Location": "http://localhost:9/"}, b"{}"),
    "bytes that are not gzip": (200, {"Content-Encoding": "gzip"}, b"xxxx"),
    "a problem of another type": (400, {}, b"[]"),
    "a problem with a wrong status": (400, {}, b'{"type":"urn:memorist:x","status":"x","request_id":5}'),
    "a problem with an infinite status": (400, {}, b'{"type":"urn:memorist:x","status":1e400}'),
    "a problem with wrong texts": (400, {}, b'{"type":"urn:memorist:invalid-input","detail":{},"remedy":[1]}'),
}


@pytest.mark.parametrize("lie", LIES)
def test_every_verb_raises_an_error_of_ours(liar: Liar, client: Client, tmp_path: Path, lie: str) -> None:
    liar.answer = LIES[lie]
    for verb in verbs(client, tmp_path).values():
        with pytest.raises(Error):
            verb()
    assert {path.name for path in tmp_path.iterdir()} == {"notes.md"}, "what is no copy replaces none"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirection_carries_the_key_nowhere(liar: Liar, client: Client, tmp_path: Path, status: int) -> None:
    with Liar() as other:
        threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        liar.answer = status, {"Location": f"http://localhost:{other.server_port}/v1"}, b"{}"
        for verb in verbs(client, tmp_path).values():
            with pytest.raises(Unreachable):
                verb()
        other.shutdown()
    assert other.keys == [] and set(liar.keys) == {f"Bearer {KEY}"}


@pytest.mark.parametrize("verb", ["remember", "ingest", "import"])
def test_an_answer_without_an_end_is_given_up(
    liar: Liar, client: Client, tmp_path: Path, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "LONGEST_EVENT", 2**20)
    monkeypatch.setattr(client._transport, "_limit", 2**20)  # pyright: ignore[reportPrivateUsage]
    liar.endless = True
    with pytest.raises(Unreachable):
        verbs(client, tmp_path)[verb]()


@pytest.mark.parametrize("verb", ["remember", "ingest", "import"])
def test_a_compressed_bomb_is_not_unpacked(
    liar: Liar, client: Client, tmp_path: Path, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "LONGEST_EVENT", 2**20)
    monkeypatch.setattr(client._transport, "_limit", 2**20)  # pyright: ignore[reportPrivateUsage]
    liar.answer = 200, {"Content-Encoding": "gzip"}, gzip.compress(bytes(8 * 2**20))
    with pytest.raises(Unreachable):
        verbs(client, tmp_path)[verb]()


@pytest.mark.parametrize("key", ["rk_ключ", "rk_a\r\nX-Other: 1", "rk a", "rk_\x00"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        connect("http://127.0.0.1:9", key=key)
    assert key not in str(refused.value)
