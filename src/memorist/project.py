"""The project that an agent works on, as a scope of memories: what one project teaches is not told in another."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from memorist.model.identity import fingerprint

FOLDERS = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR")
"""Variables in which clients name the folder of the project, wherever the agent has gone meanwhile."""
GLOBAL = "global"
LONGEST_POINTER = LONGEST_PATH = 4096


def project_of(folder: str | None = None) -> Path | None:
    """The root of the project that a folder belongs to: its git repository, else the folder itself.

    None if there is none: in the home folder, or at the root of the file system.
    """
    named = next((value for name in FOLDERS if (value := os.environ.get(name))), None) or folder
    if named and len(named) > LONGEST_PATH:  # no folder has such a name, and each of its parts would be looked at
        return None
    try:
        here = (Path(named) if named else Path.cwd()).resolve()
        root = next((_repository(place) for place in (here, *here.parents) if (place / ".git").exists()), here)
        return None if root in (Path.home().resolve(), Path(root.anchor)) or not root.is_dir() else root
    except (OSError, ValueError, RuntimeError):
        return None


def scope_of(project: Path | None) -> str:
    """The scope of a project's memories. It is made of the path, so no file in a project can choose another's."""
    if project is None:
        return GLOBAL
    name = re.sub(r"[^\w.-]+", "-", project.name)[:40].strip("-") or "folder"
    return f"project:{name}-{fingerprint(str(project))[:10]}"


def _repository(place: Path) -> Path:
    """The folder of a repository; of a further work tree, that of the first, so that all share their memories.

    A work tree is known by a file that names a folder of the repository, which names the file in turn.
    """
    pointer = place / ".git"
    with suppress(OSError, ValueError):
        if pointer.is_file():
            inner = Path(_read(pointer).removeprefix("gitdir:").strip())
            shared = inner.parent.parent
            back = Path(_read(inner / "gitdir").strip()).resolve()
            if inner.parent.name == "worktrees" and shared.name == ".git" and back == pointer.resolve():
                return shared.parent.resolve()
    return place


def _read(file: Path) -> str:
    with file.open(encoding="utf-8") as opened:
        return opened.read(LONGEST_POINTER)
