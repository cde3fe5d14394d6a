"""Bodies and answers too large or too slow for one piece: uploads, downloads, and progress as server-sent events."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable, Coroutine
from pathlib import Path
from typing import Any

from anyio import to_thread
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse

from memorist.errors import Error
from memorist.ports import Progress
from memorist.surfaces.rest.calls import to_json
from memorist.surfaces.rest.problems import INTERNAL, Refusal, of_error, of_sort
from memorist.surfaces.rest.watch import failure

EVENTS = "text/event-stream"
SILENCE = 15.0
"""Seconds after which a caller is told that somebody is still there, lest it or a proxy give up."""
STILL_HERE = b": still here\n\n"
Work = Callable[[Progress], Coroutine[Any, Any, Response]]
"""Something that takes long: told where to report its progress, it gives the answer."""


def wants_events(request: Request) -> bool:
    """Whether the caller asks for progress as it happens."""
    return EVENTS in request.headers.get("accept", "")


async def with_progress(request: Request, work: Work) -> Response:
    """The answer alone, or events: `progress` with how much is done, then `done` or `problem`."""
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
    answer = task.result()
    yield _event("done" if answer.status_code < 400 else "problem", bytes(answer.body))


def _tell(loop: asyncio.AbstractEventLoop, told: asyncio.Queue[int | None], more: int) -> None:
    loop.call_soon_threadsafe(told.put_nowait, more)


async def _settled(request_id: str, work: Work, progress: Progress) -> Response:
    """What came of it, a problem included: the status has been sent, so that it can only be told."""
    try:
        return await work(progress)
    except Refusal as refusal:
        return of_sort(refusal.sort, request_id, refusal.detail)
    except Error as error:
        return of_error(error, request_id)
    except Exception as error:
        failure("request failed", error, request_id=request_id)
        return of_sort(INTERNAL, request_id)


def _event(name: str, data: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


async def received(request: Request, name: str) -> Path:
    """The body as a file of that name in a folder of its own, which the caller must remove."""
    folder = Path(await to_thread.run_sync(tempfile.mkdtemp))
    path = folder / name
    try:
        with path.open("wb") as file:
            async for chunk in request.stream():
                await to_thread.run_sync(file.write, chunk)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return path


async def download(make: Callable[[Path], Coroutine[Any, Any, object]], name: str, media_type: str) -> Response:
    """A file that is made whole before its first byte is sent, so that a failure is told by the status."""
    folder = Path(await to_thread.run_sync(tempfile.mkdtemp))
    try:
        await make(folder / name)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    gone = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(folder / name, media_type=media_type, filename=name, background=gone)
