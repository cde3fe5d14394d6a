"""Secrets are found in texts of people and programs, and reach no log, error, trace or file."""

from __future__ import annotations

import json
import logging
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from unicodedata import normalize

import pytest

import memorist
from memorist import config
from memorist.errors import Error, InvalidInput, without_passwords
from memorist.surfaces.cli import main
from memorist.text.secrets import mask_secrets, secrets_in
from memorist_server.rest.server import Settings
from server_tests.rest.conftest import running
from tests.attacks.key_material import filled
from tests.secret_samples import SAMPLES, token

TEXTS = Path(__file__).parent / "texts"
SETS = ("tuned", "held_out")
"""Patterns are written for texts of the first set, and only measured on the second."""
LEAST_CAUGHT = 0.95
MOST_FALSE = 2 / 80
WORD = "Blue" + "Whale42"
KEY = SAMPLES["GitHub token"][1]


def _texts(name: str) -> list[tuple[str, list[str]]]:
    """The texts of a set with the key material in them; ⏎ is a line break, and # begins the name of a class."""
    lines = (TEXTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [filled(line.replace("⏎", "\n"), seed=1) for line in lines if line and not line.startswith("# ")]


@pytest.mark.parametrize("name", SETS)
def test_nearly_every_secret_is_masked(name: str) -> None:
    texts = _texts(f"secrets_{name}")
    missed = [text for text, made in texts if any(secret in mask_secrets(text) for secret in made)]
    assert len(missed) <= (1 - LEAST_CAUGHT) * len(texts), missed


@pytest.mark.parametrize("name", SETS)
def test_hardly_any_harmless_text_is_masked(name: str) -> None:
    texts = _texts(f"harmless_{name}")
    wrong = [mask_secrets(text) for text, _ in texts if secrets_in(text)]
    assert len(wrong) <= MOST_FALSE * len(texts), wrong


WIDE = {sign: sign + 0xFEE0 for sign in range(33, 127)}
DISGUISES = {
    "unseen in the word": f"pass\u200bword: {WORD}",
    "unseen in the key": f"It is {KEY[:3]}\u200b{KEY[3:20]}\u00ad{KEY[20:]}",
    "direction": f"\u202epassword\u202c: {WORD}",
    "wide word": f"{'password'.translate(WIDE)}: {WORD}",
    "wide key": f"It is {KEY.translate(WIDE)}",
    "JSON in JSON": json.dumps({"body": json.dumps({"password": WORD})}),
    "escaped letter": f'{{"pass\\u0077ord": "{WORD}"}}',
    "percent": f"password%3D{WORD}",
    "entity": f"password&#58; {WORD}",
    "bold": f"**password**: {WORD}",
    "comparison": f"password == {WORD}",
    "row": f"| password | {WORD} |",
    "columns": f"| user | password |\n|---|---|\n| ann | {WORD} |\n",
    "CSV": f"user,password,age\nann,{WORD},7",
    "heading": f"## Password\n\n{WORD}",
    "list": f"- password\n- {WORD}",
    "answer": f"What is the password?\nAction: {WORD}",
}


@pytest.mark.parametrize("text", DISGUISES.values(), ids=DISGUISES)
def test_a_secret_in_disguise_is_masked(text: str) -> None:
    shown = normalize("NFKC", re.sub("[\u200b\u00ad]", "", mask_secrets(text)))
    assert "[secret: " in shown and WORD not in shown and KEY[:20] not in shown and KEY[20:] not in shown


@pytest.mark.parametrize(
    "text",
    [
        "| password | age |\n|---|---|\n| forgotten | 7 |",
        "user,token\nann,none",
        "Password\n\nIt was changed.",
        "caf\u00e9 100%20",
    ],
)
def test_a_table_or_a_sign_alone_is_no_secret(text: str) -> None:
    assert mask_secrets(text) == text


@pytest.mark.parametrize("metadata", [{"name": "password", "value": WORD}, {"pairs": [["password", WORD]]}])
def test_a_secret_beside_its_name_is_masked(metadata: dict[str, object]) -> None:
    with memorist.open(":memory:", embedder="none") as memory:
        assert WORD not in str(memory.remember("The form.", metadata=metadata).metadata)
        assert WORD not in str(memory.relate("the wifi password", "equals", WORD))


@pytest.mark.parametrize("field", ["metadata", "keywords"])
def test_what_holds_countless_secrets_is_refused(field: str) -> None:
    many = [f"password: Blue{place}Whale" for place in range(2000)]
    with memorist.open(":memory:", embedder="none") as engine, pytest.raises(InvalidInput, match="hundreds"):
        engine.remember("A list.", **{field: many if field == "keywords" else {"list": many}})  # type: ignore[arg-type]


def test_a_pin_is_masked_in_every_field_but_not_inside_a_date() -> None:
    with memorist.open(":memory:", embedder="none") as memory:
        kept = memory.remember("My PIN is 2024.", metadata={"note": "met on 2024-05-12, typed 2024 twice"})
    assert kept.text == "My PIN is [secret: PIN]."
    assert kept.metadata["note"] == "met on 2024-05-12, typed [secret: PIN] twice"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"redis://:{WORD}@cache:6379/0", "redis://…@cache:6379/0"),
        (f"postgresql://ann:{WORD}@db/app", "postgresql://…@db/app"),
        (f"postgresql://ann:p@ss/{WORD}@db/app", "postgresql://…@db/app"),
        (f"postgresql://db/app?user=ann&password={WORD}&x=1", "postgresql://db/app?user=ann&password=…&x=1"),
        ("https://db/app?x=1", "https://db/app?x=1"),
    ],
)
def test_an_error_shows_no_password_of_a_url(url: str, shown: str) -> None:
    assert without_passwords(url) == shown
    assert str(Error(f"Cannot open {url}", remedy="Check it.")) == f"Cannot open {shown}. Check it."


