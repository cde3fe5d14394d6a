from __future__ import annotations

import gc
import socket
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.errors import InvalidInput, MissingExtra, ModelUnavailable
from memorist.http import RETRY_AFTER_CAP
from memorist.models.http import Endpoint, RequestRefused, Service, bearer, find_key
from tests.models.scripted_server import Answer, ScriptedServer

KEY = "sk-secret-0123456789"
TEXT = "the vault opens at dawn"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def waits() -> list[float]:
    return []


def endpoint(server: ScriptedServer, waits: list[float], **options: object) -> Endpoint:
    service = Service(
        server.url + "/v1/",
        "SOME_API_KEY",
        not_found="Fetch {model}.",
        unreachable="Start it with `serve`.",
    )
    return Endpoint(service, "llama", key=KEY, sleep=waits.append, **options)  # pyright: ignore[reportArgumentType]


def failure(server: ScriptedServer, waits: list[float], **options: object) -> ModelUnavailable:
    with pytest.raises(ModelUnavailable) as caught:
        endpoint(server, waits, **options).post("/embeddings", {"input": TEXT})
    assert KEY not in str(caught.value)
    assert TEXT not in str(caught.value)
    return caught.value


def test_post_sends_json_and_headers_and_gives_the_decoded_answer(server: ScriptedServer, waits: list[float]) -> None:
    server.default = Answer({"ok": [1, 2.5, "é"]})
    assert endpoint(server, waits).post("/things", {"name": "李雷 🦙"}) == {"ok": [1, 2.5, "é"]}
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/things")
    assert request.json == {"name": "李雷 🦙"}
    assert request.headers["content-type"] == "application/json"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert waits == []


def test_get_sends_no_body(server: ScriptedServer, waits: list[float]) -> None:
    endpoint(server, waits).get("/models")
    (request,) = server.requests
    assert (request.method, request.path, request.raw) == ("GET", "/v1/models", b"")


def test_a_lone_surrogate_becomes_a_question_mark(server: ScriptedServer, waits: list[float]) -> None:
    endpoint(server, waits).post("/x", {"text": "a\ud800b"})
    assert server.requests[0].json == {"text": "a?b"}


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_passing_failure_is_tried_again_until_it_works(
    server: ScriptedServer, waits: list[float], status: int
) -> None:
    server.script = [Answer({"error": "later"}, status=status)] * 2
    server.default = Answer({"ok": True})
    assert endpoint(server, waits).post("/x", {}) == {"ok": True}
    assert len(server.requests) == 3
    assert len(waits) == 2


def test_retries_are_bounded_and_their_waits_double(server: ScriptedServer, waits: list[float]) -> None:
    server.default = Answer({}, status=503)
    error = failure(server, waits)
    assert isinstance(error, RequestRefused)
    assert error.status == 503
    assert len(server.requests) == 4
    for wait, most in zip(waits, [0.25, 0.5, 1.0], strict=True):
        assert most / 2 <= wait <= most


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422, 301, 307])
def test_another_refusal_is_not_tried_again(server: ScriptedServer, waits: list[float], status: int) -> None:
    server.default = Answer({}, status=status, headers={"location": server.url + "/elsewhere"})
    error = failure(server, waits)
    assert isinstance(error, RequestRefused)
    assert error.status == status
    assert len(server.requests) == 1
    assert waits == []


def test_retry_after_in_seconds_is_honoured(server: ScriptedServer, waits: list[float]) -> None:
    server.script = [Answer({}, status=429, headers={"retry-after": "7"})]
    endpoint(server, waits).post("/x", {})
    assert waits == [7.0]


def test_retry_after_is_capped(server: ScriptedServer, waits: list[float]) -> None:
    tomorrow = format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True)
    server.script = [
        Answer({}, status=429, headers={"retry-after": "86400"}),
        Answer({}, status=503, headers={"retry-after": tomorrow}),
    ]
    endpoint(server, waits).post("/x", {})
    assert waits == [RETRY_AFTER_CAP, RETRY_AFTER_CAP]


def test_a_retry_after_in_the_past_does_not_wait(server: ScriptedServer, waits: list[float]) -> None:
    server.script = [Answer({}, status=429, headers={"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"})]
    endpoint(server, waits).post("/x", {})
    assert waits == [0.0]


@pytest.mark.parametrize("nonsense", ["soon", "-3", "1.5", ""])
def test_a_retry_after_that_says_nothing_falls_back_to_our_own_wait(
    server: ScriptedServer, waits: list[float], nonsense: str
) -> None:
    server.script = [Answer({}, status=429, headers={"retry-after": nonsense})]
    endpoint(server, waits).post("/x", {})
    assert 0.125 <= waits[0] <= 0.25


def test_a_permanent_5xx_is_not_tried_again(server: ScriptedServer, waits: list[float]) -> None:
    server.default = Answer({"error": "input is too large"}, status=500)
    error = failure(server, waits, permanent=lambda words: "too large" in words)
    assert isinstance(error, RequestRefused)
    assert "input is too large" in error.detail
    assert len(server.requests) == 1


def test_a_dropped_connection_is_tried_again(server: ScriptedServer, waits: list[float]) -> None:
    server.script = [Answer(cut=True)]
    server.default = Answer({"ok": True})
    assert endpoint(server, waits).post("/x", {}) == {"ok": True}
    assert len(waits) == 1


def test_an_answer_that_breaks_off_is_tried_again(server: ScriptedServer, waits: list[float]) -> None:
    server.script = [Answer(b'{"ok"', headers={"content-length": "1000"})]
    server.default = Answer({"ok": True})
    assert endpoint(server, waits).post("/x", {}) == {"ok": True}
    assert len(server.requests) == 2


