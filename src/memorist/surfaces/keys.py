"""API keys: what one may do, and the file that keeps them."""

from __future__ import annotations

import hmac
import re
import secrets
import threading
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, get_args

from memorist.config import default_db
from memorist.engine.open import locate
from memorist.errors import InvalidInput, StoreError
from memorist.model import When, instant, isoformat, within
from memorist.ports import Clock
from memorist.ports.models import SystemClock
from memorist.recall.request import at_least
from memorist.stores.rows import Row
from memorist.stores.sqlite.connection import Connections

Right = Literal["read", "write", "admin"]
RIGHTS: tuple[Right, ...] = get_args(Right)
"""What a key may do, each with all that stands before it."""
ANY = "*"
LONGEST_NAME = 100
_SPACES = re.compile(r"\*|\w[\w.@-]{0,99}\*?")


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it may be shown: all but its secret."""

    id: str
    name: str
    space: str
    rights: Right
    max_classification: int
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def allows(self, space: str, right: str) -> bool:
        """Whether it may do this in a space: its own, or one that begins as its own does before a final `*`."""
        return opens(self.space, space) and right in RIGHTS[: RIGHTS.index(self.rights) + 1]

    def usable(self, now: datetime) -> bool:
        """Whether it has been neither revoked nor outlived."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def to_data(self) -> dict[str, Any]:
        """Its JSON form."""
        return {
            "id": self.id,
            "name": self.name,
            "space": self.space,
            "rights": self.rights,
            "max_classification": self.max_classification,
            "created_at": isoformat(self.created_at),
            "expires_at": self.expires_at and isoformat(self.expires_at),
            "revoked_at": self.revoked_at and isoformat(self.revoked_at),
        }


def opens(pattern: str, space: str) -> bool:
    """Whether a key for `pattern` reaches a space."""
    return space.startswith(pattern[:-1]) if pattern.endswith(ANY) else space == pattern


def check(key: Key) -> Key:
    """The key, unless something in it is refused."""
    if not _SPACES.fullmatch(key.space):
        raise InvalidInput(
            f"{key.space!r} names no space", remedy="Give a space, the beginning of some and *, or * for all."
        )
    checked_right(key.rights)
    within("max_classification", at_least("max_classification", key.max_classification, 0), 0, 3)
    if len(key.name) > LONGEST_NAME or not key.name.isprintable():
        raise InvalidInput(
            "The key's name is too long or unprintable", remedy=f"Use one line, up to {LONGEST_NAME} characters."
        )
    if key.expires_at is not None and key.expires_at <= key.created_at:
        raise InvalidInput("The key would have expired already", remedy="Let it expire in the future.")
    return key


def checked_right(right: str) -> Right:
    """A right by its name."""
    if right not in RIGHTS:
        raise InvalidInput(f"There is no right {right!r}", remedy=f"Choose one of {', '.join(RIGHTS)}.")
    return right


FILE = ".keys.db"
"""No space can have this name: theirs begin with a letter or a digit."""
PREFIX = "rk"
_SALT, _SECRET = 16, 32
_TABLE = """CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, space TEXT NOT NULL, rights TEXT NOT NULL,
    max_classification INTEGER NOT NULL, created_at TEXT NOT NULL, expires_at TEXT, revoked_at TEXT,
    salt BLOB NOT NULL, digest BLOB NOT NULL) STRICT"""
_FIELDS = "id, name, space, rights, max_classification, created_at, expires_at, revoked_at"


def keys_file(db: str | None) -> Path:
    """Where the keys for a database URL lie: beside its spaces, or in the user's own folder if those are no files.

    A path without a suffix where nothing is yet counts as a folder, as it does for `memorist serve`.
    """
    if db is not None and (db == ":memory:" or ("://" in db and not db.startswith("sqlite:"))):
        return default_db() / FILE
    path, in_folder = locate(db, None)
    to_be_folder = not (in_folder or path.suffix or path.exists())
    return (path if to_be_folder else path.parent) / FILE