def _use(settings: dict[str, object]) -> None:
    with memorist.open(config=settings) as memory:
        memory.remember("Alice moved to Stockholm.")
        memory.recall("Where does Alice live?")


@pytest.mark.parametrize(
    "given",
    [
        {"db": f"postgers://ann:{WORD}@db/app"},
        {"db": f"postgresql://ann:{WORD}@[db/app"},
        {"db": f"postgresql://ann:{WORD}@127.0.0.1:1/app"},
        {"db": f"postgresql://ann:{WORD}@127.0.0.1:port/app"},
        {"embedder": f"http://ann:{WORD}@host/"},
        {"embedder": f"{KEY}{WORD}"},
        {"llm": f"http://ann:{WORD}@host/"},
        {"llm": "openai:gpt", "llm_options": {"url": f"ftp://ann:{WORD}@host"}},
        {"llm": "openai:gpt", "llm_options": {"key": WORD}},
        {"reranker": f"https://ann:{WORD}@host"},
        {"embedder": "openai:small", "embedder_options": {"url": f"http://ann:{WORD}@127.0.0.1:1?x", "dim": 8}},
    ],
    ids=str,
)
def test_a_wrong_setting_is_refused_without_its_secret(tmp_path: Path, given: dict[str, object]) -> None:
    settings = {"db": str(tmp_path / "a.db"), "embedder": "none", **given}
    with pytest.raises(Error) as refused:
        _use(settings)
    assert WORD not in f"{refused.value} {refused.value!r} {refused.value.problem} {refused.value.__context__}"


def test_settings_do_not_show_their_secrets() -> None:
    given = {"db": f"postgresql://ann:{WORD}@db/app", "llm_options": {"url": f"http://ann:{WORD}@host", "key": WORD}}
    assert WORD not in repr(config.load(given))
    assert "db='postgresql://…@db/app'" in repr(config.load(given))


