"""The adapter for Claude's memory tool: the SDK's own tests, and what a folder of files cannot do."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import memorist
from tests.integrations.examples import output_of
from tests.integrations.lone import lone
from tests.integrations.upstream import check, run, sdist

pytest.importorskip("anthropic")

from anthropic.lib.tools import ToolError

from memorist.integrations.anthropic import MemoristAsyncMemoryTool, MemoristMemoryTool

ON_DISK = "about symbolic links and modes of folders on a disk; files are memories here, and a memory cannot be a link"


@pytest.fixture
def tool(memory: memorist.Engine) -> MemoristMemoryTool:
    return MemoristMemoryTool(memory)


def call(tool: MemoristMemoryTool, command: str, **given: Any) -> str:
    return str(tool.call({"command": command, **given}))


def test_a_note_is_found_by_a_plain_recall_and_edits_are_its_versions(
    tool: MemoristMemoryTool, memory: memorist.Engine
) -> None:
    call(tool, "create", path="/memories/ann.md", file_text="Ann sails on Sundays.\n")
    call(tool, "str_replace", path="/memories/ann.md", old_str="Sundays", new_str="Saturdays")
    (item,) = memory.recall("When does Ann sail?").items
    assert item.memory.text == "Ann sails on Saturdays.\n"
    assert item.memory.origin.source == "/memories/ann.md"
    assert [version.text for version in memory.history(item.memory.id)] == [
        "Ann sails on Saturdays.\n",
        "Ann sails on Sundays.\n",
    ]


@pytest.mark.parametrize("content", ["", " \n", "a\0b", "half \ud800 a pair", "ann\r\nben\r", "🙂 安", "Thanks!"])
def test_any_content_is_shown_exactly_and_can_be_replaced(tool: MemoristMemoryTool, content: str) -> None:
    for text in (content, "other", content):
        tool.clear_all_memory()
        call(tool, "create", path="/memories/a", file_text=text)
        call(tool, "insert", path="/memories/a", insert_line=0, insert_text="first")
        lines = text.removesuffix("\n").split("\n") if text else []
        shown = [line.split("\t", 1)[1] for line in call(tool, "view", path="/memories/a").split("\n")[1:]]
        assert shown == ["first", *lines, ""]


def test_contents_that_are_no_texts_replace_each_other(tool: MemoristMemoryTool) -> None:
    call(tool, "create", path="/memories/a", file_text="")
    call(tool, "str_replace", path="/memories/a", old_str="", new_str="  ")
    assert call(tool, "view", path="/memories/a").endswith("\t  ")


def test_notes_that_repeat_other_memories_are_kept(tool: MemoristMemoryTool, memory: memorist.Engine) -> None:
    said = ["Ann sails on Sundays.", "Her boat is called Heron.", "Ben repairs old clocks in Leeds."]
    memory.remember_many(said)
    call(tool, "create", path="/memories/a", file_text="\n".join(said))
    call(tool, "create", path="/memories/b", file_text="\n".join(said))
    assert memory.stats().memories >= 5


@pytest.mark.parametrize(
    "path", ["/memories/../x", "/memories/a/../../x", "/memoriesx", "/memories/..", "notes.md", "/memories\\..\\x", ""]
)
def test_no_path_leads_out_of_the_folder(tool: MemoristMemoryTool, path: str) -> None:
    with pytest.raises(ToolError, match="must start with|would escape"):
        call(tool, "create", path=path, file_text="x")


def test_two_spellings_of_a_path_are_one_file(tool: MemoristMemoryTool) -> None:
    call(tool, "create", path="/memories/./a//b/../note.md", file_text="Ann sails.")
    assert "Ann sails." in call(tool, "view", path="/memories/a/note.md")


def test_folders_are_listed_two_levels_deep_with_sizes_and_without_hidden_files(tool: MemoristMemoryTool) -> None:
    for path, size in {"a.md": 3, "b/c.md": 2048, "b/d/e.md": 1, "b/d/f/g.md": 1, ".hidden": 5}.items():
        call(tool, "create", path=f"/memories/{path}", file_text="x" * size)
    assert call(tool, "view", path="/memories").splitlines()[1:] == [
        "2.0K\t/memories",
        "3B\t/memories/a.md",
        "2.0K\t/memories/b/",
        "2K\t/memories/b/c.md",
        "2B\t/memories/b/d/",
    ]


def test_a_folder_is_moved_and_deleted_as_a_whole(tool: MemoristMemoryTool, memory: memorist.Engine) -> None:
    for name in ("a/x.md", "a/b/y.md", "ab.md"):
        call(tool, "create", path=f"/memories/{name}", file_text=name)
    call(tool, "rename", old_path="/memories/a", new_path="/memories/z")
    assert {row.origin.key: row.text for row in memory.list().items} == {
        "/memories/ab.md": "ab.md",
        "/memories/z/x.md": "a/x.md",
        "/memories/z/b/y.md": "a/b/y.md",
    }
    with pytest.raises(ToolError, match="into itself"):
        call(tool, "rename", old_path="/memories/z", new_path="/memories/z/z")
    call(tool, "delete", path="/memories/z")
    assert [row.text for row in memory.list().items] == ["ab.md"]


def test_a_file_is_no_folder(tool: MemoristMemoryTool) -> None:
    call(tool, "create", path="/memories/a", file_text="x")
    with pytest.raises(ToolError, match="/memories/a is not a directory"):
        call(tool, "create", path="/memories/a/b", file_text="x")
    with pytest.raises(ToolError, match="already exists"):
        call(tool, "create", path="/memories", file_text="x")


def test_each_scope_has_files_of_its_own_and_other_memories_are_left_alone(memory: memorist.Engine) -> None:
    ann, ben = (MemoristMemoryTool(memory, scope=f"user:{name}") for name in ("ann", "ben"))
    memory.remember("Ann likes tea.", scope="user:ann", source="/memories/of/ann.txt")
    call(ann, "create", path="/memories/a", file_text="Ann's file")
    call(ben, "create", path="/memories/a", file_text="Ben's file")
    ann.clear_all_memory()
    assert {row.text for row in memory.list().items} == {"Ann likes tea.", "Ben's file"}


def test_a_secret_is_masked_and_one_in_a_name_is_refused(tool: MemoristMemoryTool, memory: memorist.Engine) -> None:
    secret = "sk-ant-api03-" + "aB3dE5gH7jK9" * 8
    call(tool, "create", path="/memories/keys", file_text=f"The key is {secret}.")
    assert secret not in call(tool, "view", path="/memories/keys")
    with pytest.raises(ToolError, match="Choose another name"):
        call(tool, "create", path=f"/memories/{secret}", file_text="x")
    assert len(memory.list().items) == 1


def test_a_note_that_was_invalidated_is_gone_and_can_be_written_again(
    tool: MemoristMemoryTool, memory: memorist.Engine
) -> None:
    call(tool, "create", path="/memories/a", file_text="Ann sails.")
    memory.invalidate(memory.list().items[0].id)
    with pytest.raises(ToolError, match="does not exist"):
        call(tool, "view", path="/memories/a")
    call(tool, "create", path="/memories/a", file_text="Ann sails.")
    assert "Ann sails." in call(tool, "view", path="/memories/a")


def test_commands_at_the_same_time_lose_no_edit(memory: memorist.Engine) -> None:
    tool = MemoristAsyncMemoryTool(memory)

    async def many() -> None:
        await tool.call({"command": "create", "path": "/memories/a", "file_text": "start\n"})
        insert = {"command": "insert", "path": "/memories/a", "insert_line": 1}
        await asyncio.gather(*(tool.call({**insert, "insert_text": f"line {n}"}) for n in range(8)))

    asyncio.run(many())
    assert sorted(memory.list().items[0].text.splitlines()) == sorted(["start", *(f"line {n}" for n in range(8))])


def test_the_example_runs() -> None:
    assert "Ann sails on Saturdays." in output_of("anthropic")


@pytest.mark.slow
def test_the_tests_of_the_sdk_pass() -> None:
    place = sdist("anthropic", "2.9.0") / "tests/lib/tools/memory_tools/test_filesystem.py"
    without = {"symlink": ON_DISK, "mkdir_parents": ON_DISK}
    plugin = "anthropic_tool"
    check("anthropic", run("anthropic", "2.9.0", lone("anthropic", [place]), plugin=plugin, without=without))
