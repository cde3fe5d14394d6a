"""The flows of a person who follows relations, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from math import isfinite
from typing import Any

import pytest

from server_tests.inspector.conftest import HOME, Inspected, started
from tests.browser.conftest import grave

GRAPH = f"{HOME}/graph"
SETTLED = "() => document.querySelector('#picture').graph?.graphData().nodes.length === %d"
PLACE = """(name) => {
    const box = document.querySelector('#picture'), graph = box.graph, frame = box.getBoundingClientRect();
    const found = graph.graphData().nodes.find((one) => one.label === name);
    const at = graph.graph2ScreenCoords(found.x, found.y);
    return [frame.x + at.x, frame.y + at.y];
}"""
MIDDLE = """(label) => {
    const box = document.querySelector('#picture'), graph = box.graph, frame = box.getBoundingClientRect();
    const found = graph.graphData().links.find((one) => one.label === label);
    const at = graph.graph2ScreenCoords((found.source.x + found.target.x) / 2, (found.source.y + found.target.y) / 2);
    return [frame.x + at.x, frame.y + at.y];
}"""


@pytest.fixture(scope="module")
def inspected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspected]:
    with ExitStack() as stack:
        made = started(stack, tmp_path_factory.mktemp("graph"))
        memory = made.memory()
        memory.remember("Ann Berg lives in Oslo.", at="2024-06-03")
        memory.remember("Ben Dahl lives in Oslo.", at="2024-06-04")
        memory.relate("Ben Dahl", "owns", "<img src=x onerror=alert(1)>")
        yield made


@pytest.fixture
def page(page: Any) -> Any:
    page.emulate_media(reduced_motion="reduce")  # the picture is still at once
    return page


def point_at(page: Any, script: str, name: str) -> None:
    """Move the mouse to a part of the picture, and after it if it moves on; the picture looks now and then."""
    hovered = page.locator("#picture canvas.clickable")
    before = None
    for _ in range(600):
        now = page.evaluate(script, name)
        if all(map(isfinite, now)):  # else it has no place yet
            page.mouse.move(*now)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        if now == before and hovered.count():
            return
        before = now
    pytest.fail(f"the picture does not notice the mouse over {name}")


def click(page: Any, script: str, name: str) -> None:
    """Click on a part of the picture, once it is still."""
    point_at(page, script, name)
    page.mouse.down()
    page.mouse.up()


def test_a_click_on_a_name_grows_the_picture_and_the_address(page: Any) -> None:
    page.goto(f"{GRAPH}?name=Ann+Berg")
    page.wait_for_function(SETTLED % 2)
    click(page, PLACE, "Oslo")
    page.wait_for_url("**/graph?name=Ann+Berg&name=Oslo")
    page.wait_for_function(SETTLED % 3)
    page.get_by_role("link", name="Ben Dahl", exact=True).click()
    page.wait_for_function(SETTLED % 4)
    page.go_back()
    page.wait_for_function(SETTLED % 3)


def test_a_click_on_a_relation_opens_what_it_rests_on(page: Any) -> None:
    page.goto(f"{GRAPH}?name=Ann+Berg")
    page.wait_for_function(SETTLED % 2)
    click(page, MIDDLE, "lives in")
    page.get_by_role("link", name="Ann Berg lives in Oslo.").first.wait_for()
    page.wait_for_url("**#r-*")
    page.reload()
    page.get_by_role("link", name="Ann Berg lives in Oslo.").first.wait_for()


def test_names_are_searched_as_one_types_and_hostile_ones_run_nothing(page: Any) -> None:
    page.goto(GRAPH)
    page.keyboard.press("/")
    page.keyboard.type("ben")
    page.wait_for_url("**/graph?q=ben")
    page.wait_for_function(SETTLED % 3)
    point_at(page, PLACE, "<img src=x onerror=alert(1)>")
    assert page.locator("#picture img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_grave_and_a_phone_shows_it_whole(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(f"{GRAPH}?ask=Where+does+Ann+Berg+live")
    page.get_by_text("lit by the recall").wait_for()
    assert grave(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
