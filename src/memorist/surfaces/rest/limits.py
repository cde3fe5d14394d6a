"""Limits on requests: rate per key, number at once, and size and pace of bodies."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic

from anyio import move_on_after
from starlette.types import Message, Receive

from memorist.surfaces.rest.problems import OVERLOADED, RETRY_SOON, TIMED_OUT, TOO_LARGE, TOO_MANY, Refusal

MOST_CALLERS = 10_000
"""Buckets that are kept; the least recently used one goes first."""


class Rate:
    """A token bucket per caller: a number of requests per second, after a burst of twice as many."""

    def __init__(self, per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate = per_second
        self._burst = max(1.0, 2 * per_second)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> None:
        """Count one request, or refuse it if the caller's bucket is empty."""
        if not self._rate:
            return
        now = self._clock()
        left, at = self._buckets.pop(caller, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        self._buckets[caller] = (left - 1 if left >= 1 else left, now)
        while len(self._buckets) > MOST_CALLERS:
            self._buckets.popitem(last=False)
        if left < 1:
            wait = math.ceil((1 - left) / self._rate)
            raise Refusal(TOO_MANY, headers={"Retry-After": str(max(RETRY_SOON, wait))})


class ConcurrencyLimit:
    """Counts the requests under way. Used only in the event loop."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.taken = 0

    @contextmanager
    def place(self) -> Generator[None]:
        """Count one request while the block runs, or refuse it if there are too many."""
        if self._most and self.taken >= self._most:
            raise Refusal(OVERLOADED, headers={"Retry-After": str(RETRY_SOON)})
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1


def checked_length(length: str | None, most: int) -> None:
    """Refuse a body whose Content-Length is too large."""
    if most and length is not None and length.isdigit() and int(length) > most:
        raise _too_large(most)


def bounded(receive: Receive, most: int, seconds: float) -> Receive:
    """The same body, refused if it grows too large or its next chunk is late."""
    came, whole = 0, False

    async def counted() -> Message:
        nonlocal came, whole
        with move_on_after(None if whole else seconds):
            message = await receive()
            whole = not message.get("more_body", False)
            came += len(message.get("body", b""))
            if most and came > most:
                raise _too_large(most)
            return message
        raise Refusal(TIMED_OUT, "The rest of the body did not arrive in time")

    return counted


def _too_large(most: int) -> Refusal:
    return Refusal(TOO_LARGE, f"The body is larger than {most:,} bytes")
