"""Files of Claude Code: transcripts of sessions, and Markdown files of instructions and memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memorist.remember.ingest.documents import MarkdownText, chunk_drafts, front_matter
from memorist.remember.ingest.files import is_markdown
from memorist.remember.ingest.formats import Head, InputFile
from memorist.remember.ingest.messages import NotText, Words, parts, role_of
from memorist.remember.ingest.model import Cleaned, DraftMemory, Found, Skipped
from memorist.remember.ingest.values import Object, as_name, as_object, as_text, moment
from memorist.text.patterns import lazy

if TYPE_CHECKING:
    from memorist.remember.record import Fields

NOT_THE_OWNERS = 1
"""The trust of these files: a project may bring them, and a transcript quotes whatever was read."""
SUBAGENT = "said between an agent and its subagent"
PROGRAM = "written by the program, not said by anyone"
SUMMARY = "a summary of turns, which are kept themselves"
TOOLS = "a tool call or its output"
COMMAND = "a command to the program"
INDEX = "an index of other files"
_ENTRY_KEYS = ("parentUuid", "isSidechain", "leafUuid", "isSnapshotUpdate", "operation")
_REMINDER, _REMINDED = "<system-reminder>", "</system-reminder>"
_COMMAND = lazy(r"\s*<(?:command-|local-command-|bash-)[\w-]{1,40}>")
_INTERRUPTED = lazy(r"\s*\[Request interrupted by user[^\]\n]{0,40}\]\s*")
_LINK = lazy(r"\s*[-*] \[[^\]\n]+\]\([^)\n]+\.md\)[^\n]*")
_TOOL_OUTPUT = lazy(r"(?:[^/]+/)*[0-9a-f]{8}-[0-9a-f-]{27}/tool-results")
_MEMORY_FILES = ("CLAUDE.md", "CLAUDE.local.md", "MEMORY.md")


def is_claude_code(given: Object) -> bool:
    """Whether an object is an entry of a transcript."""
    entry = isinstance(given.get("type"), str) and any(key in given for key in _ENTRY_KEYS)
    return entry and ("sessionId" in given or given.get("type") in ("summary", "file-history-snapshot"))


def transcript_drafts(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The turn in an entry: what the user and the assistant said, without tools, subagents and the program's notes."""
    if reason := _unwanted(given):
        yield Skipped(where, reason)
        return
    message = as_object(given.get("message"))
    found = list(parts(message.get("content")))
    words = [part.text for part in found if isinstance(part, Words)]
    text = _without_reminders("\n\n".join(passage for passage in words if passage.strip())).strip()
    for part in found:
        if isinstance(part, NotText):
            yield Skipped(where, part.reason)
    if not text:
        if not found or any(not isinstance(part, NotText) for part in found):
            yield Skipped(where, TOOLS if len(words) < len(found) else PROGRAM)
    elif _COMMAND.match(text) or _INTERRUPTED.fullmatch(text):
        yield Skipped(where, COMMAND)
    else:
        yield DraftMemory(text, where, _fields(given, message), as_name(given.get("sessionId")) or unnamed)


def _without_reminders(text: str) -> str:
    """A text without the reminders that the program writes into what the user said."""
    kept: list[str] = []
    at = 0
    while (start := text.find(_REMINDER, at)) >= 0 and (end := text.find(_REMINDED, start)) >= 0:
        kept.append(text[at:start])
        at = end + len(_REMINDED)
    return "".join([*kept, text[at:]])


def _unwanted(given: Object) -> str | None:
    """The reason why an entry is not a turn, if any."""
    if given.get("isSidechain") is True:
        return SUBAGENT
    if given.get("type") == "summary" or given.get("isCompactSummary") is True:
        return SUMMARY
    if given.get("type") not in ("user", "assistant") or given.get("isMeta") is True:
        return PROGRAM
    return None


def _fields(given: Object, message: Object) -> Fields:
    fields: Fields = {"speaker": role_of(message) or as_text(given.get("type")), "trust": NOT_THE_OWNERS}
    if id := as_name(given.get("uuid")):
        fields["key"] = f"claude-code:{id}"
    if at := moment(given.get("timestamp")):
        fields["at"] = at
    # The name of the folder, not its path: a path tells who the user is.
    project = as_text(given.get("cwd")).replace("\\", "/").rstrip("/").rpartition("/")[2]
    metadata = {"project": project, "branch": as_text(given.get("gitBranch"))}
    if known := {key: value for key, value in metadata.items() if value}:
        fields["metadata"] = known
    return fields


def is_tool_output(name: str, inside: Sequence[str]) -> bool:
    """Whether a folder has the output of the tools of a session, by its name below the path given."""
    return bool(_TOOL_OUTPUT.fullmatch(name))


def tool_output(path: Path, name: str) -> Iterator[Found]:
    """The output of tools, which is left out."""
    yield Skipped(name, TOOLS)


def is_memory_file(head: Head) -> bool:
    """Whether a Markdown file is one of instructions or memories, by its name or its front matter."""
    return is_markdown(head) and (_base(head.name) in _MEMORY_FILES or _is_described(front_matter(head.text)[0]))


def memory_file_drafts(file: InputFile) -> Iterator[Found]:
    """The chunks of a file of instructions or memories, which is not the owner's word, without an index of files."""
    text, notes = file.text()
    yield from notes
    read = MarkdownText.of(text)
    yield from (Cleaned(file.name, note) for note in read.notes)
    indexes = [block for block in read.blocks if is_index(file.name, block.text)]
    yield from (Skipped(f"{file.name}:{block.line}", INDEX) for block in indexes)
    fields: Any = {**read.fields, "trust": min(read.fields.get("trust", NOT_THE_OWNERS), NOT_THE_OWNERS)}
    if _is_described(read.front):
        fields.setdefault("topic", as_name(read.front.get("name")))
    yield from chunk_drafts((block for block in read.blocks if block not in indexes), file.name, fields)


def is_index(name: str, block: str) -> bool:
    """Whether a block of a MEMORY.md only lists the files beside it."""
    return _base(name) == "MEMORY.md" and all(_LINK.fullmatch(line) for line in block.split("\n"))


def _is_described(front: Object) -> bool:
    return isinstance(front.get("name"), str) and isinstance(front.get("description"), str)


def _base(name: str) -> str:
    return name.rpartition("/")[2]
