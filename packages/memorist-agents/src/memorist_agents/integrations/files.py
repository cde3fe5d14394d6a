"""Files in a memory: a file is a memory whose key and source are its path; folders are prefixes of paths."""

from __future__ import annotations

from typing import Any

from memorist.errors import NotFound
from memorist.model import Fields, Memory, memory_id
from memorist.verbs import Verbs
from memorist_agents.integrations.verbatim import box, every, is_text, keep, unbox

CONTENT = "content"
"""The entry of metadata with a content that cannot be a text, such as an empty one."""


class FolderTree(dict[str, "int | FolderTree"]):
    """A folder: the sizes of its files in bytes, and its folders, by name."""

    @property
    def size(self) -> int:
        """The bytes of all files in it."""
        return sum(inner if isinstance(inner, int) else inner.size for inner in self.values())


class Files:
    """The files below a root, such as /memories, in one scope of a memory.

    A new content is a new version of its memory. Files are read and written whole; paths are in their only form.
    """

    def __init__(self, memory: Verbs, *, scope: str, root: str, trust: int) -> None:
        self._memory = memory
        self._scope = scope
        self._root = root
        self._trust = trust

    def read(self, path: str) -> str | None:
        """The content of a file; None if there is none."""
        found = self._memory.get(self._id(path))
        return None if found is None or has_ended(found) else content_of(found)

    def write(self, path: str, content: str) -> None:
        """Create a file or replace its content."""
        found = self._memory.get(self._id(path))
        if found is None or has_ended(found):
            self._create([(path, content)])
            return
        fields = self._fields(path, content)
        if metadata := fields.get("metadata"):
            self._memory.update(found.id, fields["text"], metadata=metadata)
        else:
            self._memory.update(found.id, content, clear=("metadata",))

    def delete(self, path: str) -> int:
        """Erase a file, or all files of a folder, with their histories; returns how many."""
        ids = [file.id for file in self.below(path)]
        if ids:
            self._erase(ids)
        return len(ids)

    def move(self, old: str, new: str) -> int:
        """Move a file, or all files of a folder; returns how many. If the process dies, both are there, never none."""
        files = self.below(old)
        moved = [(f"{new}{_path(file)[len(old) :]}", content_of(file)) for file in files]
        if files:
            self._create(moved)
            self._erase([file.id for file in files])
        return len(files)

    def tree(self, path: str) -> FolderTree:
        """What a folder holds; empty if there is no such folder."""
        tree = FolderTree()
        for file in self.below(path):
            names = _path(file).removeprefix(path).strip("/").split("/")
            folder = tree
            for name in names[:-1]:
                inner = folder.setdefault(name, FolderTree())
                if not isinstance(inner, FolderTree):  # another process made a file of that name
                    inner = folder[name] = FolderTree()
                folder = inner
            if names[-1]:
                folder.setdefault(names[-1], len(content_of(file).encode("utf-8", "replace")))
        return tree

    def below(self, path: str) -> list[Memory]:
        """The file with this path, or the files in the folder with this path, in the order created."""
        among = every(self._memory, scope=self._scope, where={"source": {"contains": path}})
        files = [
            memory for memory in among if memory.origin.key is not None and memory.origin.key == memory.origin.source
        ]
        return [memory for memory in files if _path(memory) == path or _path(memory).startswith(f"{path}/")]

    def _create(self, files: list[tuple[str, str]]) -> None:
        """Write new files; one that was invalidated under such a path makes room, with its history."""
        ended = [
            memory.id
            for memory in self._memory.get([self._id(path) for path, _ in files])
            if memory and has_ended(memory)
        ]
        if ended:
            self._erase(ended)
        keep(self._memory, [self._fields(path, content) for path, content in files])

    def _erase(self, ids: list[str]) -> None:
        try:
            self._memory.forget(ids)
        except NotFound:  # another process has erased some of them meanwhile
            there = [memory.id for memory in self._memory.get(ids) if memory is not None]
            if there:
                self._memory.forget(there)

    def _id(self, path: str) -> str:
        return memory_id("", scope=self._scope, key=path)

    def _fields(self, path: str, content: str) -> Any:
        text, metadata = content_fields(content, path)
        fields: Fields = {"kind": "semantic", "scope": self._scope, "key": path, "source": path, "trust": self._trust}
        return {"text": text, **fields, "metadata": metadata}


def content_fields(content: str, path: str) -> tuple[str, dict[str, Any]]:
    """The text and the metadata that keep a content: one that cannot be a text is in the metadata, beside its path."""
    return (content, {}) if is_text(content) else (path, box(CONTENT, content))


def content_of(file: Memory) -> str:
    """The content of a file, exactly."""
    content: str | None = unbox(CONTENT, file.metadata)
    return file.text if content is None else content


def has_ended(memory: Memory) -> bool:
    """Whether a memory was invalidated or taken back."""
    return memory.times.valid_to is not None or memory.times.retracted_at is not None


def _path(file: Memory) -> str:
    return file.origin.key or ""
