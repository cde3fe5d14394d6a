"""Regular expressions that are compiled on first use instead of at import."""

from __future__ import annotations

import re
from typing import Any, AnyStr, Generic, cast


class _Lazy(Generic[AnyStr]):
    """A proxy for a compiled pattern: the first use compiles it and copies its methods here."""

    def __init__(self, expression: AnyStr, flags: int) -> None:
        self.pattern = expression
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        for attribute in ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"):
            self.__dict__[attribute] = getattr(compiled, attribute)
        return getattr(compiled, name)


def lazy(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern for a module constant; use it like the result of `re.compile`."""
    return cast("re.Pattern[AnyStr]", _Lazy(expression, flags))
