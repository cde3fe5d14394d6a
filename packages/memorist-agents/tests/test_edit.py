"""Editing settings as text: whatever a file holds, an addition only adds, and a removal takes out what was added."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorist_agents import edit_json, edit_toml
from memorist_agents import install as agents
from memorist_agents.clients import CLIENTS, Start

GAPS = st.sampled_from(["", " ", "\n", "\r\n", "\n\n\t", " // a } note\n", "/* , [ */", " /**/ "])
NAMES = st.sampled_from(["mcpServers", "hooks", "SessionStart", "memorist", "a", 'ä"\\', "", "version"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 10**20) | st.sampled_from([0.5, -1e30]) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)
ENTRIES = [
    agents.SettingsEntry(("mcpServers", "memorist"), {"command": "py", "args": ["-m"]}),
    *(
        agents.SettingsEntry(
            ("hooks", hook.native), CLIENTS["claude-code"].hooks.entry(hook, "claude-code", Start(())), True
        )  # type: ignore[union-attr]
        for hook in (CLIENTS["claude-code"].hooks.events if CLIENTS["claude-code"].hooks else ())
    ),
]


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A value as somebody may have written it: with spaces, comments and commas where they are allowed."""
    gap = lambda: draw(GAPS)  # noqa: E731
    if not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    parts = []
    for part in value.items() if isinstance(value, dict) else value:
        name, inner = part if isinstance(value, dict) else (None, part)
        before = "" if name is None else f"{json.dumps(name)}{gap()}:{gap()}"
        parts.append(f"{gap()}{before}{draw(written(inner))}{gap()}")
    end = f",{gap()}" if parts and draw(st.booleans()) else gap() if not parts else ""
    return f"{'{' if isinstance(value, dict) else '['}{','.join(parts)}{end}{'}' if isinstance(value, dict) else ']'}"


FILES = OBJECTS.flatmap(lambda value: st.tuples(st.just(value), GAPS, written(value), GAPS)).map(
    lambda drawn: (drawn[0], "".join(drawn[1:]))
)


@given(FILES)
@settings(max_examples=60)
def test_the_reader_understands_what_json_means(file: tuple[dict[str, Any], str]) -> None:
    value, text = file
    assert edit_json.parsed(text).value == value


@given(st.text('{}[]",:/* \n1tn\\', max_size=12))
def test_the_reader_agrees_with_the_standard_library_about_plain_json(text: str) -> None:
    try:
        wanted = json.loads(text)
    except ValueError:
        return
    assert edit_json.parsed(text).value == wanted


@given(FILES, VALUES, st.booleans())
@settings(max_examples=60)
def test_adding_only_adds(file: tuple[dict[str, Any], str], value: Any, listed: bool) -> None:
    data, text = file
    path = ("hooks", "SessionStart") if listed else ("hooks", "new")
    try:
        after = edit_json.added(text, path, value, listed=listed)
    except ValueError:
        inner = data["hooks"]
        assert not isinstance(inner, dict) or not isinstance(inner.get("SessionStart"), list)
        return
    shared = next((n for n, (a, b) in enumerate(zip(text, after, strict=False)) if a != b), len(text))
    kept = len(text) - shared
    assert after.endswith(text[shared:] if kept else "") and len(after) > len(text)
    known = data.setdefault("hooks", {})
    if listed:
        known.setdefault("SessionStart", []).append(value)
    else:
        known["new"] = value
    assert edit_json.parsed(after).value == data


@given(FILES)
@settings(max_examples=40)
def test_installing_and_uninstalling_is_the_identity(
    tmp_path_factory: pytest.TempPathFactory, file: tuple[dict[str, Any], str]
) -> None:
    data, text = file
    place = tmp_path_factory.mktemp("client") / "settings.json"
    place.write_bytes(text.encode("utf-8", "surrogatepass") if text.isascii() else text.encode())
    before = place.read_bytes()
    try:
        change = agents.plan(place, ENTRIES, "memorist")
    except agents.InvalidInput:
        assert not _takes(data)
        return
    agents.write_all([change])
    assert not agents.plan(place, ENTRIES, "memorist").needed
    agents.take_out(agents.plan_removal(place, ENTRIES, "memorist"))
    assert place.read_bytes() == before


def _takes(data: dict[str, Any]) -> bool:
    """Whether settings can take our entries: nothing else stands where they belong."""
    hooks = data.get("hooks", {})
    lists = hooks.get("SessionStart", []) if isinstance(hooks, dict) else None
    return isinstance(data.get("mcpServers", {}), dict) and isinstance(lists, list)


@given(FILES)
@settings(max_examples=40)
def test_a_file_that_was_changed_since_keeps_everything_but_our_entries(file: tuple[dict[str, Any], str]) -> None:
    data, text = file
    place = Path("settings.json")
    if not _takes(data) or "memorist" in data.get("mcpServers", {}):
        return
    after = agents._without(place, agents._with(place, text, ENTRIES), ENTRIES)  # pyright: ignore[reportPrivateUsage]
    assert _without_empty(edit_json.parsed(after).value) == _without_empty(data)
    for comment in ("// a } note", "/* , [ */", "/**/"):
        assert after.count(comment) == text.count(comment)


def _without_empty(data: dict[str, Any]) -> dict[str, Any]:
    """Settings without the lists and objects for our entries that hold nothing."""
    hooks = {name: one for name, one in data.get("hooks", {}).items() if one or name != "SessionStart"}
    kept = {**data, "hooks": hooks}
    return {name: one for name, one in kept.items() if one or name not in ("hooks", "mcpServers")}


TOML = st.lists(
    st.sampled_from(
        [
            "# a note\n",
            'model = "x" # mine\n',
            "\n",
            "[a]\n",
            "[a.b]\nx = [\n 1,\n]\n",
            "[[c]]\ny = '''\n[mcp_servers.memorist]\n'''\n",
            '[mcp_servers."b c"]\ncommand = "x"\n',
            "[mcp_servers.z.env]\nK = 1\n",
        ]
    ),
    max_size=6,
    unique=True,
).map("".join)


@given(TOML, st.booleans())
def test_a_table_comes_and_goes_without_a_trace(text: str, windows: bool) -> None:
    text = text.replace("\n", "\r\n") if windows else text
    try:
        before = tomllib.loads(text)
    except ValueError:
        return
    entry = {"command": 'pöy\x7f"\\', "args": ["a", "-m"], "env": {"K": "v"}}
    after = edit_toml.added(text, "mcp_servers", "memorist", entry)
    assert after.startswith(text) and tomllib.loads(after)["mcp_servers"]["memorist"] == entry
    assert tomllib.loads(edit_toml.removed(after, "mcp_servers", "memorist")) == before
