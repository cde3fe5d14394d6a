"""Exports of Slack: a folder or zip with users.json, channels.json and one file per channel and day."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memorist.errors import InvalidInput
from memorist.remember.ingest.decoding import UnreadableFile, reason_of
from memorist.remember.ingest.model import Cleaned, DraftMemory, Found, Skipped
from memorist.remember.ingest.values import (
    LONGEST_TITLE,
    Object,
    as_list,
    as_name,
    as_object,
    as_text,
    first_name,
    moment,
    with_places,
)
from memorist.text.patterns import lazy
from memorist_import.archives import Tree, json_in

if TYPE_CHECKING:
    from memorist.remember.record import Fields

PEER = 1
"""The trust of a colleague's words: they are kept, but are no wishes of the owner."""
EVENT = "a channel event, such as somebody joining"
EDIT = "an edit or deletion of another message, which is respected there"
BOT = "written by a bot"
DELETED = "deleted by its author"
LONGEST_NAME = 80
"""Characters of a person's name, as in Slack; a text may repeat it for every few characters."""
NO_WORDS = "message without text, such as a file"
_ROOMS = ("channels.json", "groups.json", "dms.json", "mpims.json")
_DAY = lazy(r"(?P<folder>(?:[^/]+/)*)(?P<channel>[^/]+)/(?P<day>\d{4}-\d\d-\d\d)\.json")
_TS = lazy(r"\d{9,11}\.\d{1,9}")
_SPOKEN = frozenset({"", "me_message", "thread_broadcast", "reply_broadcast", "file_share", "file_comment"})
_CHANGES = ("message_changed", "message_deleted")


def slack_root(names: Sequence[str]) -> str | None:
    """The folder of an export among these files, as a prefix such as `export/`; None if there is none."""
    held = set(names)
    roots = [name.removesuffix("users.json") for name in names if name == "users.json" or name.endswith("/users.json")]
    return min((root for root in roots if any(root + room in held for room in _ROOMS)), key=len, default=None)


def day_files(names: Sequence[str], root: str) -> dict[str, list[str]]:
    """The files of messages below a root by channel, each in the order of its days."""
    channels: dict[str, list[str]] = {}
    for name in sorted(names):
        found = _DAY.fullmatch(name)
        if found and found["folder"] == root:
            channels.setdefault(found["channel"], []).append(name)
    return channels


def slack_files(tree: Tree) -> list[str]:
    """The files of messages in an export."""
    names = tree.names()
    return [file for files in day_files(names, slack_root(names) or "").values() for file in files]


def is_slack(given: Object) -> bool:
    """Whether an object is a message of a Slack export."""
    return given.get("type") == "message" and bool(_TS.fullmatch(as_text(given.get("ts")))) and "role" not in given


@dataclass(frozen=True, slots=True)
class Workspace:
    """The names of people and channels, and who is a bot."""

    people: Mapping[str, str] = field(default_factory=dict[str, str])
    bots: frozenset[str] = frozenset()
    rooms: Mapping[str, str] = field(default_factory=dict[str, str])
    """The title of each room by its id and by the name of its folder."""

    @staticmethod
    def of(users: object, rooms: Sequence[object]) -> Workspace:
        """Read users.json and the lists of channels, groups and direct messages."""
        people: dict[str, str] = {}
        bots = {"USLACKBOT"}
        for user in map(as_object, as_list(users)):
            if id := as_name(user.get("id")):
                people[id] = (shown_name(user) or id)[:LONGEST_NAME]
                bots |= {id} if user.get("is_bot") is True else set()
        titles: dict[str, str] = {}
        for room in map(as_object, rooms):
            id, name = as_name(room.get("id")), as_name(room.get("name"))
            members = [people.get(member, member) for member in map(as_text, as_list(room.get("members"))) if member]
            title = f"#{name}" if name and not name.startswith("mpdm-") else " and ".join(members) or name or id or ""
            titles |= {key: title[:LONGEST_TITLE] for key in (id, name) if key}
        return Workspace(people, frozenset(bots), titles)


def shown_name(user: Object) -> str | None:
    """The name that Slack shows for a user: the display name, else the full name."""
    profile = as_object(user.get("profile"))
    return first_name(profile, "display_name", "real_name") or first_name(user, "real_name", "name")


def slack_drafts(tree: Tree, name: str) -> Iterator[Found]:
    """The messages of every channel, channel by channel and day by day."""
    names = tree.names()
    root = slack_root(names)
    if root is None:
        raise UnreadableFile(name, "is not a Slack export", remedy="It has users.json and a list of channels.")
    rooms: list[object] = []
    users: object = None
    for file in ("users.json", *_ROOMS):
        if root + file in names:
            try:
                document, notes = json_in(tree, root + file, file)
            except InvalidInput as error:
                yield Skipped(file, reason_of(error))
                continue
            yield from notes
            users, rooms = (document, rooms) if file == "users.json" else (users, [*rooms, *as_list(document)])
    workspace = Workspace.of(users, rooms)
    channels = day_files(names, root)
    for channel, files in channels.items():
        yield from _channel(tree, files, channel, workspace, root)
    read = {root + file for file in ("users.json", *_ROOMS)}.union(*channels.values())
    yield from (Skipped(name, "not a file of messages") for name in names if name not in read)


