"""The pages of the inspector: no memory becomes markup, and no address or memory makes a page long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from starlette.datastructures import QueryParams

from memorist_server.inspector.access import LONGEST_ADDRESS
from memorist_server.inspector.calls import MOST_TOLD
from memorist_server.inspector.selection import selection
from memorist_server.inspector.views.memory import MOST_VERSIONS
from server_tests.inspector.browser import Browser, Page
from server_tests.inspector.conftest import HOME, Inspected, started

HOSTILE = "zq<zq onzq=1>\"'`{{7*7}}</script><!--"
MOST_PAGES = 150


class Markup(HTMLParser):
    """The tags and attributes of a page that a memory has made, and the addresses that run or leave it."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [name for name in (tag, *(name for name, _ in attrs)) if "zq" in name]
        places = [value or "" for name, value in attrs if name in ("href", "src", "action", "hx-get")]
        self.found += [place for place in places if not place.startswith(("/", "#", "?")) or place.startswith("//")]

    def handle_comment(self, data: str) -> None:
        self.found += [data] if "zq" in data else []


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspected]:
    """An inspector of a space that has hostile markup wherever somebody may write."""
    with ExitStack() as stack:
        made = started(stack, tmp_path_factory.mktemp("hostile"))
        memory, word = made.memory(), HOSTILE
        kept = memory.remember(
            f"{word} said Zq{word} Berg in Oslo.",
            **dict.fromkeys(("scope", "key", "topic", "speaker", "session", "source", "original"), word),
            keywords=[word],
            emotion_tags=[word],
            metadata={word: word, "list": [word], "deep": {word: word}},
        )
        memory.update(kept.id, f"{word} said it again on 2 May to {word}.", topic=f"{word} two")
        memory.relate(f"{word} Ann", word, f"{word} Bo")
        memory.relate(f"{word} Ann", word, f"{word} Carl")
        memory.feedback(kept.id, "useful")
        with memory.session(word) as session:
            session.step(word, word, reward=1.0)
        yield made


def crawled(browser: Browser) -> Iterator[tuple[str, Page]]:
    """Every page that links lead to, from the views and from what somebody may ask them for."""
    asked = quote(HOSTILE)
    queue = [HOME, f"{HOME}/memories", f"{HOME}/sessions", f"{HOME}/journal", f"{HOME}/audit", f"{HOME}/bench"]
    queue += [
        f"{HOME}/memories?{name}={asked}" for name in ("q", "scope", "speaker", "topic", "cursor", "where", "did")
    ]
    queue += [f"{HOME}/{view}?{name}={asked}" for view in ("lab", "time", "graph") for name in ("q", "name", "ask")]
    queue += [f"{HOME}/lab?q=zq&{name}={asked}" for name in ("recipe", "with", "item", "missing", "find", "limit")]
    queue += [f"{HOME}/journal?{name}={asked}" for name in ("verb", "about", "done")]
    queue += [f"/login?next={asked}", f"/{asked}", f"/inspect/{asked}", f"{HOME}/memories/{asked}"]
    seen = set[str]()
    while queue and len(seen) < MOST_PAGES:
        path = queue.pop(0).partition("#")[0]
        if path in seen or not path.startswith(("/inspect", "/login", "/zq")):
            continue
        seen.add(path)
        page = browser.get(path)
        queue += page.links
        yield path, page


def test_nothing_that_a_memory_or_an_address_says_becomes_markup(hostile: Inspected) -> None:
    browser, shown = hostile.browser(), 0
    for path, page in crawled(browser):
        assert page.status < 500, path
        assert not Markup(page.source).found, path
        shown += "zq&lt;zq" in page.source
    assert shown > 40


@pytest.mark.parametrize("place", ["/memories?q=", "/lab?q=", "/graph?ask=", "/time?q=", "/journal?verb="])
def test_an_address_that_every_link_would_repeat_is_short(hostile: Inspected, place: str) -> None:
    browser = hostile.browser()
    assert browser.get(f"{HOME}{place}{'a' * 7000}").status == 200
    assert browser.get(f"{HOME}{place}{'a' * LONGEST_ADDRESS}").status == 414


def test_a_filter_that_is_given_often_is_one_filter() -> None:
    chosen = selection(QueryParams([("kind", "note"), ("kind", "tag")] * 4000))
    assert chosen.kinds == ("note", "tag") and len(chosen.chips) == 2


def test_a_memory_with_many_versions_shows_the_newest(hostile: Inspected) -> None:
    memory, browser = hostile.memory(), hostile.browser()
    kept = memory.remember("Version 0")
    for number in range(1, MOST_VERSIONS + 5):
        memory.update(kept.id, f"Version {number}")
    page = browser.get(f"{HOME}/memories/{kept.id}")
    assert page.source.count("<h3>Version") == MOST_VERSIONS
    assert f"5 older versions not shown: memorist history {kept.id}" in page.text


def test_the_page_after_many_changes_has_a_short_address(hostile: Inspected) -> None:
    memory, browser = hostile.memory(), hostile.browser()
    ids = [pin.id for pin in memory.remember_many([f"Pin {number}" for number in range(MOST_TOLD + 10)])]
    form = browser.get(f"{HOME}/memories").form("/change")
    page = browser.send(form, id=ids, action="pin", back=f"{HOME}/memories")
    assert page.status == 200 and page.path.count("done=") == MOST_TOLD
    assert len(memory.pinned()) == len(ids)
