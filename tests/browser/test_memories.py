"""The flows of a person who looks at memories, in a real browser."""

from __future__ import annotations

from typing import Any

import pytest

from server_tests.inspector.conftest import HOME, Inspected
from server_tests.inspector.test_memories import HOSTILE
from tests.browser.conftest import grave

LIST = f"{HOME}/memories"


def heading(page: Any, name: str) -> None:
    page.get_by_role("heading", name=name, exact=True).wait_for()


def test_search_as_you_type_changes_the_list_and_the_address(page: Any) -> None:
    page.goto(LIST)
    page.keyboard.press("/")
    page.keyboard.type("billing")
    page.wait_for_url("**/memories?q=billing")
    page.get_by_text("best match first").wait_for()
    rows = page.locator("[data-row]")
    page.wait_for_function("() => document.querySelectorAll('[data-row]').length === 1")
    assert "The billing service was slow." in rows.first.inner_text()
    page.get_by_text("Recall", exact=True).click()
    page.wait_for_url("**/memories?q=billing&how=recall")
    page.get_by_text("Ranked by a recall").wait_for()


def test_edit_undo_and_forget(page: Any, inspected: Inspected) -> None:
    kept = inspected.memory().remember("The kettle is red.")
    page.goto(f"{LIST}/{kept.id}")
    page.keyboard.press("e")
    page.get_by_label("Text", exact=True).fill("The kettle is blue.")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved as version 2.").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Saved as version 3.").wait_for()
    page.get_by_role("button", name="Pin", exact=True).click()
    page.get_by_text("Pinned.").wait_for()
    page.get_by_role("status").get_by_role("button", name="Undo").click()
    page.get_by_text("1 change taken back").wait_for()
    page.get_by_role("button", name="Forget…").click()
    page.get_by_role("button", name="Forget for good").click()
    heading(page, "Forgotten")
    assert kept.id in page.content() and inspected.memory().get(kept.id) is None


def test_keys_move_select_open_and_jump(page: Any, inspected: Inspected) -> None:
    page.goto(LIST)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.get_by_text("1 selected").wait_for()
    chosen = page.locator("[data-row]").nth(1)
    assert chosen.locator("input").is_checked()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_url("**/memories/*")
    page.keyboard.press("g")
    page.keyboard.press("o")
    page.wait_for_url("**/overview")
    page.keyboard.press("?")
    heading(page, "Keyboard")
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_logging_in_with_a_key_and_out(page: Any, chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    from contextlib import ExitStack

    from server_tests.inspector.conftest import STORY, started

    with ExitStack() as stack:
        locked = started(stack, tmp_path_factory.mktemp("locked"))
        locked.memory().remember_many(STORY)
        key = locked.key(rights="read")
        page.goto(f"{locked.server.url}{LIST}?q=oslo")
        heading(page, "Log in")
        page.get_by_label("Key", exact=True).fill(key)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url("**/memories?q=oslo")
        assert page.locator("#several").count() == 0 and page.evaluate("document.cookie") == ""
        page.get_by_role("button", name="Log out").click()
        heading(page, "Log in")


def test_hostile_memories_run_and_change_nothing(page: Any, inspected: Inspected) -> None:
    texts = (
        HOSTILE,
        "<svg onload=alert(3)>" * 50,
        "heron <b>" * 350_000,
        "<meta http-equiv=refresh content=0;url=//x>",
    )
    ids = [
        inspected.memory().remember(text, speaker=text[:50], metadata={"<img src=x>": text[:99]}).id for text in texts
    ]
    paths = [LIST, f"{LIST}?q=onload", f"{HOME}/overview", *(f"{LIST}/{id}" for id in ids), f"{LIST}/{ids[2]}?all=1"]
    for path in paths:
        page.goto(path)
        assert "Memorist" in page.title() and page.url.endswith(path)
        inside = page.evaluate("[...document.querySelectorAll('main img, main script, main meta, main b')].length")
        assert inside == 0, path
    inspected.memory().forget(ids)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(page: Any, inspected: Inspected, theme: str) -> None:
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    kept = inspected.memory().remember("The lamp is green.", topic="home", metadata={"n": 1})
    inspected.memory().update(kept.id, "The lamp is grey.")
    at = f"{LIST}/{kept.id}"
    paths = (
        "/?all=1",
        f"{HOME}/overview",
        LIST,
        f"{LIST}?q=lamp&speaker=x",
        at,
        f"{at}/edit",
        f"{LIST}/nothing",
    )
    for path in paths:
        page.goto(path)
        assert grave(page) == [], path


@pytest.mark.parametrize("width", [360, 1100])
def test_no_page_is_wider_than_the_window(page: Any, inspected: Inspected, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    kept = inspected.memory().remember("x" * 3000, speaker="y" * 90, scope="z" * 90)
    for path in ("/?all=1", f"{HOME}/overview", LIST, f"{LIST}/{kept.id}", f"{LIST}/{kept.id}/edit"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
