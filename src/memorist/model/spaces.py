"""The names that spaces may have where they share a folder or a server with others."""

from __future__ import annotations

import re

from memorist.errors import InvalidInput

SPACE_PATTERN = r"\w[\w.@-]{0,99}"
DEFAULT_SPACE = "default"


def is_space_name(name: str) -> bool:
    """Whether a space may have this name; none of them leads out of a folder."""
    return re.fullmatch(SPACE_PATTERN, name) is not None


def checked_space(name: str | None) -> str:
    """The name of a space; `default` if none is given."""
    chosen = DEFAULT_SPACE if name is None else name
    if not is_space_name(chosen):
        raise InvalidInput(
            f"{chosen!r} is not a valid space name",
            remedy="Use up to 100 letters, digits, and . @ - _, starting with a letter, digit or underscore.",
        )
    return chosen
