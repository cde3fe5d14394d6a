"""Whatever a caller passes, a verb answers, or it says what is wrong and what to do: no other error comes out."""

from __future__ import annotations

import asyncio
import inspect
import io
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import memorist
from memorist import Engine, Error, InvalidInput
from memorist.aio import AsyncEngine
from memorist.model.arguments import MAX_BYTES, MOST_NESTED
from memorist.stores.memory import MemoryStore
from memorist.verbs import SessionVerbs, Verbs


def nested(levels: int, inner: object = None) -> Any:
    """Mappings and lists inside each other."""
    for level in range(levels):
        inner = {"a": inner} if level % 2 else [inner]
    return {"a": inner}


WRONG: tuple[Any, ...] = (
    *(5, 3.5, -1, 0, True, 10**30, math.nan, -math.inf, None, object()),
    *("", " ", "abc", "\ud800", "a\0b", "2024-13-45", b"abc", bytearray(b"abc")),
    *([], ["a"], [5], [None], ("a",), {1}, frozenset(["a"]), {}, {"a": 1}, {1: "a"}, iter(["a"]), iter([5])),
    *(Path("abc"), date(2024, 1, 1), datetime(2024, 1, 1), datetime.min, datetime.max),
    *(nested(300), nested(3000), nested(300)["a"]),
)


def parameters(verb: Callable[..., Any]) -> list[str]:
    """The names of everything that a verb takes."""
    hints = get_type_hints(verb)
    found: list[str] = []
    for name, one in inspect.signature(verb).parameters.items():
        if one.kind is one.VAR_KEYWORD:
            found += get_type_hints(get_args(hints[name])[0])
        elif name != "self":
            found.append(name)
    return found


def verbs_of(protocol: type) -> dict[str, Callable[..., Any]]:
    return {name: verb for name, verb in vars(protocol).items() if inspect.isfunction(verb) and name[0] != "_"}


USUAL: dict[str, Any] = {
    **{"text": "The lamp is on.", "query": "lamp", "session": "s", "memories": ["One owl."], "name": "lamp"},
    **{"what": [{"role": "user", "content": "Hi."}], "subject": "Ann", "relation": "likes", "object": "tea"},
    **{"observation": "It hums.", "id": "nobody", "entry": "nothing", "verdict": "useful", "entity": "Ann"},
}
"""Valid values of the parameters that must be given."""
CASES = [(verb, name) for verb, function in verbs_of(Verbs).items() for name in parameters(function)]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    path = tmp_path_factory.mktemp("types") / "a.db"
    with memorist.open(path, embedder="none", background=False, config={}) as made:
        made.remember("The lamp is on.")
        yield made


def given_to(function: Callable[..., Any], recall: object, report: object, folder: Path) -> dict[str, Any]:
    """Valid values for what a verb must be given."""
    usual = {**USUAL, "recall": recall, "report": report, "path": folder / "file"}
    needed = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
    ]
    return {
        parameter.name: usual[parameter.name]
        for parameter in needed
        if parameter.name != "self" and parameter.kind is not parameter.VAR_KEYWORD
    }


