"""The names that spaces may have where they share a folder or a server with others."""

from __future__ import annotations

import re

from memorist.errors import InvalidInput

SPACE_PATTERN = r"\w[\w.@-]{0,99}"
LONGEST_SPACE = 200
"""The longest name of a space in bytes: with its ending it is a file name, which may have 255."""
DEFAULT_SPACE = "default"


def is_space_name(name: str) -> bool:
    """Whether a space may have this name; none of them leads out of a folder."""
    return re.fullmatch(SPACE_PATTERN, name) is not None and len(name.encode("utf-8", "replace")) <= LONGEST_SPACE


def checked_space(name: str | None) -> str:
    """The name of a space; `default` if none is given."""
    chosen = DEFAULT_SPACE if name is None else name
    check_space_length(chosen)
    if re.fullmatch(SPACE_PATTERN, chosen) is None:
        raise InvalidInput(
            f"{chosen[:120]!r} is not a valid space name",
            remedy="Use up to 100 letters, digits, and . @ - _, starting with a letter, digit or underscore.",
        )
    return chosen


def check_space_length(name: str) -> None:
    """Refuse a name that is too long for a file name or a server, wherever the space is to be kept."""
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers may be untyped
        raise InvalidInput(f"The name of a space is a {type(name).__name__}", remedy="Give a string.")
    if (size := len(name.encode("utf-8", "replace"))) > LONGEST_SPACE:
        raise InvalidInput(
            f"The name of the space has {size} bytes in UTF-8, more than {LONGEST_SPACE}",
            remedy=f"Use at most {LONGEST_SPACE} bytes, such as {LONGEST_SPACE // 3} Chinese characters.",
        )
