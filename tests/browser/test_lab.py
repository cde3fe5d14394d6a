"""The flows of a person who asks why, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from server_tests.inspector.conftest import HOME, Inspected
from server_tests.inspector.test_memories import HOSTILE
from tests.browser.conftest import grave

QUESTION = "Where does Ann live?"
ASKED = f"{HOME}/lab?q=Where+does+Ann+live%3F"


@pytest.fixture(scope="module", autouse=True)
def story(inspected: Inspected) -> None:
    memory = inspected.memory()
    memory.relate("Bea", "lives_in", "Oslo", valid_from="2024-01-02", ingested_at="2024-01-02")
    memory.relate("Bea", "lives_in", "Paris", valid_from="2024-06-02", ingested_at="2024-06-02")
    memory.remember("Ann likes long walks along the harbour of Oslo.")
    memory.remember("Ann has a red bicycle, and lives above a bakery.")


def test_from_the_overview_to_why_the_first_answer_was_first(page: Any) -> None:
    page.goto(f"{HOME}/overview")
    page.get_by_label("Question").fill(QUESTION)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Why it is first").wait_for()
    first = page.locator(".ranked").first
    assert "Ann" in first.inner_text() and "words #1" in page.locator(".ranking").inner_text()


def test_choosing_an_item_explains_it(page: Any) -> None:
    page.goto(ASKED)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**item=*")
    page.get_by_role("heading", name="Why it is number 2").wait_for()
    assert page.locator(".ranked.open .place").inner_text() == "2"


def test_on_a_phone_choosing_an_item_leads_to_its_explanation(page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 700})
    page.goto(ASKED)
    page.get_by_role("link", name="Why this order?").click()
    page.locator("#why").wait_for()
    page.locator(".ranked").nth(1).click()
    page.get_by_role("heading", name="Why it is number 2").wait_for()
    page.wait_for_function("document.querySelector('#why').getBoundingClientRect().bottom <= innerHeight")


def test_a_slider_moves_the_ranking_the_address_and_the_toml(page: Any) -> None:
    page.goto(ASKED)
    page.get_by_text("Move the numbers of").click()
    slider = page.get_by_label("rerank_blend.weight")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**memorist.rerank_blend.weight=0.9")
    page.get_by_text('"rerank_blend.weight" = 0.9').wait_for()
    assert slider.evaluate("one => one === document.activeElement") and page.locator(".move").count() > 0
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: "rerank_blend" not in url)
    page.locator("#toml").wait_for(state="detached")
    page.get_by_title("The recipe to recall by").select_option("memoria")
    page.wait_for_url("**recipe=memoria**")
    page.get_by_text("Move the numbers of memoria").wait_for()


def test_a_missing_memory_is_followed_through_the_recall(page: Any) -> None:
    page.goto(ASKED)
    page.get_by_placeholder("Words or an id").fill("billing")
    page.keyboard.press("Enter")
    page.wait_for_url("**find=billing")
    page.locator("#answer .list").get_by_text("The billing service was slow.").click()
    page.get_by_text("no signal matches it with the query").wait_for()


def test_the_handles_take_an_answer_back(page: Any) -> None:
    page.goto(f"{HOME}/time?q=Bea")
    held = page.locator("#when-then section", has=page.locator("#then"))
    held.get_by_text("Bea lives in Paris.").wait_for()
    handle = page.get_by_label("The world as of")
    handle.focus()
    page.keyboard.press("Home")
    page.keyboard.press("PageUp")
    page.keyboard.press("PageUp")
    held.get_by_text("Bea lives in Oslo.").wait_for()
    assert "as_of=2024-" in page.url and handle.evaluate("one => one === document.activeElement")
    page.keyboard.press("End")
    page.wait_for_url(lambda url: "as_of" not in url)
    held.get_by_text("Bea lives in Paris.").wait_for()
    page.get_by_role("link", name="Oslo").click()
    page.get_by_role("heading", name="on both clocks").wait_for()


def test_hostile_memories_run_nothing_here(page: Any, inspected: Inspected) -> None:
    kept = inspected.memory().remember(HOSTILE).id
    for view in ("lab?q=script+alert+img+onerror+svg&find=script", "time?q=script+alert"):
        page.goto(f"{HOME}/{view}")
        page.locator("h1").wait_for()
    inspected.memory().forget(kept)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_keeps_somebody_from_using_them(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    for place in (
        f"{HOME}/lab",
        f"{ASKED}&with=mnemosyne-hybrid&memorist.rerank_blend.weight=0.5&find=billing",
        f"{HOME}/time",
        f"{HOME}/time?q=Bea&as_of=2024-03-01&known_at=2024-03-01",
    ):
        page.goto(place)
        assert grave(page) == []
        page.set_viewport_size({"width": 360, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, place
        page.set_viewport_size({"width": 1100, "height": 800})
