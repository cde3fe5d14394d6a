"""API keys: what each may do, their secrets, and the port for where they are kept."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, Self, get_args

from memorist.errors import InvalidInput
from memorist.model import SPACE_PATTERN, When, at_least, fields_of, from_data, instant, isoformat, to_data, within
from memorist.ports import Clock
from memorist.ports.models import SystemClock
from memorist.stores.rows import Row
from memorist.text.patterns import lazy

Right = Literal["read", "write", "admin"]
RIGHTS: tuple[Right, ...] = get_args(Right)
"""What a key may do; each right includes the ones before it."""
ANY = "*"
LONGEST_NAME = 100
_SPACES = lazy(rf"\*|{SPACE_PATTERN}\*?")


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret."""

    id: str
    name: str
    space: str
    rights: Right
    max_classification: int
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def allows(self, space: str, right: str) -> bool:
        """Whether it may do this in a space. A key for `team*` covers every space whose name starts with `team`."""
        return opens(self.space, space) and right in RIGHTS[: RIGHTS.index(self.rights) + 1]

    def usable(self, now: datetime) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


def opens(pattern: str, space: str) -> bool:
    """Whether a key for `pattern` covers a space."""
    return space.startswith(pattern[:-1]) if pattern.endswith(ANY) else space == pattern


def check(key: Key) -> Key:
    """The key, if all its fields are valid."""
    if not _SPACES.fullmatch(key.space):
        raise InvalidInput(
            f"{key.space!r} is not a space", remedy="Give the name of a space, a prefix followed by *, or * for all."
        )
    checked_right(key.rights)
    within("max_classification", at_least("max_classification", key.max_classification, 0), 0, 3)
    if len(key.name) > LONGEST_NAME or not key.name.isprintable():
        raise InvalidInput(
            "The key's name is too long or unprintable", remedy=f"Use one line, up to {LONGEST_NAME} characters."
        )
    if key.expires_at is not None and key.expires_at <= key.created_at:
        raise InvalidInput("The key would already have expired", remedy="Give a time in the future.")
    return key


def checked_right(right: str) -> Right:
    """A right by its name."""
    if right not in RIGHTS:
        raise InvalidInput(f"Unknown right {right!r}", remedy=f"Choose one of {', '.join(RIGHTS)}.")
    return right


PREFIX = "rk"
_SALT, _SECRET = 16, 32
_ID = lazy(r"[0-9a-f]{12}")
COLUMNS = (*fields_of(Key), "salt", "digest")
"""The columns of a row, which hold the JSON form of a key's fields, and what its secret is compared with."""


class KeyTable(Protocol):
    """Where keys are kept; safe for several threads and processes. Reading creates nothing."""

    @property
    def waits(self) -> bool:
        """Whether a call may wait for another machine, so that it must not be made in an event loop."""
        ...

    def add(self, row: Row) -> None:
        """Keep a new key."""
        ...

    def all(self) -> list[Row]:
        """Every row, oldest first."""
        ...

    def find(self, id: str) -> Row | None:
        """The row of a key, as of now."""
        ...

    def revoke(self, id: str, at: str) -> bool:
        """Set `revoked_at` unless it is set; False if nothing changed."""
        ...

    def any(self) -> bool:
        """Whether there is a row."""
        ...

    def close(self) -> None:
        """Release files and connections; safe to call twice."""
        ...


class KeyRing:
    """Creates, finds and revokes keys; thread-safe, and safe beside other processes.

    A secret has 256 random bits, which cannot be guessed: a salted HMAC-SHA-256 protects it as well as a slow hash
    would, at no cost per request. The secret itself is shown once and never stored. Nothing is cached but that there
    are keys, so a key that any process creates or revokes counts at once.
    """

    def __init__(self, table: KeyTable | str | Path, *, clock: Clock | None = None) -> None:
        """`table` may be the path of a file."""
        self._table = _in_file(table) if isinstance(table, str | Path) else table
        self._clock = clock or SystemClock()
        self._used = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the table. Safe to call twice."""
        self._table.close()

    @property
    def waits(self) -> bool:
        """Whether a call may wait for another machine, so that it must not be made in an event loop."""
        return self._table.waits

    def create(
        self,
        *,
        space: str,
        rights: str,
        expires_at: When | None = None,
        max_classification: int = 3,
        name: str = "",
    ) -> tuple[Key, str]:
        """A new key and its secret, which is shown only here."""
        now, end = self._clock.now(), None if expires_at is None else instant(expires_at)
        id = secrets.token_hex(6)
        key = check(Key(id, name, space, checked_right(rights), max_classification, now, end))
        secret = f"{PREFIX}_{id}_{secrets.token_urlsafe(_SECRET)}"
        salt = secrets.token_bytes(_SALT)
        self._table.add((*to_data(key).values(), salt, _digest(salt, secret)))
        return key, secret

    def all(self) -> list[Key]:
        """Every key ever created, oldest first."""
        return [_key(row) for row in self._table.all()]

    def revoke(self, id: str) -> bool:
        """Revoke a key now; False if there is no such key or it was revoked before."""
        return bool(_ID.fullmatch(id)) and self._table.revoke(id, isoformat(self._clock.now()))

    def find(self, secret: str) -> Key | None:
        """The key with this secret, compared in constant time; None if it is unknown, revoked or expired."""
        parts = secret.split("_", 2)
        row = self._table.find(parts[1]) if len(parts) == 3 and _ID.fullmatch(parts[1]) else None
        *_, salt, digest = row or _NOBODY
        same = hmac.compare_digest(_digest(salt, secret), digest)
        key = _key(row) if row is not None and same else None
        return key if key is not None and key.usable(self._clock.now()) else None

    def called(self, id: str) -> Key | None:
        """The key with this id, for a caller who proved earlier to hold it; None if it may no longer be used."""
        row = self._table.find(id) if _ID.fullmatch(id) else None
        key = None if row is None else _key(row)
        return key if key is not None and key.usable(self._clock.now()) else None

    @property
    def empty(self) -> bool:
        """Whether no key was ever created. Revoked keys count: revoking the last one must not unlock the server."""
        self._used = self._used or self._table.any()
        return not self._used


def _in_file(path: str | Path) -> KeyTable:
    from memorist_server.access.files import FileKeys

    return FileKeys(Path(path))


def _digest(salt: bytes, secret: str) -> bytes:
    return hmac.digest(salt, secret.encode("utf-8", "surrogatepass"), "sha256")


def _key(row: Row) -> Key:
    """The key that a row holds."""
    return from_data(Key, dict(zip(COLUMNS[:-2], row[:-2], strict=True)))


_NOBODY: Row = (bytes(_SALT), bytes(32))
"""The end of the row that an unknown secret is compared with."""
