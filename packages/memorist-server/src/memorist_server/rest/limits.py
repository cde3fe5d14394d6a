"""Limits on requests: rate per key, number at once, and size and pace of bodies."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from time import monotonic

from anyio import move_on_after
from starlette.types import Message, Receive

from memorist_server.rest.problems import OVERLOADED, RETRY_SOON, TIMED_OUT, TOO_LARGE, TOO_MANY, Refusal

MOST_CALLERS = 10_000
"""Buckets that are kept; the least recently used one goes first."""
PACE = 16 * 1024
"""Bytes per second at which a body must arrive once its time is up."""


class Rate:
    """A token bucket per caller: a number of requests per second, after a burst of twice as many."""

    def __init__(self, per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._rate = per_second
        self._burst = max(1.0, 2 * per_second)
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str, detail: str | None = None) -> None:
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
            raise Refusal(TOO_MANY, detail, headers={"Retry-After": str(max(RETRY_SOON, wait))})


class ConcurrencyLimit:
    """Counts the requests under way, in all and per caller. Used only in the event loop."""

    def __init__(self, most: int, share: int = 0) -> None:
        self._most = most
        self._share = share
        self._by_caller = Counter[str]()
        self.taken = 0

    @contextmanager
    def place(self, caller: str | None = None) -> Generator[None]:
        """Count one request while the block runs, or refuse it if there are too many, or too many of this caller."""
        if self._most and self.taken >= self._most:
            raise Refusal(OVERLOADED, headers={"Retry-After": str(RETRY_SOON)})
        if caller is not None and self._share and self._by_caller[caller] >= self._share:
            raise Refusal(
                TOO_MANY, "This key has too many requests under way", headers={"Retry-After": str(RETRY_SOON)}
            )
        who = caller or ""
        self.taken += 1
        self._by_caller[who] += 1
        try:
            yield
        finally:
            self.taken -= 1
            self._by_caller[who] -= 1
            if not self._by_caller[who]:
                del self._by_caller[who]


def check_length(length: str | None, most: int) -> None:
    """Refuse a body whose Content-Length is too large."""
    if most and length is not None and length.isdigit() and int(length) > most:
        raise _too_large(most)


def bound_body(receive: Receive, most: int, seconds: float, clock: Callable[[], float] = monotonic) -> Receive:
    """The same body, refused if it grows too large, or if it is late as a whole.

    It has `seconds`, and more as it arrives: a large one may take longer, but one byte at a time is too slow.
    """
    came, whole, began = 0, False, clock()

    async def counted() -> Message:
        nonlocal came, whole
        left = seconds + came / PACE - (clock() - began)
        if not whole and left <= 0:
            raise _late()
        with move_on_after(None if whole else left):
            message = await receive()
            whole = not message.get("more_body", False)
            came += len(message.get("body", b""))
            if most and came > most:
                raise _too_large(most)
            return message
        raise _late()

    return counted


def _late() -> Refusal:
    return Refusal(TIMED_OUT, "The rest of the body did not arrive in time", headers={"Connection": "close"})


def _too_large(most: int) -> Refusal:
    return Refusal(TOO_LARGE, f"The body is larger than {most:,} bytes")