def test_the_doctor_shows_no_password(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--db", f"postgresql://ann:{WORD}@127.0.0.1:1/app", "--embedder", "none", "doctor"]) == 1
    shown = capsys.readouterr()
    assert "127.0.0.1" in shown.out + shown.err
    assert WORD not in shown.out + shown.err


def _bytes_under(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


def _judge(memory: memorist.Engine, query: str) -> None:
    found = memory.recall(query)
    memory.feedback(found.items[0].memory.id, "wrong", found)


ASK: dict[str, Callable[[memorist.Engine, str], object]] = {
    "recall": lambda memory, text: memory.recall(text),
    "feedback": _judge,
    "why_not": lambda memory, text: memory.why_not(text, memory.list().items[0].id),
    "recall_in_context": lambda memory, text: memory.recall_in_context(memory.session("a goal").id, text),
    "history": lambda memory, text: memory.history(text),
    "forget": lambda memory, text: memory.forget(text),
    "undo": lambda memory, text: memory.undo(text),
}


@pytest.mark.parametrize("verb", ASK)
def test_a_secret_in_a_question_is_kept_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture, verb: str) -> None:
    caplog.set_level(logging.DEBUG, logger="memorist")
    notices: list[object] = []
    settings = {"embedder": "none", "notice_text": 1}
    with memorist.open(tmp_path / "agent.db", config=settings, notify=notices.append) as memory:
        memory.remember("Alice moved to Stockholm.")
        with suppress(memorist.NotFound):
            ASK[verb](memory, f"Where does Alice live? My token is {KEY}")
        told = [*memory.journal(), *notices, caplog.text]
    assert KEY not in str(told)
    assert KEY.encode() not in _bytes_under(tmp_path)


def test_a_server_logs_no_query_and_no_key(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    own = token(32, seed="a key of ours")
    with running(Settings(db=str(tmp_path), embedder="none")) as served, served.http(own) as http:
        for method, path in (
            ("POST", "/v1/spaces/agent/recall"),
            ("POST", f"/v1/spaces/agent/memories?text={KEY}"),
            ("GET", f"/v1/spaces/agent/memories/{KEY}"),
            ("GET", f"/v1/nowhere/{KEY}?token={KEY}"),
        ):
            http.request(
                method, path, json={"query": f"token {KEY}", "text": 7, "k": KEY}, headers={"X-Request-Id": "a"}
            )
    logged = [record.getMessage() + str(record.__dict__) for record in caplog.records if record.name != "httpx"]
    ours = [line for line in logged if "httpcore" not in line]
    assert any("request" in line for line in ours)
    assert not [line for line in ours if KEY in line or own in line]
    assert KEY.encode() not in _bytes_under(tmp_path)


URLS = (f"postgresql://ann:{WORD}@db.example/memories", f"postgresql://db.example/memories?user=ann&password={WORD}")


@pytest.mark.parametrize("url", URLS)
def test_a_password_in_the_settings_of_an_mcp_client_is_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    """It is in no argument, which others on the machine could list, and is not printed."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    file = tmp_path / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text("{}")
    file.chmod(0o644)
    for options in (["--dry-run"], ["--dry-run", "--json"], ["--json"], [], ["--name", "other"]):
        assert main(["--db", url, "install", "cursor", "--no-hooks", *options]) == 0
    entry = json.loads(file.read_text())["mcpServers"]["memorist"]
    assert WORD not in str(entry["args"]) and entry["env"] == {"MEMORIST_DB": url}
    assert {stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()} == {0o600}
    told = "".join(capsys.readouterr())
    assert WORD not in told and "~/.pgpass" in told


def test_hooks_are_not_given_a_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command of a hook is a line in a file and in the list of processes: there is no place for a secret."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert main(["--db", URLS[0], "install", "claude-code"]) == 1
    assert "~/.pgpass" in capsys.readouterr().err
    assert not (tmp_path / ".claude.json").exists()


def test_a_url_without_a_password_stays_an_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert main(["--db", "postgresql://ann@db.example/memories", "install", "cursor"]) == 0
    entry = json.loads((tmp_path / ".cursor" / "mcp.json").read_text())["mcpServers"]["memorist"]
    assert "postgresql://ann@db.example/memories" in entry["args"] and "env" not in entry