class KeyRing:
    """Creates, finds and revokes keys; thread-safe, and safe beside other processes.

    A secret is 256 random bits, which nobody can try through: a salted HMAC-SHA-256 keeps it as safe as a slow
    hash would, and costs a request nothing. The secret itself is told once and kept nowhere.
    """

    def __init__(self, path: str | Path, *, clock: Clock | None = None) -> None:
        self._path = Path(path)
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._open: Connections | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the file; twice is harmless."""
        with self._lock:
            if self._open is not None:
                self._open.close(tidy=False)
                self._open = None

    def create(
        self,
        *,
        space: str,
        rights: str,
        expires_at: When | None = None,
        max_classification: int = 3,
        name: str = "",
    ) -> tuple[Key, str]:
        """A new key and its secret, which cannot be had again."""
        now, end = self._clock.now(), None if expires_at is None else instant(expires_at)
        id = secrets.token_hex(6)
        key = check(Key(id, name, space, checked_right(rights), max_classification, now, end))
        secret = f"{PREFIX}_{id}_{secrets.token_urlsafe(_SECRET)}"
        salt = secrets.token_bytes(_SALT)
        times = (isoformat(now), end and isoformat(end))
        row = (id, name, space, key.rights, max_classification, *times, None, salt, _digest(salt, secret))
        with self._made().writing() as db:
            db.execute(f"INSERT INTO keys ({_FIELDS}, salt, digest) VALUES (?,?,?,?,?,?,?,?,?,?)", row)  # noqa: S608
        return key, secret

    def all(self) -> list[Key]:
        """Every key that was ever made, the oldest first."""
        return [_key(row) for row in self._rows(f"SELECT {_FIELDS} FROM keys ORDER BY created_at, id")]  # noqa: S608

    def revoke(self, id: str) -> bool:
        """End a key now; False when there is none, or it has ended that way before."""
        if (connections := self._found()) is None:
            return False
        now = isoformat(self._clock.now())
        with connections.writing() as db:
            ended = db.execute(
                "UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL RETURNING id", (now, id)
            )
            return bool(list(ended))

    def find(self, secret: str) -> Key | None:
        """The key of a secret, compared in constant time; None when it is unknown, revoked or expired."""
        parts = secret.split("_", 2)
        rows = self._rows(f"SELECT {_FIELDS}, salt, digest FROM keys WHERE id = ?", parts[1]) if len(parts) == 3 else []  # noqa: S608
        *fields, salt, digest = rows[0] if rows else _NOBODY
        same = hmac.compare_digest(_digest(salt, secret), digest)
        key = _key(tuple(fields)) if rows and same else None
        return key if key is not None and key.usable(self._clock.now()) else None

    @property
    def empty(self) -> bool:
        """Whether no key was ever made; one that ended still counts, so that revoking the last opens no door."""
        return not self._rows("SELECT 1 FROM keys LIMIT 1")

    def _rows(self, sql: str, *values: str) -> list[Row]:
        if (connections := self._found()) is None:
            return []
        with connections.reading() as db:
            return list(db.execute(sql, values))

    def _found(self) -> Connections | None:
        """The open file, if there is one: looking makes none."""
        if self._open is not None or self._path.exists():
            return self._made()
        return None

    def _made(self) -> Connections:
        with self._lock:
            if self._open is None:
                self._open = _connected(self._path)
            return self._open


def _connected(path: Path) -> Connections:
    """The file, made for this user alone where there is none; SQLite gives its journal the same mode."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder", remedy="Give the path of a file for the keys.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be made ({error.strerror})", remedy="Give this user permission to write its folder."
        ) from error
    connections = Connections(path, synchronous="full")
    connections.create()
    with connections.reading() as db:
        if db.first("SELECT 1 FROM sqlite_schema WHERE name = 'keys'") is None:
            with connections.writing() as writer:
                writer.execute(_TABLE)
    return connections


def _digest(salt: bytes, secret: str) -> bytes:
    return hmac.digest(salt, secret.encode("utf-8", "surrogatepass"), "sha256")


def _key(row: Row) -> Key:
    id, name, space, rights, most, created, expires, revoked = row
    return Key(id, name, space, checked_right(rights), most, instant(created), _moment(expires), _moment(revoked))


def _moment(text: str | None) -> datetime | None:
    return None if text is None else instant(text)


_NOBODY: Row = (*(None,) * 8, bytes(_SALT), bytes(32))
"""What a secret of no key is compared with."""
