"""How much a caller may send, how often, and how much the server does at once."""

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
"""Buckets that are remembered; the one that was used longest ago goes first."""


class Rate:
    """A token bucket for each caller: so many requests a second, after a burst of twice as many."""

    def __init__(self, per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate = per_second
        self._burst = max(1.0, 2 * per_second)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> None:
        """Count one request; refuse it if the caller's bucket is empty."""
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


class Room:
    """How many requests are under way; used from the event loop alone."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.taken = 0

    @contextmanager
    def place(self) -> Generator[None]:
        """A place for one request; refuses it if there is none."""
        if self._most and self.taken >= self._most:
            raise Refusal(OVERLOADED, headers={"Retry-After": str(RETRY_SOON)})
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1


def checked_length(length: str | None, most: int) -> None:
    """Refuse a body by the length it is announced with."""
    if most and length is not None and length.isdigit() and int(length) > most:
        raise _too_large(most)


def bounded(receive: Receive, most: int, seconds: float) -> Receive:
    """The same body, refused when it grows too large, or its next piece does not come in time."""
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
        raise Refusal(TIMED_OUT, "The rest of the body did not come")

    return counted


def _too_large(most: int) -> Refusal:
    return Refusal(TOO_LARGE, f"The body is larger than {most:,} bytes")
