"""Who may do what: keys, spaces, rights, classification, hosts and origins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from memorist.client import Refused
from memorist.errors import InvalidInput, TooClassified
from memorist_server.rest.app import check_locked
from memorist_server.rest.auth import HEALTH
from memorist_server.rest.server import Settings
from server_tests.rest.conftest import Running, Serve

AS_BYTES = {"Content-Type": "application/octet-stream"}
PLACEHOLDER = re.compile(r"\{[^}]+\}")


def operations(http: httpx.Client) -> Iterator[tuple[str, str]]:
    """Every method and path of the OpenAPI document."""
    for path, methods in http.get("/openapi.json").json()["paths"].items():
        yield from ((method.upper(), path) for method in methods)


def on(space: str, path: str) -> str:
    return PLACEHOLDER.sub("x", path.replace("{space}", space))


def refusals(http: httpx.Client, space: str, paths: list[tuple[str, str]]) -> dict[str, int]:
    answers = {f"{method} {path}": http.request(method, on(space, path), json={}) for method, path in paths}
    assert all(answer.headers["content-type"] == "application/problem+json" for answer in answers.values())
    return {name: one.status_code for name, one in answers.items()}


def test_a_key_for_one_space_is_refused_by_every_route_of_another(server: Running) -> None:
    key = server.key("ours", "admin")
    with server.http(key) as http:
        of_spaces = [operation for operation in operations(http) if "{space}" in operation[1]]
        assert len(of_spaces) >= 30
        assert set(refusals(http, "theirs", of_spaces).values()) == {403}
        assert http.get("/v1/spaces").json() == {"items": []}


def test_nothing_but_health_answers_without_a_valid_key_once_there_is_one(server: Running) -> None:
    described = list(operations(server.http(server.key("ours", "read"))))
    everything = [*described, ("GET", "/docs"), ("GET", "/openapi.json"), ("GET", "/no/such/path")]
    closed = [route for route in everything if route[1] not in HEALTH]
    for secret in (None, "rk_nobody_nothing", "nonsense"):
        with server.http(secret) as http:
            assert set(refusals(http, "ours", closed).values()) == {401}
            assert [http.get(path).status_code for path in HEALTH] == [200, 200]


def test_a_right_includes_the_lesser_ones_and_no_more(server: Running) -> None:
    reads, writes, rules = (server.key("ours", right) for right in ("read", "write", "admin"))
    tried = {
        "read": ("GET", "/v1/spaces/ours/stats", None),
        "write": ("POST", "/v1/spaces/ours/memories", {"text": "The kettle is new."}),
        "admin": ("POST", "/v1/spaces/ours/tidy", {}),
    }
    allowed = {
        name: [
            right
            for right, (method, path, body) in tried.items()
            if server.http(key).request(method, path, json=body).is_success
        ]
        for name, key in {"read": reads, "write": writes, "admin": rules}.items()
    }
    assert allowed == {"read": ["read"], "write": ["read", "write"], "admin": ["read", "write", "admin"]}


def test_a_prefix_opens_the_spaces_that_begin_with_it(server: Running) -> None:
    key = server.key("team-*", "write")
    server.client("team-a", key).remember("The team meets on Monday.")
    assert server.http(key).get("/v1/spaces").json() == {"items": ["team-a"]}
    with pytest.raises(Refused, match="may not write") as refused:
        server.client("other", key).remember("The team meets on Monday.")
    assert refused.value.status == 403 and refused.value.request_id


def test_what_is_classified_above_a_key_is_not_there(server: Running) -> None:
    rules, low = server.key("ours", "admin"), server.key("ours", "admin", max_classification=1)
    owner, guest = server.client("ours", rules), server.client("ours", low)
    secret = owner.remember("The vault opens with seven.", classification=3)
    owner.remember("The vault is in the cellar.", classification=1)
    owner.relate("Vault", "opened_by", "Mara")

    assert len(owner.recall("vault", max_classification=3).items) > len(guest.recall("vault").items)
    assert all(item.memory.worth.classification <= 1 for item in guest.recall("vault", max_classification=3).items)
    assert secret.id not in [memory.id for memory in guest.list(max_classification=3).items]
    assert guest.get(secret.id) is None
    path = f"/v1/spaces/ours/memories/{secret.id}"
    bodies: dict[str, Any] = {
        f"GET {path}": None,
        f"GET {path}/history": None,
        f"GET /v1/spaces/ours/entities/{secret.id}/history": None,
        f"DELETE {path}": None,
        f"POST {path}/invalidate": {},
        "POST /v1/spaces/ours/feedback": {"id": secret.id, "verdict": "wrong"},
        "POST /v1/spaces/ours/why-not": {"id": secret.id, "query": "vault"},
    }
    with server.http(low) as http:
        statuses = {what: http.request(*what.split(" "), json=body).status_code for what, body in bodies.items()}
    assert set(statuses.values()) == {404}
    guest.forget(scope="global", include_expired=True)
    (kept,) = owner.list(max_classification=3, include_expired=True).items
    assert kept.id == secret.id


def test_a_key_keeps_nothing_that_it_may_not_see(server: Running) -> None:
    rules, low = server.key("ours", "admin"), server.key("ours", "write", max_classification=1)
    owner, guest = server.client("ours", rules), server.client("ours", low)
    text = "The vault opens with seven."
    owner.remember(text, classification=3, at="2024-01-01", metadata={"found": "in the safe"})
    attempts: list[Callable[[], object]] = [
        lambda: guest.remember("The vault was moved.", classification=2),
        lambda: guest.remember_many([{"text": "The vault was moved.", "classification": 2}]),
        lambda: guest.relate("Vault", "opened_by", "Mara", classification=2),
        lambda: guest.ingest([{"text": "The vault was moved.", "classification": 2}]),
    ]
    for attempt in attempts:
        with pytest.raises(TooClassified, match="may not see or keep"):
            attempt()
    assert [memory.text for memory in owner.list(max_classification=3).items] == [text]
    assert guest.remember(text, at="2024-01-01").metadata == {}  # a memory of its own
    assert len(owner.list(max_classification=3).items) == 2


def test_what_concerns_every_memory_needs_a_key_that_may_see_them_all(server: Running) -> None:
    key = server.key("ours", "admin", max_classification=2)
    server.client("ours", key).remember("The kettle is new.")
    with server.http(key) as http:
        tried = [("GET", "export"), ("GET", "backup"), ("POST", "reembed")]
        statuses = {
            name: http.request(method, f"/v1/spaces/ours/{name}", json={}).status_code for method, name in tried
        }
        statuses["import"] = http.post("/v1/spaces/ours/import", content=b"{}", headers=AS_BYTES).status_code
    assert set(statuses.values()) == {403}


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "a b", "[::1"])
def test_a_foreign_host_is_misdirected(server: Running, host: str) -> None:
    with server.http() as http:
        assert http.get("/v1/spaces", headers={"Host": host}).status_code in (400, 421)


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:80", "memory.example", "Memory.Example:8765"])
def test_loopback_addresses_and_allowed_names_are_ours(serve: Serve, host: str) -> None:
    with serve(allowed_hosts=("memory.example",)).http() as http:
        assert http.get("/v1/spaces", headers={"Host": host}).status_code == 200


def test_a_page_of_another_site_is_refused(server: Running) -> None:
    with server.http() as http:
        origins = {"http://evil.example": 403, "null": 403, "http://localhost:3000": 403, server.url: 200}
        assert {origin: http.get("/v1/spaces", headers={"Origin": origin}).status_code for origin in origins} == origins


def test_no_other_address_is_opened_without_a_key(server: Running) -> None:
    open_to_all = Settings(db=server.settings.db, host="0.0.0.0")
    with pytest.raises(InvalidInput, match="keys create"):
        check_locked(open_to_all)
    server.key("ours", "read")
    check_locked(open_to_all)


def test_a_server_that_others_can_reach_stays_locked_whatever_becomes_of_its_keys(serve: Serve) -> None:
    exposed = serve(host="0.0.0.0")
    assert exposed.http().get("/v1/spaces").status_code == 401
