"""Calls of verbs: access checks, threads, idempotency, progress events, uploads and downloads."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from anyio import to_thread
from fastapi import Depends
from fastapi import Path as PathParameter
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from memorist.engine.engine import Engine, up_to
from memorist.engine.vocabulary import run_of
from memorist.errors import Error, InvalidInput
from memorist.files import Scratch
from memorist.model import SPACE_PATTERN, to_data
from memorist_server.access.idempotency import KeyReused, RequestUnderWay, Ticket
from memorist_server.rest.auth import UPLOADS, Caller
from memorist_server.rest.logs import failure, log_private
from memorist_server.rest.problems import (
    FORBIDDEN,
    INTERNAL,
    READ_ONLY,
    RETRY_SOON,
    REUSED_KEY,
    TIMED_OUT,
    UNDER_WAY,
    Refusal,
    of_error,
    of_sort,
)
from memorist_server.rest.server import Server
from memorist_server.rest.threads import OutOfTime

T = TypeVar("T")
Verb = Callable[[Engine], T]
Progress = Callable[[int], None]
IDEMPOTENCY = "idempotency-key"
LONGEST_KEY = 255


@dataclass(frozen=True, slots=True)
class Call:
    """A request whose caller has the right to make it."""

    server: Server
    request: Request
    caller: Caller
    space: str
    right: str

    async def run(self, verb: Verb[T], *, long: bool = False, makes: bool = False, adds: bool = False) -> T:
        """What a verb returns, run in a thread within the time limit; `makes` creates a missing space.

        A verb that makes or `adds` something is refused if the space is full.

        The engine that it gets shows what the caller may see, as if nothing else were stored: no route checks again.
        """

        def work() -> T:
            with spaces.use(self.space, create=makes) as engine:
                if makes or adds:
                    self.server.quota.check(engine)
                return verb(up_to(engine, self.caller.max_classification))

        spaces = self.server.spaces
        opened = partial(spaces.opened, self.space, create=makes)
        try:
            return await self.server.threads.run(self.caller.id, work, self._patience(long), self.space, opened)
        except OutOfTime:
            raise Refusal(TIMED_OUT) from None

    async def answer(
        self, verb: Verb[Any], *, long: bool = False, makes: bool = False, adds: bool = False, erases: bool = False
    ) -> Any:
        """The JSON form of what a verb returns. A write with an Idempotency-Key runs once; a repeat gets its answer."""
        ticket = None if self.right == "read" or self.request.url.path.endswith(UPLOADS) else await self._ticket()

        def find(engine: Engine) -> Any:
            found = to_data(verb(engine))
            if erases and not self.server.answers.forget(self.space, self._texts_of):
                found["pending"] = True
            return found

        if ticket is None:
            return await self.run(find, long=long, makes=makes, adds=adds)
        once = partial(self._once, ticket, self._patience(long))
        return await self.run(lambda engine: once(lambda: find(engine)), long=long, makes=makes, adds=adds)

    def _texts_of(self, ids: set[str]) -> dict[str, str]:
        """The texts of memories and the goals of sessions, whoever may see them."""
        with self.server.spaces.use(self.space, create=False) as engine:
            texts = {id: one.text for id, one in engine.store.get(sorted(ids)).items()}
            runs = {id: run_of(engine.store, id) for id in ids - texts.keys()}
        return texts | {id: run.goal or "" for id, run in runs.items() if run is not None}

    def _once(self, ticket: Ticket, patience: float, find: Callable[[], Any]) -> Any:
        """The stored answer, or the one found now; it is stored even if the caller no longer waits for it."""
        answers = self.server.answers
        try:
            known = answers.begin(ticket, patience)
        except KeyReused:
            raise Refusal(REUSED_KEY) from None
        except RequestUnderWay:
            raise Refusal(UNDER_WAY, headers={"Retry-After": str(RETRY_SOON)}) from None
        if known is not None:
            return json.loads(known)
        try:
            found = find()
        except BaseException:
            answers.drop(ticket)
            raise
        answers.keep(ticket, to_json(found))
        return found

    def _patience(self, long: bool) -> float:
        settings = self.server.settings
        return settings.upkeep_timeout if long else settings.timeout

    async def _ticket(self) -> Ticket | None:
        key = self.request.headers.get(IDEMPOTENCY)
        if key is None:
            return None
        if not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
            raise InvalidInput(
                "The Idempotency-Key is empty, too long or unprintable", remedy="Send up to 255 printable characters."
            )
        parts = (self.request.method, self.request.url.path, self.request.url.query)
        digest = hashlib.sha256("\n".join(parts).encode() + b"\n" + await self.request.body()).hexdigest()
        return Ticket(self.caller.id or "", key, self.space, digest)


SpaceName = Annotated[
    str,
    PathParameter(
        pattern=f"^{SPACE_PATTERN}$",
        description="The space: up to 100 letters, digits, and . @ - _, starting with a letter, digit or underscore.",
        examples=["agent"],
    ),
]


def _call_with(right: str) -> Callable[[Request, str], Awaitable[Call]]:
    async def call(request: Request, space: SpaceName) -> Call:
        caller: Caller = request.state.caller
        if not caller.allows(space, right):
            raise Refusal(FORBIDDEN, f"This key may not {right} in that space")
        server: Server = request.app.state.server
        if right != "read" and server.settings.read_only:
            raise Refusal(READ_ONLY)
        server.space_rate.take(space, "This space has exceeded its rate limit")
        return Call(server, request, caller, space, right)

    return call


ReadCall = Annotated[Call, Depends(_call_with("read"))]
WriteCall = Annotated[Call, Depends(_call_with("write"))]
AdminCall = Annotated[Call, Depends(_call_with("admin"))]


def to_json(data: Any) -> bytes:
    """Data as JSON."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


