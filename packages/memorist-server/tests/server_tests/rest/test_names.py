"""Fields in camelCase, in the names of memoria's page, and in those of other systems."""

from __future__ import annotations

from typing import Any

import pytest

from server_tests.rest.conftest import Running

SPACE = "/v1/spaces/agent"


def test_a_request_may_use_camel_case_and_the_names_of_memorias_page(server: Running) -> None:
    with server.http() as http:
        fact = {"subject": "Alice", "relationType": "lives_in", "object": "Oslo", "factText": "Alice lives in Oslo."}
        times = {"tValid": "2024-01-01", "tInvalid": "2024-06-01", "ingestedAt": "2024-01-01"}
        kept = http.post(f"{SPACE}/facts", json=fact | times)
        assert kept.status_code == 201 and kept.json()["valid_to"].startswith("2024-06-01")
        asked = {"query": "Where does she live?", "asOf": "2024-03-01", "entityHints": ["Alice"], "maxTokens": 200}
        then = http.post(f"{SPACE}/recall", json=asked).json()
        now = http.post(f"{SPACE}/recall", json={"query": "Where does she live?", "entityHints": ["Alice"]}).json()
        assert [item["text"] for item in then["items"]] == ["Alice lives in Oslo."] and now["items"] == []


def test_a_query_and_the_items_of_a_batch_are_read_likewise(server: Running) -> None:
    with server.http() as http:
        batch = [{"factText": "The barn is red.", "tValid": "2024-01-01", "emotionTags": ["calm"]}]
        http.post(f"{SPACE}/memories/batch", json={"memories": batch})
        [kept] = http.get(f"{SPACE}/memories", params={"asOf": "2024-02-01", "knownAt": "2999-01-01"}).json()["items"]
        assert kept["text"] == "The barn is red." and kept["emotion_tags"] == ["calm"]
        before = http.get(f"{SPACE}/memories", params={"asOf": "2023-02-01", "knownAt": "2999-01-01"})
        assert before.json()["items"] == []


@pytest.mark.parametrize(
    ("asked", "detail"),
    [
        ({"top_k": 3}, "There is no field 'top_k'. Use `limit`."),
        ({"userId": "ann"}, "There is no field 'userId'. Use `scope` or `speaker`."),
        ({"as_of": "2024-01-01", "asOf": "2025-01-01"}, "as_of and asOf are the same field. Give one of them."),
        ({"situation": {"hours": 3}}, "There is no field 'hours'. Did you mean `hour`?"),
        ({"colour": "red"}, "body.colour: Extra inputs are not permitted"),
    ],
)
def test_an_unknown_field_is_refused_with_ours_that_is_meant(
    server: Running, asked: dict[str, Any], detail: str
) -> None:
    with server.http() as http:
        answer = http.post(f"{SPACE}/recall", json={"query": "x"} | asked)
    assert answer.status_code == 422 and detail in answer.json()["detail"]


def test_the_description_names_each_field_once(server: Running) -> None:
    with server.http() as http:
        schemas = http.get("/openapi.json").json()["components"]["schemas"]
    assert "as_of" in schemas["RecallBody"]["properties"] and "asOf" not in str(schemas)
