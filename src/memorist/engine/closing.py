"""What a closed engine does: every verb says that it is closed, also one that was running when it was closed."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import getmembers, isfunction
from typing import Any, TypeVar

from memorist.errors import Closed, Error

T = TypeVar("T")
UNGUARDED = ("close",)


def guarded(engine: type[T]) -> type[T]:
    """A class whose public methods raise `Closed` once its attribute `closed` is true.

    A running verb finishes if it can. What fails under it because the store or the threads are gone is `Closed` too.
    """
    for name, verb in getmembers(engine, isfunction):
        if not name.startswith("_") and name not in UNGUARDED:
            setattr(engine, name, _guarded(verb))
    return engine


def _guarded(verb: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(verb)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.closed:
            raise _closed()
        try:
            return verb(self, *args, **kwargs)
        except Error:
            raise
        except Exception as error:
            if self.closed:
                raise _closed() from error
            raise

    return call


def _closed() -> Closed:
    return Closed("This memory is closed", remedy="Open it again.")