def test_a_connection_that_keeps_dropping_says_how_to_go_on(server: ScriptedServer, waits: list[float]) -> None:
    server.default = Answer(cut=True)
    error = failure(server, waits)
    assert "cannot be reached (RemoteProtocolError)" in error.problem
    assert error.remedy == "Start it with `serve`."
    assert len(server.requests) == 4


def test_a_refused_connection_names_the_host_and_is_tried_again(waits: list[float]) -> None:
    with socket.socket() as taken:  # bound but not listening: nothing can answer there
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        broken = Endpoint(Service(f"http://user:{KEY}@127.0.0.1:{port}"), sleep=waits.append)
        with pytest.raises(ModelUnavailable, match=rf"^127\.0\.0\.1:{port} cannot be reached") as caught:
            broken.post("/x", {"input": TEXT})
    assert KEY not in str(caught.value)
    assert len(waits) == 3


def test_a_read_time_out_is_not_tried_again(server: ScriptedServer, waits: list[float]) -> None:
    server.default = Answer(hold=True)
    error = failure(server, waits, timeout=0.05)
    assert "did not answer within 0.05 seconds" in error.problem
    assert "`timeout`" in error.remedy
    assert len(server.requests) == 1
    assert waits == []


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_the_environment_variable(server: ScriptedServer, waits: list[float], status: int) -> None:
    words = f"Incorrect API key provided: {KEY}"
    server.default = Answer({"error": {"message": words, "code": "invalid_api_key"}}, status=status)
    error = failure(server, waits)
    assert f"answered {status} (invalid_api_key)" in error.problem
    assert "SOME_API_KEY" in error.remedy


def test_the_servers_own_words_stay_out_of_the_message(server: ScriptedServer, waits: list[float]) -> None:
    server.default = Answer({"error": {"message": f"bad input: {TEXT}", "code": f"{TEXT} {KEY}"}}, status=400)
    error = failure(server, waits)
    assert isinstance(error, RequestRefused)
    assert TEXT in error.detail
    assert error.problem.endswith("answered 400")


def test_a_quota_error_shows_its_code_and_remedy(server: ScriptedServer, waits: list[float]) -> None:
    server.default = Answer({"error": {"code": "insufficient_quota"}}, status=429)
    error = failure(server, waits, retries=0)
    assert "(insufficient_quota)" in error.problem
    assert "limit" in error.remedy


def test_a_remedy_given_for_a_status_replaces_ours(server: ScriptedServer, waits: list[float]) -> None:
    server.default = Answer({}, status=404)
    assert failure(server, waits).remedy == "Fetch llama."


@pytest.mark.parametrize("raw", [b"", b"<html>", b'{"a": ', b"\xff\xfe\x00", b"[" * 100_000])
def test_an_answer_that_is_not_json_is_said_to_be_that(server: ScriptedServer, waits: list[float], raw: bytes) -> None:
    server.default = Answer(raw)
    assert "not JSON" in failure(server, waits).problem


def test_a_huge_answer_is_given_up(server: ScriptedServer, waits: list[float]) -> None:
    server.default = Answer(b'"' + b"x" * 5000 + b'"')
    assert "more than 1,000 bytes" in failure(server, waits, limit=1000).problem
    assert len(server.requests) == 1


def test_an_answer_that_cannot_be_decompressed_is_said_to_be_that(server: ScriptedServer, waits: list[float]) -> None:
    server.default = Answer(b"no gzip at all", headers={"content-encoding": "gzip"})
    assert "decompressed" in failure(server, waits).problem


def test_threads_share_an_endpoint(server: ScriptedServer, waits: list[float]) -> None:
    server.default = lambda request: Answer(request.json)
    shared = endpoint(server, waits)
    seen: dict[int, object] = {}
    threads = [threading.Thread(target=lambda n=n: seen.update({n: shared.post("/x", {"n": n})})) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {n: {"n": n} for n in range(16)}


def test_an_endpoint_closes_its_connections_when_it_is_forgotten(server: ScriptedServer, waits: list[float]) -> None:
    forgotten = endpoint(server, waits)
    forgotten.post("/x", {})
    client = forgotten._client  # pyright: ignore[reportPrivateUsage]
    del forgotten
    gc.collect()
    assert client.is_closed


def test_closing_twice_is_harmless(server: ScriptedServer, waits: list[float]) -> None:
    closed = endpoint(server, waits)
    closed.close()
    closed.close()


@pytest.mark.parametrize("url", ["", "localhost:11434", "ftp://host", "http://", "http://h/?a=1", "http://[::"])
def test_an_address_that_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="https://host:port/path"):
        Endpoint(Service(url))


def test_a_socks_proxy_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(MissingExtra, match=r"httpx\[socks\]"):
        Endpoint(Service("http://example.org"))


def test_the_key_given_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", " from-the-environment\n")
    assert find_key("given", "SOME_API_KEY") == "given"
    assert find_key(None, "SOME_API_KEY") == "from-the-environment"
    assert find_key(None, None) is None
    monkeypatch.setenv("SOME_API_KEY", "  ")
    assert find_key(None, "SOME_API_KEY") is None
    assert bearer(None) == {}


@pytest.mark.parametrize("key", ["“sk-secret”", "sk-se\ncret", "sk-\x7f", "ключ"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(InvalidInput, match="The key in SOME_API_KEY has characters") as caught:
        find_key(key, "SOME_API_KEY")
    assert key not in str(caught.value)


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=1))
def test_any_printable_key_is_taken_as_it_is(key: str) -> None:
    assert find_key(f" {key}\n", None) == key
