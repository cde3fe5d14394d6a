"""Texts and vectors on their way to a server and back: it refuses NUL in a text, so that travels in disguise.

NUL becomes U+0001 U+0001, and U+0001 becomes U+0001 U+0002; every other text stays as it is, so that texts can be told
apart as before and sort as before.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg.halfvec import register_halfvec_info
from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

TEXT = 25
"""The number of the type `text`."""


def disguised(text: str) -> str:
    """A text as the server keeps it."""
    return text.replace("\1", "\1\2").replace("\0", "\1\1") if "\0" in text or "\1" in text else text


def revealed(text: str) -> str:
    """A text as it was; the inverse of `disguised`."""
    return text.replace("\1\1", "\0").replace("\1\2", "\1") if "\1" in text else text


class _Out(Dumper):
    oid = TEXT

    def dump(self, obj: str) -> Buffer:
        return disguised(obj).encode()


class _OutBinary(_Out):
    format = Format.BINARY


class _In(Loader):
    def load(self, data: Buffer) -> str:
        return revealed(str(data, "utf-8"))


class _InBinary(_In):
    format = Format.BINARY


class _HalvesIn(Loader):
    """Dimension and padding, two bytes each, then the numbers, all big-endian."""

    format = Format.BINARY

    def load(self, data: Buffer) -> NDArray[np.float16]:
        return np.frombuffer(bytes(data), ">f2", offset=4).astype(np.float16)


def adapt(connection: Connection[Any]) -> None:
    """Teach a connection our texts and, where the server has pgvector, half-precision vectors."""
    adapters = connection.adapters
    for dumper in (_OutBinary, _Out):
        adapters.register_dumper(str, dumper)
    for loader in (_In, _InBinary):
        adapters.register_loader(TEXT, loader)
    halfvec = TypeInfo.fetch(connection, "halfvec")
    if halfvec is not None:
        register_halfvec_info(connection, halfvec)
        adapters.register_loader(halfvec.oid, _HalvesIn)


__all__ = ["HalfVector", "adapt", "disguised", "revealed"]
