"""The commands that edit memories and walk their names."""

from __future__ import annotations

import re

from tests.surfaces.conftest import Cli


def test_update_prints_the_new_version_and_says_if_nothing_changes(cli: Cli) -> None:
    id = cli("remember", "Ann lives in Rome.", "--at", "2024-01-01", "--topic", "home", "--json").data["id"]
    shown = cli("update", id[:8], "Ann lives in Milan.", "--at", "2024-06-01").out
    assert re.fullmatch(r"✓ Merged: [0-9a-f]{8}  2024-06-01  Ann lives in Milan\.\n", shown)
    after = cli("update", id, "--importance", "0.9", "--clear", "topic", "--metadata", '{"n": 1}', "--json").data
    assert (after["id"], after["version"], after["importance"], after["topic"], after["metadata"]) == (
        *(id, 3, 0.9, None),
        {"n": 1},
    )
    assert cli("update", id, "Ann lives in Milan.").out.startswith("· Known already: ")
    assert cli("recall", "Where does Ann live?", "--as-of", "2024-02-01", "--json").data["items"][0]["text"] == (
        "Ann lives in Rome."
    )
    assert "cannot be emptied" in cli("update", id, "--clear", "scope").problem
    assert cli("update", "nobody", "Something.").status == 1


def test_several_are_shown_and_forgotten(cli: Cli) -> None:
    one, two, three = (cli("remember", text, "--json").data["id"] for text in ("An owl.", "A heron.", "A kettle."))
    assert [shown["id"] for shown in cli("show", two[:8], one, "--json").data] == [two, one]
    assert cli("show", two, one).out.count("valid_from") == 2
    assert "no memory 'nobody'" in cli("forget", one, "nobody", "--yes").problem
    assert cli("forget", one, two[:8], "--yes").out == "Forgot 2 memories.\n"
    assert [left["id"] for left in cli("list", "--json").data["items"]] == [three]


def test_names_are_printed_with_what_relates_them(empty: Cli, cli: Cli) -> None:
    assert empty("entities").out == "No names here.\n"
    cli("remember", "Ann works at Heron Labs.", "--at", "2024-01-01")
    cli("remember", "Bob works at Heron Labs.", "--at", "2024-02-01", "--scope", "user:bob")
    assert cli("entities").out.splitlines()[0] == "Heron Labs  organisation  2 memories, 2 facts, last 2024-02-01"
    assert [record["name"] for record in cli("entities", "bo", "--json").data] == ["Bob"]
    lines = cli("neighbours", "ann", "--hops", "2").out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "Ann works_at Heron Labs",
        "Bob works_at Heron Labs",
    ]
    assert re.fullmatch(r"    [0-9a-f]{8} 2024-01-01 Ann works at Heron Labs\.", lines[1])
    assert cli("neighbours", "Ann", "--hops", "2", "--limit", "1").out.endswith("There are more: --limit shows them.\n")
    assert len(cli("neighbours", "Ann", "--hops", "2", "--scope", "global", "--json").data["edges"]) == 1
    assert cli("neighbours", "Nobody").out == "No memory mentions Nobody.\n"
