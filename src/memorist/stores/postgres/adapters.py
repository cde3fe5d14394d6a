"""Values that PostgreSQL cannot take as they are: texts with NUL characters, and half-precision vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector.psycopg.halfvec import register_halfvec_info
from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

TEXT = 25
"""The object id of the type `text`."""


def escape_nul(text: str) -> str:
    """Escape NUL characters, which a PostgreSQL text cannot hold; texts sort as before."""
    return text.replace("\1", "\1\2").replace("\0", "\1\1") if "\0" in text or "\1" in text else text


def unescape_nul(text: str) -> str:
    """The inverse of `escape_nul`."""
    return text.replace("\1\1", "\0").replace("\1\2", "\1") if "\1" in text else text


class _TextDumper(Dumper):
    oid = TEXT

    def dump(self, obj: str) -> Buffer:
        return escape_nul(obj).encode()


class _TextDumperBinary(_TextDumper):
    format = Format.BINARY


class _TextLoader(Loader):
    def load(self, data: Buffer) -> str:
        return unescape_nul(str(data, "utf-8"))


class _TextLoaderBinary(_TextLoader):
    format = Format.BINARY


class _HalfvecLoader(Loader):
    """Reads the binary format: dimension and padding, two bytes each, then the numbers, all big-endian."""

    format = Format.BINARY

    def load(self, data: Buffer) -> NDArray[np.float16]:
        return np.frombuffer(bytes(data), ">f2", offset=4).astype(np.float16)


def adapt(connection: Connection[Any]) -> None:
    """Register our adapters on a connection; those for vectors only if the server has pgvector."""
    adapters = connection.adapters
    for dumper in (_TextDumperBinary, _TextDumper):
        adapters.register_dumper(str, dumper)
    for loader in (_TextLoader, _TextLoaderBinary):
        adapters.register_loader(TEXT, loader)
    halfvec = TypeInfo.fetch(connection, "halfvec")
    if halfvec is not None:
        register_halfvec_info(connection, halfvec)
        adapters.register_loader(halfvec.oid, _HalfvecLoader)
