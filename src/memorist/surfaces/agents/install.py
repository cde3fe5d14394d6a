"""Writing the MCP entry and the hooks of a client into its settings files, and taking them out again.

A record beside the user's settings says what each file was before: as long as nobody changes it, `uninstall` restores
it byte by byte. A file that was changed since loses our entries and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, cast

from memorist import trust
from memorist.errors import InvalidInput, StoreError, without_passwords
from memorist.files import PRIVATE, replacing, write_text
from memorist.surfaces.agents import edit_json, edit_toml
from memorist.surfaces.agents.clients import Client, Start, is_hook_command

NAME = "memorist"
RECORD = "installed.json"
"""The name of the record, in the user's settings folder: by file and name, hashes before and after, and the copy."""
LARGEST = 64 * 1024 * 1024
REMEDY = "Give this user permission to write it."


@dataclass(frozen=True, slots=True)
class Entry:
    """A value for a settings file: under a path of names, or one of the list under that path."""

    path: tuple[str, ...]
    value: Any
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one settings file: its bytes before and after; None if there is no file."""

    file: Path
    name: str
    entries: Sequence[Entry]
    before: bytes | None
    after: bytes | None
    secret: bool = False
    """Whether it holds a password; then only this user may read the file."""

    @property
    def needed(self) -> bool:
        """False if the file is as it should be already."""
        return self.before != self.after

    @property
    def settings(self) -> dict[str, Any]:
        """What the entries say, as it may be printed: without passwords."""
        text = reduce(lambda text, one: edit_json.added(text, one.path, one.value, listed=one.listed), self.entries, "")
        return json.loads(without_passwords(text or "{}"))


def entries_of(
    client: Client, start: Start, name: str, *, project: Path | None, hooks: bool
) -> dict[Path, list[Entry]]:
    """What to write, by file: those in a project's folder, or the user's own."""
    found: dict[Path, list[Entry]] = {}
    file = _place(client.title, client.user(), client.project, project)
    found[file] = [Entry((client.servers, name), client.entry(start))]
    if client.hooks is not None and hooks:
        file = _place(client.title, client.hooks.user(), client.hooks.project, project)
        into = found.setdefault(file, [])
        if client.hooks.version is not None:
            into.append(Entry(("version",), client.hooks.version))
        for hook in client.hooks.events:
            into.append(Entry(("hooks", hook.native), client.hooks.entry(hook, client.name, start), listed=True))
    return found


def _place(title: str, user: Path, inside: str | None, project: Path | None) -> Path:
    if project is None:
        return user
    if inside is None:
        raise InvalidInput(f"{title} has no settings file for one project", remedy="Leave --project out.")
    return project / inside


def plan(file: Path, entries: Sequence[Entry], name: str, *, secret: bool = False) -> Change:
    """The change that adds entries to a file; writes nothing."""
    before = _bytes(file)
    text = _text(file, before)
    try:
        after = text if _has(file, text, entries) else _with(file, _without(file, text, entries), entries)
    except ValueError as error:
        raise _unreadable(file, str(error)) from None
    return Change(file, name, entries, before, before if after == text else after.encode(), secret)


def plan_removal(file: Path, entries: Sequence[Entry], name: str) -> Change:
    """The change that takes entries out of a file; writes nothing. An unchanged file becomes what it was before."""
    before = _bytes(file)
    known = _record().get(_id(file, name))
    if known is not None and before is not None and known["after"] == _digest(before):
        if known["before"] is None:
            return Change(file, name, entries, before, None)
        copy = _bytes(Path(str(known["copy"])))
        if copy is not None and _digest(copy) == known["before"]:
            return Change(file, name, entries, before, copy)
    text = _text(file, before)
    try:
        after = _without(file, text, entries)
    except ValueError as error:
        raise _unreadable(file, str(error)) from None
    return Change(file, name, entries, before, before if after == text else after.encode())


def written(change: Change) -> Path | None:
    """Write a file and note what it was before; returns the copy of the old one, if there was one to change."""
    copy = apply(change)
    if change.needed:
        _note(change, copy)
    return copy


def taken_out(change: Change) -> Path | None:
    """Write a file without our entries, and drop the note about it; returns the copy of the old one."""
    copy, known = apply(change), _record()
    if known.pop(_id(change.file, change.name), None) is not None:
        _write_record(known)
    return copy


def apply(change: Change) -> Path | None:
    """Write the file atomically; returns the copy of the old file, or None if there was none or nothing changed."""
    try:
        if change.secret and change.before is not None:
            change.file.chmod(PRIVATE)  # the new file and the copy take over the mode
        if not change.needed:
            return None
        if change.after is None:
            change.file.unlink()
            return None
        change.file.parent.mkdir(parents=True, exist_ok=True)
        copy = None if change.before is None else _copied(change.file)
        with replacing(change.file.resolve(), remedy=REMEDY) as part:  # of a link, such as to dotfiles, the target
            part.write_bytes(change.after)
    except OSError as error:
        raise StoreError(f"{change.file} cannot be written ({error.strerror})", remedy=REMEDY) from error
    return copy


def _note(change: Change, copy: Path | None) -> None:
    """Note what the file was before; if we wrote that ourselves, what it was before the first time."""
    known, id = _record(), _id(change.file, change.name)
    old = known.get(id)
    if old is None or change.before is None or old["after"] != _digest(change.before):
        old = {"before": _digest(change.before), "copy": copy and str(copy)}
    _write_record({**known, id: {**old, "after": _digest(change.after)}})


# Texts


def _has(file: Path, text: str, entries: Iterable[Entry]) -> bool:
    """Whether a text holds all entries already."""
    data: object = edit_toml.parsed(text) if file.suffix == ".toml" else edit_json.parsed(text).value
    if not isinstance(data, dict):
        raise ValueError("it is not an object")
    return all(_holds(cast("dict[str, object]", data), one) for one in entries)


def _holds(data: object, entry: Entry) -> bool:
    for name in entry.path:
        data = cast("dict[str, object]", data).get(name) if isinstance(data, dict) else None
    return entry.value in cast("list[object]", data) if entry.listed and isinstance(data, list) else data == entry.value


def _with(file: Path, text: str, entries: Sequence[Entry]) -> str:
    for one in entries:
        if file.suffix == ".toml":
            text = edit_toml.added(text, one.path[0], one.path[1], one.value)
        elif one.path != ("version",) or one.path[0] not in edit_json.parsed(text).value:
            text = edit_json.added(text, one.path, one.value, listed=one.listed)
    return text


def _without(file: Path, text: str, entries: Sequence[Entry]) -> str:
    """A text without our server and our hooks, and without lists and objects that are empty now."""
    if file.suffix == ".toml":
        return reduce(lambda text, one: edit_toml.removed(text, one.path[0], one.path[1]), entries, text)
    servers = {one.path for one in entries if not one.listed and one.path != ("version",)}
    events = {one.path for one in entries if one.listed}
    bare = edit_json.removed(
        text, lambda path, value: path in servers or (path[:2] in events and len(path) > 2 and _is_ours(value))
    )
    if bare == text:
        return text
    emptied = {path[:depth] for path in (*servers, *events) for depth in range(1, len(path) + 1)}
    return edit_json.removed(bare, lambda path, value: path in emptied and value in ({}, []))


def _is_ours(value: object) -> bool:
    """Whether an entry of a list of hooks runs nothing but our command."""
    if not isinstance(value, dict):
        return False
    entry = cast("dict[str, object]", value)
    if isinstance(entry.get("hooks"), list):
        inner = cast("list[object]", entry["hooks"])
        return bool(inner) and all(map(_is_ours, inner))
    return is_hook_command(entry.get("command"))


def _bytes(file: Path) -> bytes | None:
    try:
        with file.open("rb") as opened:
            content = opened.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(file, str(error.strerror)) from None
    if len(content) > LARGEST:
        raise _unreadable(file, "it is too large")
    return content


def _text(file: Path, content: bytes | None) -> str:
    try:
        return (content or b"").decode()
    except UnicodeDecodeError:
        raise _unreadable(file, "it is not UTF-8") from None


def _unreadable(file: Path, why: str) -> InvalidInput:
    kind = "TOML" if file.suffix == ".toml" else "JSON"
    return InvalidInput(
        f"{file} cannot be read as {kind} and was not changed ({why})",
        remedy="Fix it and try again, or add what --dry-run prints by hand.",
    )


def _copied(file: Path) -> Path:
    """Copy the file to the first free name, so that no earlier copy is overwritten."""
    number = 0
    while (copy := file.with_name(f"{file.name}.bak{number or ''}")).exists():
        number += 1
    return Path(shutil.copy2(file, copy))


# The record


def _record() -> dict[str, dict[str, str | None]]:
    """What is noted; nothing if the record is damaged, because uninstalling works without it."""
    try:
        data: object = json.loads((trust.user_folder() / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    found = cast("dict[str, object]", data).items()
    return {
        id: cast("Any", one) for id, one in found if isinstance(one, dict) and {"before", "after", "copy"} <= one.keys()
    }


def _write_record(known: dict[str, dict[str, str | None]]) -> None:
    write_text(trust.user_folder() / RECORD, json.dumps(known, indent=2))


def _id(file: Path, name: str) -> str:
    return f"{file.absolute()}#{name}"


def _digest(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()
