"""Writing the MCP entry and the hooks of a client into its settings files, and taking them out again.

A record in the user's settings folder says what each file was before, and a folder beside the record keeps its bytes:
as long as nobody changes the file, `uninstall` restores it byte by byte. A file that was changed since loses our
entries and nothing else. What is noted is written before the file, so a kill in between loses nothing, and copies that
no note names are swept. Nothing of ours stays in the client's folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import stat
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, cast

from memorist import trust
from memorist.errors import InvalidInput, StoreError, without_passwords
from memorist.files import PRIVATE, make_folder, replacing, write_text
from memorist_agents import edit_json, edit_toml, preview
from memorist_agents.clients import AgentClient, Start, is_hook_command

NAME = "memorist"
RECORD = "installed.json"
"""The name of the record, in the user's settings folder: by file and name, hashes before and after, and new folders."""
COPIES = "installed"
"""The folder beside the record with the files that it names, each by the hash of its content."""
LARGEST = 64 * 1024 * 1024
REMEDY = "Give this user permission to write it."


@dataclass(frozen=True, slots=True)
class SettingsEntry:
    """A value for a settings file: under a path of names, or one of the list under that path."""

    path: tuple[str, ...]
    value: Any
    listed: bool = False


@dataclass(frozen=True, slots=True)
class FileChange:
    """A change of one settings file: its bytes before and after; None if there is no file."""

    file: Path
    name: str
    entries: Sequence[SettingsEntry]
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

    @property
    def diff(self) -> str:
        """The change as it may be printed: a unified diff in the file's own format, without secrets."""
        before, after = (_text(self.file, content) for content in (self.before, self.after))
        return preview.diff(before, after, str(self.file))


def entries_of(
    client: AgentClient, start: Start, name: str, *, project: Path | None, hooks: bool
) -> dict[Path, list[SettingsEntry]]:
    """What to write, by file: those in a project's folder, or the user's own."""
    found: dict[Path, list[SettingsEntry]] = {}
    file = _place(client.title, client.user(), client.project, project)
    found[file] = [SettingsEntry((client.servers, name), client.entry(start))]
    if client.hooks is not None and hooks:
        file = _place(client.title, client.hooks.user(), client.hooks.project, project)
        into = found.setdefault(file, [])
        if client.hooks.version is not None:
            into.append(SettingsEntry(("version",), client.hooks.version))
        for hook in client.hooks.events:
            into.append(
                SettingsEntry(("hooks", hook.native), client.hooks.entry(hook, client.name, start), listed=True)
            )
    return found


def _place(title: str, user: Path, inside: str | None, project: Path | None) -> Path:
    if project is None:
        return user
    if inside is None:
        raise InvalidInput(f"{title} has no settings file for one project", remedy="Leave --project out.")
    return project / inside


def plan(file: Path, entries: Sequence[SettingsEntry], name: str, *, secret: bool = False) -> FileChange:
    """The change that adds entries to a file; writes nothing."""
    before = _bytes(file)
    text = _text(file, before)
    try:
        after = text if _has(file, text, entries) else _with(file, _without(file, text, entries), entries)
    except ValueError as error:
        raise _unreadable(file, str(error)) from None
    return FileChange(file, name, entries, before, before if after == text else after.encode(), secret)


def plan_removal(file: Path, entries: Sequence[SettingsEntry], name: str) -> FileChange:
    """The change that takes entries out of a file; writes nothing. An unchanged file becomes what it was before."""
    before = _bytes(file)
    known = _record().get(_id(file, name))
    if known is not None and before is not None and known["after"] == _digest(before):
        if known["before"] is None:
            return FileChange(file, name, entries, before, None)
        for place in (_copy(str(known["before"])), known.get("copy")):
            copy = _bytes(Path(place)) if place else None
            if copy is not None and _digest(copy) == known["before"]:
                return FileChange(file, name, entries, before, copy)
    text = _text(file, before)
    try:
        after = _without(file, text, entries)
    except ValueError as error:
        raise _unreadable(file, str(error)) from None
    return FileChange(file, name, entries, before, before if after == text else after.encode())