@pytest.mark.parametrize(("verb", "name"), CASES)
def test_no_value_breaks_a_verb(engine: Engine, verb: str, name: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    function = verbs_of(Verbs)[verb]
    usual = given_to(function, engine.recall("lamp"), engine.audit(), tmp_path)
    for wrong in WRONG:
        called: dict[str, Any] = {**usual, name: wrong}
        positional = [called.pop(name) for name in ("session", "query") if verb == "recall_in_context"]
        with suppress(Error):
            getattr(engine, verb)(*positional, **called)


@pytest.mark.parametrize("verb", ["remember", "recall", "forget", "relate", "list", "history"])
def test_a_client_refuses_the_same_without_a_server(verb: str) -> None:
    client, function = memorist.connect("http://127.0.0.1:1", retries=0), verbs_of(Verbs)[verb]
    for name in parameters(function):
        usual = given_to(function, None, None, Path())
        with pytest.raises(InvalidInput, match=name):
            getattr(client, verb)(**{**usual, name: object()})


@pytest.mark.parametrize("name", parameters(SessionVerbs.step))
def test_no_value_breaks_a_step(name: str) -> None:
    with Engine(MemoryStore(), background=False) as engine:
        session = engine.session("Repair the pump")
        for wrong in WRONG:
            with suppress(Error):
                session.step(**{"observation": "It hums.", name: wrong})


Attempt = Callable[[Engine], object]
REFUSED: dict[str, tuple[str, Attempt]] = {
    "a number for a text": ("text is 5. Give text a string", lambda e: e.remember(5)),  # type: ignore[arg-type]
    "nothing for a text": ("text is None", lambda e: e.remember(None)),  # type: ignore[arg-type]
    "bytes for a text": ("text is of type bytes", lambda e: e.remember(b"abc")),  # type: ignore[arg-type]
    "one string for a list": ("keywords is one string.*list of strings", lambda e: e.remember("x", keywords="abc")),
    "a text for a number": ("limit is one string.*whole number", lambda e: e.recall("x", limit="3")),  # type: ignore[arg-type]
    "less than one": ("limit is -1", lambda e: e.recall("x", limit=-1)),
    "true for a number": ("limit is True", lambda e: e.recall("x", limit=True)),
    "no number": ("importance is nan.*finite", lambda e: e.remember("x", importance=math.nan)),
    "no end": ("importance is inf", lambda e: e.remember("x", importance=math.inf)),
    "half a character": ("half a surrogate", lambda e: e.remember("\ud800")),
    "half a character in a filter": ("half a surrogate", lambda e: e.list(topic="\ud800")),
    "a NUL": ("NUL", lambda e: e.remember("a\0b")),
    "too long a text": ("text has 20,000,000 bytes", lambda e: e.remember("x" * 20_000_000)),
    "too long a question": ("query has 20,000,000 bytes", lambda e: e.recall("x" * 20_000_000)),
    "a word for a time": ("not a time.*ISO 8601", lambda e: e.remember("x", at="soon")),
    "a number for a time": ("at is 5", lambda e: e.remember("x", at=5)),  # type: ignore[arg-type]
    "a number for a scope": ("scope is 5", lambda e: e.remember("x", scope=5)),  # type: ignore[arg-type]
    "a list for an id": ("name is of type list", lambda e: e.history(["abc"])),  # type: ignore[arg-type]
    "deep metadata": (f"metadata is nested more than {MOST_NESTED}", lambda e: e.remember("x", metadata=nested(300))),
    "deep metadata among many": (
        "metadata is nested",
        lambda e: e.remember_many([{"text": "x", "metadata": nested(300)}]),
    ),
    "endless entries of a journal": ("limit is 0", lambda e: e.journal(limit=0)),
}


@pytest.mark.parametrize("attack", REFUSED)
def test_a_refusal_names_the_argument_and_the_remedy(attack: str) -> None:
    message, attempt = REFUSED[attack]
    with Engine(MemoryStore(), background=False) as engine:
        with pytest.raises(InvalidInput, match=message) as refused:
            attempt(engine)
        assert refused.value.remedy and engine.stats().memories == 0


@pytest.mark.parametrize("levels", [300, 900])
def test_deep_data_is_refused_by_imports_and_skipped_by_ingestion(levels: int) -> None:
    held = io.BytesIO()
    with Engine(MemoryStore(), background=False) as engine:
        engine.remember("The lamp is on.", metadata={"a": "HERE"})
        engine.export(held)
        line = held.getvalue().replace(b'"HERE"', b'{"a":' * levels + b"1" + b"}" * levels)
        with pytest.raises(InvalidInput, match="nested more than"):
            engine.import_(io.BytesIO(line))
        report = engine.ingest([{"role": "user", "content": "Hi.", "metadata": nested(levels)}])
    assert "nested more than" in report.skipped[0].reason


def test_the_async_engine_refuses_the_same() -> None:
    engine = AsyncEngine(Engine(MemoryStore(), background=False))
    with pytest.raises(InvalidInput, match="text is 5"):
        asyncio.run(engine.remember(5))  # type: ignore[arg-type]


def test_what_is_just_within_the_limits_is_kept() -> None:
    with Engine(MemoryStore(), background=False) as engine:
        deep = nested(MOST_NESTED - 1)
        assert engine.remember("Deep.", metadata=deep).metadata == deep
        assert engine.recall("Deep.", limit=None, entity_hints=None).items  # type: ignore[arg-type]  # not given


@pytest.mark.parametrize("place", [":memory:", "a.db", "folder/"])
def test_a_space_name_that_is_too_long_for_a_file_is_refused_everywhere(place: str, tmp_path: Path) -> None:
    opened = partial(memorist.open, place if place[0] == ":" else f"{tmp_path}/{place}", embedder="none")
    with pytest.raises(InvalidInput, match="300 bytes in UTF-8, more than 200"):
        opened(space="很" * 100)
    with pytest.raises(InvalidInput, match="space is 5"):
        opened(space=5)
    with opened(space="很" * 66) as engine:
        assert engine.remember("It fits.").outcome == "kept"


def test_a_client_refuses_such_a_space_too() -> None:
    with pytest.raises(InvalidInput, match="more than 200"):
        memorist.connect("http://127.0.0.1:1", space="很" * 100)


@pytest.mark.parametrize("url", [5, b"a.db", "\ud800.db", f"{'很' * 100}.db"])
def test_a_path_that_cannot_be_opened_is_refused(url: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput):
        memorist.open(url, embedder="none")
    assert not list(tmp_path.iterdir())


def test_no_text_is_longer_than_its_limit_in_bytes() -> None:
    with Engine(MemoryStore(), background=False) as engine, pytest.raises(InvalidInput, match="bytes"):
        engine.remember("很" * (MAX_BYTES // 3 + 1))
