"""Metrics of the server, and the middleware that logs and counts its requests."""

from __future__ import annotations

import threading
from asyncio import CancelledError
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import Any
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memorist.errors import Error
from memorist.text.patterns import lazy
from memorist_server.rest.logs import failure, log_private, note
from memorist_server.rest.problems import INTERNAL, RETRY_SOON, STOPPING, Refusal, of_error, of_sort

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histogram's buckets, in seconds."""
Labels = tuple[tuple[str, str], ...]
Spent = tuple[int, float]
"""How often something was done, and the seconds that it took."""


class Metrics:
    """Counts requests by method, route and status, and their durations by method and route. Thread-safe.

    Routes are templates, so that no space, memory or name becomes a label.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[Labels, int] = defaultdict(int)
        self._seconds: dict[Labels, list[float]] = {}
        self._openings: Spent = (0, 0.0)

    def opened(self, seconds: float) -> None:
        """Count a space that was opened and loaded."""
        with self._lock:
            number, sum_ = self._openings
            self._openings = number + 1, sum_ + seconds

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        by_route: Labels = (("method", method), ("route", route))
        with self._lock:
            self._requests[(*by_route, ("status", str(status)))] += 1
            row = self._seconds.setdefault(by_route, [0.0] * (len(BUCKETS) + 2))
            row[bisect_left(BUCKETS, seconds)] += 1
            row[-1] += seconds

    def text(
        self,
        values: Mapping[str, tuple[str, int]],
        spent: Mapping[str, tuple[str, Spent]],
        models: Mapping[str, Spent],
    ) -> str:
        """All counters in the Prometheus format, with values and seconds by name, each with its meaning.

        A value whose name ends with `_total` is a counter, and any other a gauge, as Prometheus names them. `models`
        are the runs of local models and their seconds, by kind.
        """
        with self._lock:
            lines = [*_counter(self._requests), *_histogram(self._seconds)]
            opened = ("Seconds in which spaces were opened and loaded.", self._openings)
        for name, (meaning, value) in {"memorist_space_opening_seconds": opened, **spent}.items():
            lines += _summary(name, meaning, {(): value})
        runs = {(("kind", kind),): value for kind, value in models.items()}
        lines += _summary("memorist_model_run_seconds", "Seconds in which local models ran, by kind.", runs)
        for name, (meaning, value) in values.items():
            sort = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} {sort}", f"{name} {value}"]
        return "\n".join(lines) + "\n"


def _counter(requests: Mapping[Labels, int]) -> Iterator[str]:
    name = "memorist_requests_total"
    yield f"# HELP {name} Requests answered, by method, route and status."
    yield f"# TYPE {name} counter"
    for labels, count in sorted(requests.items()):
        yield f"{name}{_written(labels)} {count}"


def _histogram(seconds: Mapping[Labels, list[float]]) -> Iterator[str]:
    name = "memorist_request_seconds"
    yield f"# HELP {name} Request durations in seconds, by method and route."
    yield f"# TYPE {name} histogram"
    for labels, row in sorted(seconds.items()):
        total = 0
        for bound, count in zip((*map(str, BUCKETS), "+Inf"), row, strict=False):
            total += int(count)
            yield f"{name}_bucket{_written((*labels, ('le', bound)))} {total}"
        yield f"{name}_sum{_written(labels)} {row[-1]:.6f}"
        yield f"{name}_count{_written(labels)} {total}"


def _summary(name: str, meaning: str, values: Mapping[Labels, Spent]) -> Iterator[str]:
    yield f"# HELP {name} {meaning}"
    yield f"# TYPE {name} summary"
    for labels, (number, seconds) in sorted(values.items()):
        yield f"{name}_sum{_written(labels)} {seconds:.6f}"
        yield f"{name}_count{_written(labels)} {number}"


def _written(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


HEADER = "x-request-id"
_ID = lazy(r"[A-Za-z0-9_.:-]{1,64}")
NO_ROUTE = "none"
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
OTHER = "other"
"""The name of all other methods: anybody can send any number of them, and each name would be a counter."""


class RequestObserver:
    """Logs and counts every request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and record its outcome."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        id = _request_id(Headers(scope=scope).get(HEADER))
        scope.setdefault("state", {})["request_id"] = id
        started, status = perf_counter(), 0

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = id
            await send(message)

        try:
            await self._app(scope, receive, told)
        except Refusal as refusal:
            await _answer(of_sort(refusal.sort, id, refusal.detail, refusal.headers), scope, receive, told)
        except CancelledError:  # the time to stop has come, and uvicorn cancels what still runs
            if status:
                raise
            await _answer(of_sort(STOPPING, id, headers={"Retry-After": str(RETRY_SOON)}), scope, receive, told)
        except Error as error:
            log_private(error, id)
            if status:
                raise
            await _answer(of_error(error, id), scope, receive, told)
        except Exception as error:
            failure("request failed", error, request_id=id, route=route_of(scope))
            if status:
                raise  # the response has started and can only be cut off
            await _answer(of_sort(INTERNAL, id), scope, receive, told)
        finally:
            self._write(scope, status, perf_counter() - started)

    def _write(self, scope: Scope, status: int, seconds: float) -> None:
        route, method, state = route_of(scope), method_of(scope), scope["state"]
        caller = state.get("caller")
        self._metrics.count(method, route, status, seconds)
        note(
            "request",
            request_id=state["request_id"],
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 3),
            key=caller and caller.id,
            space=scope.get("path_params", {}).get("space"),
        )


async def _answer(response: Response, scope: Scope, receive: Receive, send: Send) -> None:
    await response(scope, receive, send)


def _request_id(given: str | None) -> str:
    """The caller's own id if it is safe to log, else a new one."""
    return given if given and _ID.fullmatch(given) else uuid4().hex


def method_of(scope: Scope) -> str:
    """The method, if it is a known one."""
    return scope["method"] if scope["method"] in METHODS else OTHER


def route_of(scope: Scope) -> str:
    """The template of the path, because paths may contain names and ids."""
    route: Any = scope.get("route")
    return getattr(route, "path_format", None) or getattr(route, "path", NO_ROUTE)
