"""Adapters: one module per agent framework, each behind an extra, imported when it is used."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import memorist
from memorist.errors import MissingExtra
from memorist.verbs import Verbs

Source = Verbs | str | Path
"""What an adapter takes: an open memory, or where one is: a file, a database URL, or the address of a server."""


def opened(source: Source, *, space: str | None = None) -> Verbs:
    """The memory of an adapter, whose `close` closes it if it was opened here."""
    if not isinstance(source, str | Path):
        return source
    if str(source).startswith(("http://", "https://")):
        return memorist.connect(str(source), space=space or "default")
    return memorist.open(source, space=space)


@contextmanager
def framework(extra: str) -> Generator[None]:
    """Import a framework; if a package of it is missing, raise an error that names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        problem = f"The framework of this adapter is not installed: there is no module {error.name!r}"
        raise MissingExtra(problem, remedy=f"Install it with: pip install 'memorist[{extra}]'") from error