@contextmanager
def alone() -> Generator[None]:
    """Let no other process install or uninstall meanwhile."""
    try:
        descriptor = os.open(Path.home(), os.O_RDONLY)
    except OSError as error:
        raise StoreError(f"your home folder cannot be read ({error.strerror})", remedy="Set HOME.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_all(changes: Sequence[FileChange]) -> list[Path | None]:
    """Write files and note what they were before; returns the copies of the old ones. All are written, or none."""
    copies: list[Path | None] = []
    known = _record()
    missing = {folder for edit in changes for folder in _folders(edit.file) if not folder.exists()}
    for number, change in enumerate(changes):
        try:
            copies.append(_note(change) if change.needed else None)
            apply(change)
        except BaseException:
            for done in reversed(changes[:number]):
                with suppress(StoreError):
                    apply(replace(done, before=done.after, after=done.before))
            with suppress(StoreError):
                _write_record(known)
            _remove_empty(map(str, missing))
            raise
    return copies


def take_out(change: FileChange) -> None:
    """Write a file without our entries, drop the note about it, and remove the folders and the copy that we made."""
    apply(change)
    known = _record()
    old = known.pop(_id(change.file, change.name), None)
    if old is None:
        return
    _write_record(known)
    _remove_empty(old.get("made") or ())
    copy = old.get("copy")  # earlier versions put it beside the file
    if copy and _digest(_bytes(Path(copy))) == old["before"]:
        with suppress(OSError):
            Path(copy).unlink()


def _remove_empty(folders: Iterable[str]) -> None:
    for folder in sorted(folders, key=len, reverse=True):
        with suppress(OSError):  # it is not empty, or gone
            Path(folder).rmdir()


def apply(change: FileChange) -> None:
    """Write the file atomically, unless another program wrote it since it was read."""
    try:
        if change.secret and change.before is not None:
            change.file.chmod(PRIVATE)  # the new file takes over the mode
        if not change.needed:
            return
        if _bytes(change.file) != change.before:
            raise StoreError(f"{change.file} was changed meanwhile and was not written", remedy="Try again.")
        if change.after is None:
            change.file.unlink()
            return
        change.file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(change.file.resolve(), remedy=REMEDY) as part:  # of a link, such as to dotfiles, the target
            part.write_bytes(change.after)
    except OSError as error:
        raise StoreError(f"{change.file} cannot be written ({error.strerror})", remedy=REMEDY) from error


def _note(change: FileChange) -> Path | None:
    """Note what the file was before; if we wrote that ourselves, what it was before the first time.

    Returns the copy of the old file.
    """
    known, id = _record(), _id(change.file, change.name)
    old = known.get(id)
    if old is None or change.before is None or old["after"] != _digest(change.before):
        ours = {folder for entry in known.values() for folder in entry.get("made") or ()}
        made = [str(folder) for folder in _folders(change.file) if not folder.exists() or str(folder) in ours]
        old = {"before": _digest(change.before), "made": made}
    copy = None
    if change.before is not None:
        copy = _copy(str(_digest(change.before)))
        make_folder(copy.parent)
        with replacing(copy) as part:
            part.write_bytes(change.before)
    _write_record({**known, id: {**old, "after": _digest(change.after)}}, keep=copy)
    return copy


# Texts


def _has(file: Path, text: str, entries: Iterable[SettingsEntry]) -> bool:
    """Whether a text holds all entries already."""
    data: object = edit_toml.parsed(text) if file.suffix == ".toml" else edit_json.parsed(text).value
    if not isinstance(data, dict):
        raise ValueError("it is not an object")
    return all(_holds(cast("dict[str, object]", data), entry) for entry in entries)


def _holds(data: object, entry: SettingsEntry) -> bool:
    for name in entry.path:
        data = cast("dict[str, object]", data).get(name) if isinstance(data, dict) else None
    return entry.value in cast("list[object]", data) if entry.listed and isinstance(data, list) else data == entry.value


def _with(file: Path, text: str, entries: Sequence[SettingsEntry]) -> str:
    for entry in entries:
        if file.suffix == ".toml":
            text = edit_toml.added(text, entry.path[0], entry.path[1], entry.value)
        elif entry.path != ("version",) or entry.path[0] not in edit_json.parsed(text).value:
            text = edit_json.added(text, entry.path, entry.value, listed=entry.listed)
    return text


def _without(file: Path, text: str, entries: Sequence[SettingsEntry]) -> str:
    """A text without our server and our hooks, and without lists and objects that are empty now."""
    if file.suffix == ".toml":
        return reduce(lambda text, one: edit_toml.removed(text, one.path[0], one.path[1]), entries, text)
    servers = {entry.path for entry in entries if not entry.listed and entry.path != ("version",)}
    events = {entry.path for entry in entries if entry.listed}
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
        with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise _unreadable(file, "it is not a regular file")
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


# The record


def _record() -> dict[str, dict[str, Any]]:
    """What is noted; nothing if the record is damaged, because uninstalling works without it."""
    try:
        data: object = json.loads(_bytes(trust.user_folder() / RECORD) or b"{}")
    except (InvalidInput, ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    found = cast("dict[str, object]", data).items()
    return {id: cast("Any", one) for id, one in found if isinstance(one, dict) and _is_note(cast("Any", one))}


def _is_note(one: dict[str, object]) -> bool:
    """Whether a note has the values that we write: texts, or none, and a list of folders."""
    made = one.get("made", [])
    folders = cast("list[object]", made) if isinstance(made, list) else [None]
    texts = [one.get("before"), one.get("after"), one.get("copy")]
    whole = {"before", "after"} <= one.keys() and all(isinstance(text, str | None) for text in texts)
    return whole and all(isinstance(folder, str) for folder in folders)


def _write_record(known: dict[str, dict[str, Any]], keep: Path | None = None) -> None:
    """Write the record, and remove the copies that it does not name; without a note, the record too."""
    record = trust.user_folder() / RECORD
    if known:
        write_text(record, json.dumps(known, indent=2))
    else:
        record.unlink(missing_ok=True)
    named = {entry["before"] for entry in known.values()}
    with suppress(OSError):
        for copy in (folder := record.with_name(COPIES)).iterdir():
            if copy.name not in named and copy != keep:
                copy.unlink()
        folder.rmdir()


def _folders(file: Path) -> set[Path]:
    """The folders of a file, and those of the record and its copies."""
    return {*file.absolute().parents, *(_copy("x").absolute().parents)}


def _copy(digest: str) -> Path:
    return trust.user_folder() / COPIES / digest


def _id(file: Path, name: str) -> str:
    return f"{file.absolute()}#{name}"


def _digest(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()
