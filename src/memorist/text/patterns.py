"""Regular expressions that are compiled on first use instead of at import."""

from __future__ import annotations

import re
from collections.abc import Iterable
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


def any_of(words: Iterable[str]) -> str:
    """An expression for any of some words, by their common beginnings: one search for it is faster than many `in`."""
    tree: dict[str, Any] = {}
    for word in words:
        branch = tree
        for letter in word:
            branch = branch.setdefault(letter, {})
        branch[_END] = None
    return _alternatives(tree)


_END = ""


def _alternatives(tree: dict[str, Any]) -> str:
    if _END in tree:
        return ""  # a word that is the beginning of others stands for them
    found = [re.escape(letter) + _alternatives(branch) for letter, branch in sorted(tree.items())]
    return found[0] if len(found) == 1 else f"(?:{'|'.join(found)})"


LIKE_ASCII = lazy("[\u0130\u0131\u017f\u212a]")
"""The letters beyond ASCII that a pattern takes for one of it if it ignores case: İ, ı, ſ and K, the sign of kelvin."""
