"""Which settings files of projects the user trusts: their paths, and a hash of what they held at that time."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import cast

from memorist.errors import InvalidInput

RECORD = "trusted.json"
"""The name of the record, in the user's settings folder."""


def user_folder() -> Path:
    """The user's settings folder."""
    from platformdirs import user_config_path

    return user_config_path("memorist")


def trusted_hashes() -> dict[str, str]:
    """The hash that each trusted file had, by its real path."""
    record = user_folder() / RECORD
    try:
        data: object = json.loads(record.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise InvalidInput(f"{record} is damaged", remedy="Delete it, and trust your files again.")
    return {str(path): str(digest) for path, digest in cast("dict[object, object]", data).items()}


def is_trusted(file: Path, content: bytes) -> bool:
    """Whether the user trusts a file with this content; an edited file is no longer trusted."""
    return trusted_hashes().get(str(file.resolve())) == _digest(content)


def trust(file: Path, content: bytes) -> None:
    """Trust a file as long as it holds this content."""
    _write({**trusted_hashes(), str(file.resolve()): _digest(content)})


def distrust(file: Path) -> bool:
    """Trust a file no longer; False if it was not trusted."""
    known, path = trusted_hashes(), str(file.resolve())
    if path not in known:
        return False
    _write({other: digest for other, digest in known.items() if other != path})
    return True


def foreign(file: Path) -> str | None:
    """Why other users of this machine may have written a file, or None if only this user or root can have."""
    if not hasattr(os, "getuid"):
        return None  # Windows has no such owners and modes
    for path, what in ((file, "it"), (file.parent, "its folder")):
        state = path.stat()
        if state.st_uid not in (os.getuid(), 0):
            return f"{what} belongs to another user"
        shared = stat.S_IMODE(state.st_mode) & stat.S_IWOTH and not state.st_mode & stat.S_ISVTX
        if shared:
            return f"every user may write {what}"
    return None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(known: dict[str, str]) -> None:
    """Replace the record as a whole; nobody else can read it."""
    from memorist.files import write_text

    write_text(user_folder() / RECORD, json.dumps(known, indent=2))
