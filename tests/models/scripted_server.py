"""A real HTTP server on the loopback interface: it answers as a test tells it and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)


@dataclass(frozen=True)
class Answer:
    """`body` goes out as JSON unless it is bytes; `hold` waits for the test's end; `cut` drops the line."""

    body: object = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hold: bool = False
    cut: bool = False

    @property
    def raw(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Script = Callable[[Request], Answer]


class ScriptedServer:
    """Answers with each of `script` in turn, then with `default`, which may be a function of the request."""

    def __init__(self) -> None:
        self.script: list[Answer] = []
        self.default: Answer | Script = Answer({})
        self.requests: list[Request] = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def bodies(self) -> list[Any]:
        return [request.json for request in self.requests]

    def reply(self, request: Request) -> Answer:
        with self._lock:
            self.requests.append(request)
            if self.script:
                return self.script.pop(0)
        return self.default(request) if callable(self.default) else self.default

    def wait_for_end(self) -> None:
        self._over.wait(30)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(owner: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = owner.reply(Request(self.command, self.path, headers, self.rfile.read(length)))
            if answer.hold:
                owner.wait_for_end()
            if answer.hold or answer.cut:
                return
            self.send_response(answer.status)
            for name, value in {"content-length": str(len(answer.raw)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.raw)

        do_GET = do_POST = _serve  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
