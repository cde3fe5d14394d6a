"""Puts our memory tool where the SDK's own tool for a folder was, with a folder that shows what our tool holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anthropic.lib.tools._beta_builtin_memory_tool as theirs
import pytest
from anyio import Path as AsyncPath

import memorist
from memorist.integrations.anthropic import MemoristAsyncMemoryTool, MemoristMemoryTool


def pytest_configure(config: pytest.Config) -> None:
    config.option.asyncio_mode = "auto"


def opened(base_path: str) -> memorist.Engine:
    return memorist.open(Path(base_path).parent / f"{Path(base_path).name}.db", embedder=None)


class Mirrored(MemoristMemoryTool):
    """Their tests read and write files in a folder: they are taken over before each command, and shown after it."""

    def __init__(self, base_path: str) -> None:
        super().__init__(opened(base_path))
        self.base_path = Path(base_path)
        self.memory_root = self.base_path / "memories"
        self.memory_root.mkdir(parents=True)

    def _serving(self) -> Any:
        for file in self.memory_root.rglob("*"):
            path = f"/memories/{file.relative_to(self.memory_root)}"
            if file.is_file() and not file.is_symlink():
                text = file.read_bytes().decode()
                if self._files.read(path) != text:
                    self._files.write(path, text)
        return super()._serving()

    def show(self) -> None:
        for file in self.memory_root.rglob("*"):
            if file.is_file():
                file.unlink()
        for file in self._files.below("/memories"):
            there = self.base_path / (file.origin.key or "").lstrip("/")
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes((self._files.read(file.origin.key or "") or "").encode())

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in ("create", "str_replace", "insert", "delete", "rename"):
            return found

        def shown(command: Any) -> Any:
            answer = found(command)
            self.show()
            return answer

        return shown


class AsyncMirrored(MemoristAsyncMemoryTool):
    def __init__(self, base_path: str) -> None:
        Path(base_path).mkdir(parents=True, exist_ok=True)
        super().__init__(opened(base_path))
        self.tool = Mirrored(base_path)
        self.base_path = AsyncPath(base_path)
        self.memory_root = self.base_path / "memories"


theirs.BetaLocalFilesystemMemoryTool = Mirrored  # type: ignore[misc,assignment]
theirs.BetaAsyncLocalFilesystemMemoryTool = AsyncMirrored  # type: ignore[misc,assignment]