EVENTS = "text/event-stream"
SILENCE = 15.0
"""Seconds of silence after which a comment is sent, so that neither the caller nor a proxy gives up."""
STILL_HERE = b": still here\n\n"
Work = Callable[[Progress], Coroutine[Any, Any, Any]]
"""A long piece of work: it reports its progress and returns the answer's data."""


def wants_events(request: Request) -> bool:
    """Whether the caller asks for progress events."""
    return EVENTS in request.headers.get("accept", "")


async def with_progress(request: Request, work: Work) -> Any:
    """The answer alone, or a stream of events: `progress` with the number done, then `done` or `problem`."""
    if not wants_events(request):
        return await work(lambda more: None)
    return StreamingResponse(_events(request.state.request_id, work), media_type=EVENTS)


async def _events(request_id: str, work: Work) -> AsyncGenerator[bytes]:
    loop, told = asyncio.get_running_loop(), asyncio.Queue[int | None]()
    task = asyncio.ensure_future(_settled(request_id, work, lambda more: _tell(loop, told, more)))
    task.add_done_callback(lambda _: told.put_nowait(None))
    done, more = 0, 0
    while more is not None:
        try:
            more = await asyncio.wait_for(told.get(), SILENCE)
        except TimeoutError:
            yield STILL_HERE
            continue
        if more is not None:
            done += more
            yield _event("progress", to_json({"done": done}))
    yield task.result()


def _tell(loop: asyncio.AbstractEventLoop, told: asyncio.Queue[int | None], more: int) -> None:
    loop.call_soon_threadsafe(told.put_nowait, more)


async def _settled(request_id: str, work: Work, progress: Progress) -> bytes:
    """The last event. The status has been sent already, so that a problem is an event too."""
    try:
        return _event("done", to_json(await work(progress)))
    except Refusal as refusal:
        problem = of_sort(refusal.sort, request_id, refusal.detail)
    except Error as error:
        log_private(error, request_id)
        problem = of_error(error, request_id)
    except Exception as error:
        failure("request failed", error, request_id=request_id)
        problem = of_sort(INTERNAL, request_id)
    return _event("problem", bytes(problem.body))


def _event(name: str, data: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


async def receive_file(call: Call, name: str) -> tuple[Path, Scratch]:
    """The body as a file in a new folder, which the caller must close."""
    scratch = await _scratch(call)
    path = scratch.folder / name
    try:
        with path.open("wb") as file:
            async for chunk in call.request.stream():
                await to_thread.run_sync(file.write, chunk)
    except BaseException:
        scratch.close()
        raise
    return path, scratch


async def download(
    call: Call, make: Callable[[Path], Coroutine[Any, Any, object]], name: str, media_type: str
) -> Response:
    """A file that is complete before its first byte is sent, so that a failure shows in the status."""
    scratch = await _scratch(call)
    try:
        await make(scratch.folder / name)
    except BaseException:
        scratch.close()
        raise
    gone = BackgroundTask(scratch.close)
    return _WholeFile(scratch.folder / name, media_type=media_type, filename=name, background=gone)


class _WholeFile(FileResponse):
    """A file that is sent whole: it is made anew for each request, so that parts of it would not fit together."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, whatever range was asked for."""
        headers = [(name, value) for name, value in scope["headers"] if name not in (b"range", b"if-range")]
        await super().__call__({**scope, "headers": headers}, receive, send)


async def _scratch(call: Call) -> Scratch:
    """A private folder: if this process is killed, the next one removes it, in a folder of spaces also a `forget`."""
    return await to_thread.run_sync(Scratch, call.server.home.catalogue.transit / "transfer")
