"""What every command promises: exit statuses, one line of complaint, pure JSON, no crash on any text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import memorist
from memorist.errors import Remedy, VerbCall
from tests.surfaces.conftest import Cli

SIGNAL = {"rank", "score", "norm"}
ITEM = {
    *("id", "rank", "score", "text", "kind", "scope", "tier", "importance", "confidence", "topic", "emotion_tags"),
    *("flags", "speaker", "session", "fact", "signals", "phase", "hop", "valid_from", "valid_to", "ingested_at"),
    *("source", "notes", "probability"),
}
TOUCHED = {"id", "kind", "score", "phase", "hop", "memory"}
TRACE = {
    *("stages", "total_ms", "mode", "tags", "candidate_count", "candidates_per_hop", "scores", "phase_timings", "llm"),
}
STAGE = {"stage", "ms", "before", "after", "skipped", "notes"}
RECALL = {
    *(
        "id",
        "query",
        "recipe",
        "now",
        "abstained",
        "why_abstained",
        "remarks",
        "cites_sources",
        "shown_before",
        "standing",
        "confidence",
        "tokens",
        "context",
        "reasoned",
        "items",
        "touched",
        "trace",
    ),
}
HOSTILE = [
    "\"' OR NEAR( *",
    "",
    " ",
    "\n",
    "*",
    "a AND",
    'NOT "',
    "{[(^~",
    "%_\\",
    "👩‍👩‍👧‍👦 🏳️‍🌈",
    "אבג\u202eעברית",
    "她住在哪里？",
    "\x1b[31mred\x07",
    "x" * 10_000,
    "é" * 500,
    "\ufeff\u200b",
    "; DROP TABLE memories; --",
]


def test_one_process_remembers_and_another_recalls_the_promised_json(process: Cli, db: Path) -> None:
    before = ("--db", str(db), "--embedder", "none")
    kept = process(*before, "remember", "Alice moved to Stockholm.", "--at", "2024-06-03", "--json").data
    found = process(*before, "recall", "Where did Alice move?", "--json").data
    assert found.keys() == RECALL
    assert found["reasoned"].keys() == {"episodic", "semantic", "procedural"}
    assert found["trace"].keys() == TRACE
    assert all(stage.keys() == STAGE for stage in found["trace"]["stages"])
    [item] = found["items"]
    assert item.keys() == ITEM
    assert (item["id"], item["rank"], item["text"]) == (kept["id"], 1, "Alice moved to Stockholm.")
    assert item["valid_from"] == "2024-06-03T00:00:00Z"
    assert item["signals"] and all(signal.keys() == SIGNAL for signal in item["signals"].values())
    [touched] = found["touched"]
    assert touched.keys() == TOUCHED and touched["memory"] is None
    assert "Alice moved to Stockholm." in found["context"] and found["tokens"] > 0


def test_every_command_prints_one_json_document_and_nothing_else(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    id = cli("remember", "Tea at five.", "--json").data["id"]
    for arguments in (
        ("recall", "tea"),
        ("recall", "tea", "--explain"),
        ("list",),
        ("show", id),
        ("pin", id),
        ("pinned",),
        ("wake-up",),
        ("sleep",),
        ("unpin", id),
        ("stats",),
        ("recipes",),
        ("recipes", "memorist"),
        ("doctor",),
        ("demo",),
        ("forget", id, "--yes"),
    ):
        assert cli(*arguments, "--json").data is not None, arguments


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("show", "beefbeef"), "There is no memory 'beefbeef'. Look it up with `memorist list`."),
        (("remember", " "), "A memory's text is empty. Give it at least one visible character."),
        (("recall", "x", "--as-of", "soon"), "'soon' is not a time. Write it as ISO 8601, such as 2024-06-03"),
        (("recall", "x", "--recipe", "soup"), "There is no recipe 'soup'. Choose one of "),
        (("recipes", "soup"), "There is no recipe 'soup'. Choose one of "),
        (("list", "--cursor", "?!"), ""),
    ],
)
@pytest.mark.parametrize("json", [(), ("--json",)])
def test_a_problem_is_one_line_and_status_1(
    empty: Cli, arguments: tuple[str, ...], problem: str, json: tuple[str, ...]
) -> None:
    ran = empty(*arguments, *json)
    assert ran.status == 1
    assert ran.problem.startswith(problem)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("recall",), "Missing argument 'QUERY'. Try 'memorist recall --help'."),
        (("lst",), "No such command 'lst'. Did you mean 'list'? Try 'memorist --help'."),
        (("recall", "--bogus"), "No such option: --bogus"),
        (("recall", "x", "--top-k", "3"), "No such option: --top-k. Use --limit. Try 'memorist recall --help'."),
        (("recall", "x", "-k", "3"), "No such option: -k. Use --limit."),
        (("recall", "x", "--user-id", "ann"), "No such option: --user-id. Use --scope or --speaker."),
        (("recall", "x", "--asOf", "2024"), "No such option: --asOf. Did you mean --as-of?"),
        (("remember", "x", "--tags", "y"), "No such option: --tags. Use --keywords or --topic."),
        (("recall", "x", "--limit", "many"), "Invalid value for '--limit'"),
        (("remember", "x", "--kind", "rumour"), "Invalid value for '--kind'"),
        (("remember", "x", "--metadata", "{"), "Invalid value for '--metadata': it is not JSON"),
        (("remember", "x", "--metadata", "[1]"), "Invalid value for '--metadata': it is not a JSON object"),
        (
            ("recall", "x", "--where", "project=atlas"),
            "Invalid value for '--where': it is not JSON: Expecting value: line 1 column 1 (char 0). "
            """Write it in quotes, as '{"metadata.project": "atlas"}'.""",
        ),
        (("list", "--where", "[1]"), "Invalid value for '--where': it is not a JSON object, such as '{\"metadata"),
        (("recall", "x", "--context", "--json"), "Invalid value: --context cannot be combined with --json"),
        (("list", "--db", "x.db"), "No such option: --db here. Give it before the command."),
        (("dance",), "No such command 'dance'"),
        (("forget",), "Invalid value: Pass either an ID or options that choose memories, not both"),
        (
            ("forget", "beef", "--tier", "core"),
            "Invalid value: Pass either an ID or options that choose memories, not both",
        ),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(cli: Cli, arguments: tuple[str, ...], problem: str) -> None:
    ran = cli(*arguments)
    assert ran.status == 2
    assert ran.problem.startswith(problem)


def test_help_and_version_end_well(bare: Cli) -> None:
    assert bare("--version").out == f"memorist {memorist.__version__}\n"
    assert bare() == bare("--help")
    assert "recall" in bare().out


def test_an_unexpected_failure_is_one_line_that_says_how_to_see_more(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of\ncheese\x1b[31m")

    monkeypatch.setattr("memorist.engine.open.open_engine", broken)
    ran = cli("stats", "--json")
    assert ran.status == 1
    assert ran.problem == r"Unexpected RuntimeError: out of cheese\x1b[31m. Set MEMORIST_DEBUG=1 to see the traceback."
    monkeypatch.setenv("MEMORIST_DEBUG", "1")
    ran = cli("stats")
    assert ran.status == 1
    assert "Traceback" in ran.err and "in broken" in ran.err


def test_a_remedy_names_commands_and_options(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        calls = VerbCall("list"), VerbCall("open", {"embedder": "none"})
        raise memorist.Error("It does not fit", remedy=Remedy("Look it up with ", calls[0], ", or use ", calls[1], "."))

    monkeypatch.setattr("memorist.engine.open.open_engine", refused)
    assert cli("stats").problem == "It does not fit. Look it up with `memorist list`, or use `--embedder none`."


def test_an_interrupted_command_ends_with_130(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("memorist.engine.open.open_engine", interrupted)
    ran = cli("stats")
    assert (ran.status, ran.out) == (130, "")


def test_a_reader_that_goes_away_is_no_reason_to_complain(db: Path) -> None:
    with memorist.open(db, embedder="none") as engine:
        engine.remember_many(f"Number {number}. " + "word " * 500 for number in range(100))
    command = [sys.executable, "-m", "memorist", "--db", str(db), "list", "--json"]
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}  # unbuffered, Python does not notice
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.read(1)
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 1


@pytest.mark.parametrize("query", HOSTILE)
def test_hostile_queries_are_only_queries(cli: Cli, query: str) -> None:
    cli("remember", 'Alice moved to Stockholm in *June* ("at last").')
    assert cli("recall", "--json", "--", query).data["query"] == query
    assert cli("recall", "--", query).status == 0


@given(query=st.text())
@example(query="--help")
@example(query="-")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_query_at_all_is_answered(empty: Cli, query: str) -> None:
    assert empty("recall", "--json", "--", query).data["query"] == query


@pytest.mark.parametrize("query", ["--", "---", "--explain=", "-x", "--=", "- -"])
def test_a_query_like_an_option_is_answered_or_refused_in_one_line(empty: Cli, query: str) -> None:
    ran = empty("recall", query)
    assert ran.status in (0, 2)
    assert ran.status == 0 or ran.problem


def test_bytes_that_are_no_text_are_answered_too(cli: Cli, process: Cli, db: Path) -> None:
    before = ("--db", str(db), "--embedder", "none")
    cli("remember", "Alice moved.")
    assert process(*before, "recall", b"Alice \xff\xfe", "--json").data["query"] == "Alice \udcff\udcfe"
    assert process(*before, "recall", b"Alice \xff\xfe").status == 0
    refused = process(*before, "remember", b"\xff")
    assert refused.status == 1
    assert "half a surrogate pair" in refused.problem


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii:strict"}


def test_a_terminal_that_knows_only_ascii_gets_ascii(cli: Cli, process: Cli, db: Path) -> None:
    before = ("--db", str(db), "--embedder", "none")
    cli("remember", "Zoë → 林晓 👋 wave")
    assert process(*before, "list", "--json", **ASCII).data["items"][0]["text"] == "Zoë → 林晓 👋 wave"
    shown = process(*before, "recall", "wave", "--explain", **ASCII)
    assert shown.status == 0 and shown.out.isascii()
    assert r"Zo\xeb -> \u6797\u6653 \U0001f44b wave" in shown.out
    assert process("--help", **ASCII).out.isascii()


def test_memories_cannot_steer_the_terminal(cli: Cli) -> None:
    id = cli("remember", "\x1b]0;owned\x07 \x9b2J red\r alert", "--json").data["id"]
    for arguments in (("list",), ("show", id), ("recall", "red alert"), ("recall", "red alert", "--explain")):
        ran = cli(*arguments)
        assert ran.status == 0
        assert not {"\x1b", "\x07", "\x9b", "\r"} & set(ran.out), arguments
        assert r"\x1b]0;owned\x07" in ran.out


ENGINE = {"numpy", "onnxruntime", "tokenizers", "apsw", "Stemmer", "httpx"}
BASE = {"app", "output"}


@pytest.mark.parametrize(
    ("arguments", "modules"),
    [
        (("--help",), BASE),
        (("dance",), BASE),
        (("recall", "--help"), {*BASE, "options", "find"}),
        (("remember",), {*BASE, "options", "write"}),
        (("forget",), {*BASE, "options", "write"}),
        (("keys", "--help"), {*BASE, "options"}),
    ],
)
def test_help_loads_no_engine_and_only_the_module_of_its_command(arguments: tuple[str, ...], modules: set[str]) -> None:
    code = (
        "import sys, json; from memorist.surfaces.cli import main; main(sys.argv[1:]); "
        "json.dump(sorted(sys.modules), sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    loaded: list[str] = json.loads(ran.stderr.splitlines()[-1])
    ours = {name.removeprefix("memorist.") for name in loaded if name.startswith("memorist.")}
    assert "typer" in loaded
    assert not ENGINE & set(loaded)
    assert {name.removeprefix("surfaces.cli.") for name in ours if name.startswith("surfaces.cli.")} == modules
    assert not {name.partition(".")[0] for name in ours} & {"engine", "recall", "remember", "stores", "upkeep"}
    others = {name for name in loaded if name.startswith("memorist_")}
    assert all(name.startswith("memorist_server") for name in others) if arguments[0] == "keys" else not others


def test_a_process_says_that_its_output_was_lost() -> None:
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run([sys.executable, "-m", "memorist", "--version"], stdout=full, stderr=subprocess.PIPE)
    assert (ran.returncode, ran.stderr) == (1, b"")


def test_the_entry_point_itself_loads_no_vendor() -> None:
    code = "import sys, memorist.surfaces.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"typer", "rich", "numpy", "apsw"} & set(loaded)


def test_an_environment_without_home_is_enough(process: Cli, db: Path) -> None:
    before = ("--db", str(db), "--embedder", "none")
    assert process(*before, "remember", "Tea at five.", "--json", HOME="", TERM="dumb").data["text"] == "Tea at five."
    assert process(*before, "stats", "--json", HOME="", TERM="dumb").data["memories"] == 1
    assert os.path.exists(db)
