"""Regular expressions that are compiled when they are first used, not when their module is imported."""

from __future__ import annotations

import re
from typing import Any, AnyStr, Generic, cast


class _Lazy(Generic[AnyStr]):
    """Stands in for a compiled pattern: its first use compiles it and copies its methods here."""

    def __init__(self, expression: AnyStr, flags: int) -> None:
        self.pattern = expression
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        for attribute in ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"):
            self.__dict__[attribute] = getattr(compiled, attribute)
        return getattr(compiled, name)


def lazy(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern to keep in a module; use it as if `re.compile` had made it."""
    return cast("re.Pattern[AnyStr]", _Lazy(expression, flags))
