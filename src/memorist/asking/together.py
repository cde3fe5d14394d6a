"""Several questions at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def together(calls: Sequence[Callable[[], T]]) -> list[T]:
    """What each call gives, in order; all run at once, the last in this thread.

    The others get threads of their own: one that waits for a model must not be one that searches wait for.
    """
    if len(calls) < 2:
        return [call() for call in calls]
    *others, last = calls
    with ThreadPoolExecutor(len(others), thread_name_prefix="memorist-asking") as pool:
        waiting = [pool.submit(call) for call in others]
        final = last()
        return [*(future.result() for future in waiting), final]