def _channel(tree: Tree, files: Sequence[str], channel: str, workspace: Workspace, root: str) -> Iterator[Found]:
    """The messages of a channel; its files are read twice, so that a later edit or deletion is known in time."""
    changes: dict[str, Object | None] = {}
    for file in files:
        for message in _messages(tree, file, root)[0]:
            changes |= _change(message)
    for file in files:
        messages, found = _messages(tree, file, root)
        yield from found
        day = file.rpartition("/")[2].removesuffix(".json")
        reader = Channel(channel, workspace, changes, day)
        for place, message in with_places(messages, file.removeprefix(root), "message"):
            yield from reader.drafts(message, place)


def _messages(tree: Tree, file: str, root: str) -> tuple[list[Object], list[Skipped | Cleaned]]:
    where = file.removeprefix(root)
    try:
        document, notes = json_in(tree, file, where)
    except InvalidInput as error:
        return [], [Skipped(where, reason_of(error))]
    return [as_object(message) for message in as_list(document)], list(notes)


def _change(message: Object) -> dict[str, Object | None]:
    """What an event says about another message: its new form, or None if it was deleted."""
    kind = message.get("subtype")
    if kind == "message_changed":
        new = as_object(message.get("message"))
        return {ts: None if new.get("subtype") == "tombstone" else new} if (ts := as_name(new.get("ts"))) else {}
    if kind == "message_deleted":
        old = as_object(message.get("previous_message"))
        ts = first_name(message, "deleted_ts") or as_name(old.get("ts"))
        return {ts: None} if ts else {}
    return {}


@dataclass(frozen=True, slots=True)
class Channel:
    """Reads the messages of a channel; a file alone is a channel of its own, without the names of people."""

    name: str | None = None
    workspace: Workspace = field(default_factory=Workspace)
    changes: Mapping[str, Object | None] = field(default_factory=dict[str, "Object | None"])
    day: str = ""

    def drafts(self, given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
        """The turn in a message, in the conversation of its thread or day."""
        ts = as_text(given.get("ts"))
        changed = self.changes.get(ts, given)
        if changed is None or given.get("subtype") == "tombstone":
            yield Skipped(where, DELETED)
            return
        message = {**given, **changed}
        if reason := self._unwanted(message):
            yield Skipped(where, reason)
            return
        text = self._readable(as_text(message.get("text")))
        if not text.strip():
            yield Skipped(where, NO_WORDS)
            return
        yield DraftMemory(text, where, self._fields(message, ts), self._conversation(message, ts) or unnamed)

    def _unwanted(self, message: Object) -> str | None:
        kind = as_text(message.get("subtype"))
        author = as_name(message.get("user"))
        if kind == "bot_message" or message.get("bot_id") or author in self.workspace.bots:
            return BOT
        if kind in _CHANGES:
            return EDIT
        return None if kind in _SPOKEN else EVENT

    def _fields(self, message: Object, ts: str) -> Fields:
        author = as_name(message.get("user")) or "unknown"
        speaker = self.workspace.people.get(author) or shown_name({"profile": message.get("user_profile")}) or author
        fields: Fields = {"speaker": speaker, "trust": PEER}
        if at := moment(ts):
            fields["at"] = at
        if self.name:
            title = self.workspace.rooms.get(self.name) or f"#{self.name}"
            fields["topic"] = title
            fields["source"] = f"slack/{self.name}"
            # The author and the time identify a message in any export of the workspace. A file alone lacks the names
            # of people, and must not replace what an export said with them.
            fields["key"] = f"slack:{author}:{ts}"
        if edited := moment(as_object(message.get("edited")).get("ts")):
            fields["metadata"] = {"edited_at": edited.isoformat()}
        return fields

    def _conversation(self, message: Object, ts: str) -> str | None:
        """A thread is a conversation of its own; so are the other messages of a day."""
        if self.name is None:
            return None
        thread = as_name(message.get("thread_ts"))
        threaded = thread and (thread != ts or message.get("reply_count") or message.get("replies"))
        return f"{self.name}/{thread if threaded else self.day}"

    def _readable(self, text: str) -> str:
        """The text with names for ids, and links as they were written."""
        return html.unescape(_MARKUP.sub(self._shown, text))

    def _shown(self, found: re.Match[str]) -> str:
        sign, target, label = found["sign"] or "", found["target"], found["label"] or ""
        if sign == "@":
            return f"@{self.workspace.people.get(target) or label or target}"
        if sign == "#":
            return (label and f"#{label}") or self.workspace.rooms.get(target) or f"#{target}"
        if sign == "!":
            return label or f"@{target.partition('^')[0]}"
        address = target.removeprefix("mailto:")
        return f"{label} ({address})" if label and label not in (address, target) else address


_MARKUP = lazy(r"<(?P<sign>[@#!])?(?P<target>[^<>|\n]{1,2000})(?:\|(?P<label>[^<>\n]{0,2000}))?>")
