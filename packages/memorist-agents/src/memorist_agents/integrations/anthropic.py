"""Claude's memory tool: the files under /memories are memories, one per file, with their versions in the history."""

from __future__ import annotations

import posixpath
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any, TypeVar

from memorist.errors import Error
from memorist.integrations import Source, framework, opened
from memorist_agents.integrations.files import Files, FolderTree

with framework("anthropic-memory"):
    from anthropic.lib.tools import ToolError
    from anthropic.tools.memory import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )
    from anyio.to_thread import run_sync
    from typing_extensions import override

__all__ = ["MemoristAsyncMemoryTool", "MemoristMemoryTool"]

ROOT = "/memories"
MOST_LINES = 999_999
WIDTH = len(str(MOST_LINES))
"""How wide the column of line numbers is."""
DEEPEST = 2
"""How many levels of a folder are listed."""
T = TypeVar("T")


class MemoristMemoryTool(BetaAbstractMemoryTool):
    """Anthropic's memory tool over a memory; the answers are those of the SDK's own tool for a folder.

    Pass it to `client.beta.messages.tool_runner(tools=[...])`. Each scope is a `/memories` of its own.
    """

    def __init__(
        self,
        memory: Source,
        *,
        space: str | None = None,
        scope: str = "memories",
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.memory = opened(memory, space=space)
        self._files = Files(self.memory, scope=scope, root=ROOT, trust=2)
        self._lock = RLock()

    @override
    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """The lines of a file with their numbers, or the names in a folder."""
        with self._serving():
            path = _checked(command.path)
            text = self._files.read(path)
            if text is not None:
                return _numbered(command.path, text, command.view_range)
            tree = self._files.tree(path)
            if not tree and path != ROOT:
                raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
            return _listed(command.path, tree)

    @override
    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Write a new file."""
        with self._serving():
            path = _checked(command.path)
            self._refuse_file_as_folder(path)
            if self._exists(path):
                raise ToolError(f"File {command.path} already exists")
            self._files.write(path, command.file_text)
        return f"File created successfully at: {command.path}"

    @override
    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        with self._serving():
            path = _checked(command.path)
            text, old = self._text_of(path, command.path), command.old_str
            place = text.find(old) if old or not text else -1
            if place == -1:
                raise ToolError(
                    f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}."
                )
            if text.count(old) > 1:
                lines = ", ".join(map(str, _lines_with(text, old)))
                raise ToolError(
                    f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
                    "Please ensure it is unique"
                )
            edited = text[:place] + command.new_str + text[place + len(old) :]
            self._files.write(path, edited)
        line = text.count("\n", 0, place)
        shown = _with_numbers(edited.split("\n"), max(0, line - 2), line + 3)
        return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{shown}"

    @override
    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text after a line of a file."""
        with self._serving():
            path = _checked(command.path)
            lines = self._text_of(path, command.path).split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {command.insert_line}. "
                    f"It should be within the range [0, {len(lines)}]."
                )
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            edited = "\n".join(lines)
            self._files.write(path, edited if edited.endswith("\n") else f"{edited}\n")
        return f"The file {command.path} has been edited."

    @override
    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Erase a file, or a folder with all its files, for good."""
        with self._serving():
            path = _checked(command.path)
            if path == ROOT:
                raise ToolError("Cannot delete the /memories directory itself")
            if not self._files.delete(path):
                raise ToolError(f"The path {command.path} does not exist")
        return f"Successfully deleted {command.path}"

    @override
    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a folder."""
        with self._serving():
            old, new = _checked(command.old_path), _checked(command.new_path)
            if old == ROOT:
                raise ToolError("Cannot rename the /memories directory itself")
            if self._exists(new):
                raise ToolError(f"The destination {command.new_path} already exists")
            if new.startswith(f"{old}/"):
                raise ToolError(f"Cannot move {command.old_path} into itself")
            self._refuse_file_as_folder(new)
            if not self._files.move(old, new):
                raise ToolError(f"The path {command.old_path} does not exist")
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    @override
    def clear_all_memory(self) -> str:
        """Erase every file."""
        with self._serving():
            self._files.delete(ROOT)
        return "All memory cleared"

    def close(self) -> None:
        """Close the memory; for a tool that opened it."""
        self.memory.close()

    @contextmanager
    def _serving(self) -> Generator[None]:
        """One command at a time, and our errors as errors of a tool, which the model can read."""
        with self._lock:
            try:
                yield
            except Error as error:
                raise ToolError(str(error)) from error

    def _exists(self, path: str) -> bool:
        return path == ROOT or self._files.read(path) is not None or bool(self._files.tree(path))

    def _text_of(self, path: str, shown: str) -> str:
        text = self._files.read(path)
        if text is None:
            missing = path != ROOT and not self._files.tree(path)
            reason = "does not exist. Please provide a valid path." if missing else "is not a file."
            raise ToolError(f"The path {shown} {reason}")
        return text

    def _refuse_file_as_folder(self, path: str) -> None:
        folder = posixpath.dirname(path)
        while len(folder) > len(ROOT):
            if self._files.read(folder) is not None:
                raise ToolError(f"The path {folder} is not a directory")
            folder = posixpath.dirname(folder)


class MemoristAsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """`MemoristMemoryTool` for `AsyncAnthropic`; each command runs in a thread."""

    def __init__(
        self,
        memory: Source,
        *,
        space: str | None = None,
        scope: str = "memories",
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self.tool = MemoristMemoryTool(memory, space=space, scope=scope)

    @override
    async def execute(self, command: Any) -> Any:
        """Run a command."""
        return await run_sync(self.tool.execute, command)

    @override
    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """The lines of a file with their numbers, or the names in a folder."""
        return await run_sync(self.tool.view, command)

    @override
    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Write a new file."""
        return await run_sync(self.tool.create, command)

    @override
    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        return await run_sync(self.tool.str_replace, command)

    @override
    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert a text after a line of a file."""
        return await run_sync(self.tool.insert, command)

    @override
    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Erase a file, or a folder with all its files, for good."""
        return await run_sync(self.tool.delete, command)

    @override
    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a folder."""
        return await run_sync(self.tool.rename, command)

    @override
    async def clear_all_memory(self) -> str:
        """Erase every file."""
        return await run_sync(self.tool.clear_all_memory)

    async def close(self) -> None:
        """Close the memory; for a tool that opened it."""
        await run_sync(self.tool.close)


def _checked(path: str) -> str:
    """A path in its only form; one that leads out of /memories is refused."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise ToolError(f"Path must start with /memories, got: {path}")
    plain = posixpath.normpath(path)
    if plain != ROOT and not plain.startswith(f"{ROOT}/"):
        raise ToolError(f"Path {path} would escape /memories directory")
    return plain


def _lines_with(text: str, part: str) -> Iterator[int]:
    """The number of the line for each place where a part begins in a text, overlaps included."""
    line, seen, place = 1, 0, text.find(part)
    while place != -1:
        line, seen = line + text.count("\n", seen, place), place
        yield line
        place = text.find(part, place + 1)


def _with_numbers(lines: list[str], start: int, end: int) -> str:
    return "\n".join(f"{number:>{WIDTH}}\t{line}" for number, line in enumerate(lines[start:end], start + 1))


def _numbered(path: str, text: str, view_range: list[int] | None) -> str:
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        raise ToolError(f"File {path} exceeds maximum line limit of {MOST_LINES:,} lines.")
    start, end = 0, len(lines)
    if view_range and len(view_range) == 2:
        start = max(1, view_range[0]) - 1
        end = end if view_range[1] == -1 else view_range[1]
    return f"Here's the content of {path} with line numbers:\n{_with_numbers(lines, start, end)}"


def _listed(path: str, tree: FolderTree) -> str:
    header = f"Here're the files and directories up to {DEEPEST} levels deep in {path}, excluding hidden items:"
    names = [f"{_size(size)}\t{path}/{name}" for name, size in _shown(tree, "", 1)]
    return "\n".join([header, f"{_size(tree.size)}\t{path}", *names])


def _shown(tree: FolderTree, before: str, depth: int) -> Iterator[tuple[str, int]]:
    for name, inner in sorted(tree.items()):
        if name.startswith("."):
            continue
        if isinstance(inner, int):
            yield f"{before}{name}", inner
            continue
        yield f"{before}{name}/", inner.size
        if depth < DEEPEST:
            yield from _shown(inner, f"{before}{name}/", depth + 1)


def _size(size: int) -> str:
    """A number of bytes as 0B, 12B or 1.5K."""
    step = min(max(size.bit_length() - 1, 0) // 10, 3)
    scaled = size / 1024**step
    return f"{scaled:.0f}{'BKMG'[step]}" if scaled.is_integer() else f"{scaled:.1f}{'BKMG'[step]}"
