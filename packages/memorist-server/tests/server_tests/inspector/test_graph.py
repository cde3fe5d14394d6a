"""Names and relations: around a name, grown, searched for, lit up, and never above a cap."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from memorist_server.inspector.access import HEADERS
from memorist_server.inspector.pages import STATIC
from server_tests.inspector.browser import Browser
from server_tests.inspector.conftest import HOME, Inspected, Inspecting, started

GRAPH = f"{HOME}/graph"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspected]:
    with ExitStack() as stack:
        made = started(stack, tmp_path_factory.mktemp("graph"))
        memory = made.memory()
        memory.remember_many(
            [
                {"text": "Ann Berg lives in Oslo.", "at": "2024-06-03"},
                {"text": "Ben Dahl works at Acme Labs.", "at": "2024-06-04"},
                {"text": "Ann Berg met Ben Dahl.", "at": "2024-06-05"},
                {"text": "Cora Lund lives in Lyon.", "at": "2024-06-06"},
            ]
        )
        memory.relate("Ann Berg", "<b>knows</b>", "<img src=x onerror=alert(1)>")
        yield made


@pytest.fixture
def agent(shared: Inspected) -> Browser:
    return shared.browser()


def drawing(source: str) -> dict[str, Any]:
    found = re.search(r'data-drawing="([^"]*)"', source)
    assert found is not None
    return json.loads(html.unescape(found[1]))


def names(source: str) -> set[str]:
    return {node["label"] for node in drawing(source)["nodes"]}


def test_the_picture_and_the_table_hold_the_relations_of_a_name_and_what_they_rest_on(agent: Browser) -> None:
    page = agent.get(f"{GRAPH}?name=ann+berg")
    drawn = drawing(page.source)
    assert {"Ann Berg", "Oslo", "Ben Dahl"} <= names(page.source) and "Acme Labs" not in names(page.source)
    assert [node["id"] for node in drawn["nodes"] if node["centre"]] == ["Ann Berg"]
    [lives] = [link for link in drawn["links"] if link["label"] == "lives in"]
    assert (lives["source"], lives["target"], lives["lit"]) == ("Ann Berg", "Oslo", 0)
    assert f'id="{lives["key"]}"' in page.source and "Ann Berg lives in Oslo." in page.text


def test_a_picture_grows_by_names_and_by_hops(agent: Browser) -> None:
    assert "Acme Labs" in names(agent.get(f"{GRAPH}?name=Ann+Berg&name=Ben+Dahl").source)
    assert "Acme Labs" in names(agent.get(f"{GRAPH}?name=Ann+Berg&hops=2").source)
    assert "Hops is not valid" in agent.get(f"{GRAPH}?name=Ann+Berg&hops=9").text
    assert "at most 12 names" in agent.get(f"{GRAPH}?" + "&".join(f"name=n{number}" for number in range(13))).text


def test_names_are_found_by_their_beginning(agent: Browser) -> None:
    page = agent.get(f"{GRAPH}?q=co")
    assert "Cora Lund" in page.text and names(page.source) == {"Cora Lund", "Lyon"}
    assert "No name begins with zzz" in agent.get(f"{GRAPH}?q=zzz").text
    assert "No memory mentions Nobody" in agent.get(f"{GRAPH}?name=Nobody").text


def test_a_question_lights_up_where_pagerank_went(agent: Browser) -> None:
    page = agent.get(f"{GRAPH}?ask=Where+does+Cora+Lund+live")
    lit = {(link["source"], link["label"], link["target"]): link["lit"] for link in drawing(page.source)["links"]}
    assert lit[("Cora Lund", "lives in", "Lyon")] == 1 and "by memoria" in page.text
    assert "PageRank begins nowhere" in agent.get(f"{GRAPH}?ask=what+is+it").text


def test_names_from_memories_are_text(agent: Browser) -> None:
    page = agent.get(f"{GRAPH}?name=Ann+Berg")
    assert "<img src=x" not in page.source and "<b>" not in page.source
    assert "<b>knows</b>" in {link["label"] for link in drawing(page.source)["links"]}


def test_what_is_above_a_cap_is_in_no_picture(inspecting: Inspecting) -> None:
    made = inspecting()
    memory = made.memory(key=made.key())
    memory.remember("Ann Berg lives in Oslo.")
    memory.remember("Ann Berg works at Umbrella Labs.", classification=3)
    memory.remember("Zora Kane lives in Turin.", classification=3)
    low, high = made.browser(made.key(rights="read", cap=2)), made.browser(made.key())
    for address in (GRAPH, f"{GRAPH}?name=Ann+Berg&hops=3", f"{GRAPH}?q=Umb", f"{GRAPH}?ask=Where+does+Ann+Berg+work"):
        page = low.get(address)
        assert page.status == 200 and "Umbrella Labs" not in page.source and "Zora" not in page.source
    assert "No memory mentions Zora Kane" in low.get(f"{GRAPH}?name=Zora+Kane").text
    assert {"Umbrella Labs", "Oslo"} <= names(high.get(f"{GRAPH}?name=Ann+Berg").source)


def test_an_empty_memory_says_what_to_do(inspecting: Inspecting) -> None:
    made = inspecting()
    made.memory().remember("the kettle is blue")
    page = made.browser().get(GRAPH)
    assert page.status == 200 and "No name is known yet" in page.text


def test_the_policy_admits_the_styles_of_the_library_alone() -> None:
    script = (STATIC / "vendor" / "force-graph.min.js").read_text()
    added = re.findall(r'createTextNode\(t\)\)\}\}\("((?:[^"\\]|\\.)*)"\)', script)
    styles = ["", *(style.encode().decode("unicode_escape") for style in added)]
    sums = {f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'" for style in styles}
    policy = HEADERS["content-security-policy"]
    assert len(added) == 2 and set(re.findall(r"'sha256-\S+'", policy)) == sums
    assert "unsafe" not in policy
