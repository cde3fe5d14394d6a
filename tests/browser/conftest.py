"""Debian's Chromium, driven by Playwright, at a real inspector; `make test-browser` installs both.

A test takes `inspected` (a running inspector with a story), and `page` (a new window). Each window fails its test if a
script breaks, if the policy of a page is violated, or if a dialogue opens.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from server_tests.inspector.conftest import STORY, Inspected, started

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
CHROMIUM = "/usr/bin/chromium"
AXE = Path(__file__).parents[2] / ".browser" / "axe.min.js"
PATIENCE = 30_000
WATCH = """document.addEventListener('securitypolicyviolation', (event) =>
    console.error(`violated ${event.violatedDirective} by ${event.blockedURI}`));"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def inspected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspected]:
    """An inspector without keys whose space `agent` holds the story."""
    with ExitStack() as stack:
        made = started(stack, tmp_path_factory.mktemp("browser"))
        made.memory().remember_many(STORY)
        yield made


@pytest.fixture
def page(chromium: Any, inspected: Inspected) -> Iterator[Any]:
    """A new window with its own cookies."""
    context = chromium.new_context(base_url=inspected.server.url, viewport={"width": 1100, "height": 800})
    context.set_default_timeout(PATIENCE)
    context.add_init_script(WATCH)
    window, wrong = context.new_page(), list[str]()
    window.on("console", lambda said: wrong.append(said.text) if "violated" in said.text else None)
    window.on("pageerror", lambda error: wrong.append(str(error)))
    window.on("dialog", lambda dialogue: (wrong.append(dialogue.message), dialogue.dismiss()))
    yield window
    context.close()
    assert wrong == []


def grave(page: Any) -> list[str]:
    """What axe finds on a page that keeps somebody from using it."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    serious = [violation for violation in found["violations"] if violation["impact"] in ("serious", "critical")]
    return [f"{violation['id']}: {', '.join(node['html'] for node in violation['nodes'])}" for violation in serious]
