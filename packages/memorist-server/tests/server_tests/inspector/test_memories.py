"""Finding memories, opening one, and changing it."""

from __future__ import annotations

import pytest

from server_tests.inspector.browser import Browser
from server_tests.inspector.conftest import HOME, Inspected, Inspecting

LIST = f"{HOME}/memories"
HOSTILE = (
    "<script>document.title='pwned'</script><img src=x onerror=alert(1)>\u202egnp.exe"
    '"><a href="javascript:alert(2)">here</a> {{ 7*7 }} {% raw %}'
)


def test_the_newest_come_first_page_by_page(inspecting: Inspecting) -> None:
    made = inspecting()
    made.memory().remember_many([{"text": f"Note {number}.", "ingested_at": "2024-06-01"} for number in range(60)])
    newest = made.memory().remember("The last one.").id
    browser = made.browser()
    first = browser.get(LIST)
    assert first.rows()[0].endswith(newest) and len(first.rows()) == 50
    second = browser.get(next(link for link in first.links if "cursor=" in link))
    assert len(second.rows()) == 11 and not set(first.rows()) & set(second.rows())
    assert browser.get(f"{LIST}?cursor=nonsense").status == 422


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=osl&kind=episodic", "Ann lives in Oslo."),
        ("q=oslo&how=recall", "Ann lives in Oslo."),
        ("speaker=Ben", "The billing service was slow."),
        ("where=%7B%22metadata.project%22%3A%22atlas%22%7D&kind=episodic", "The billing service was slow."),
        ("since=2024-06-04&until=2024-06-05T12:00", "The billing service was slow."),
        ("scope=user:*&tier=working&kind=episodic", "Ann lives in Oslo."),
    ],
)
def test_words_recall_and_the_filters_of_the_api_find(agent: Browser, query: str, found: str) -> None:
    page = agent.get(f"{LIST}?{query}")
    assert page.status == 200 and found in page.text and len(page.rows()) == 1, page.text


@pytest.mark.parametrize("query", ["where=nonsense", "where=[1]", "since=someday", "tier=huge", "max_classification=x"])
def test_a_wrong_filter_gets_the_remedy(agent: Browser, query: str) -> None:
    page = agent.get(f"{LIST}?{query}")
    assert page.status == 422 and "What to do:" in page.text


def test_a_filter_in_use_can_be_taken_away(agent: Browser) -> None:
    page = agent.get(f"{LIST}?q=oslo&speaker=Ann&ended=1")
    chips = [link for link in page.links if link.startswith(f"{LIST}?q=oslo&")]
    assert chips == [f"{LIST}?q=oslo&ended=1", f"{LIST}?q=oslo&speaker=Ann"]


def test_searching_counts_as_no_use(shared: Inspected, agent: Browser) -> None:
    at = agent.get(f"{LIST}?q=oslo&how=recall").rows()[0]
    kept = shared.memory().get(at.rpartition("/")[2])
    assert kept is not None and kept.usage is not None and kept.usage.recalls == 0
    assert "Never yet." in agent.get(at).text


def test_hostile_text_is_shown_as_text_everywhere(shared: Inspected, agent: Browser) -> None:
    kept = shared.memory().remember(HOSTILE, speaker=HOSTILE[:60], scope="<b>x</b>", metadata={"<i>": HOSTILE})
    plain = set.union(*(agent.get(path).tags for path in (LIST, f"{HOME}/overview", agent.get(LIST).rows()[-1])))
    for path in (LIST, f"{LIST}?q=pwned", f"{HOME}/overview", f"{LIST}/{kept.id}", f"{LIST}/{kept.id}/edit"):
        page = agent.get(path)
        assert page.status == 200 and ("\u202e" not in page.source or path.endswith("edit"))
        assert page.tags - plain <= {"textarea"} and not any("javascript" in link for link in page.links)
        assert page.source.count("<script") == 3
    shared.memory().forget(kept.id)


def test_long_text_is_cut_until_all_is_asked_for(shared: Inspected, agent: Browser) -> None:
    kept = shared.memory().remember("heron " * 100_000)
    page = agent.get(f"{LIST}/{kept.id}")
    assert "Show all 600,000 characters" in page.text and len(page.source) < 60_000
    assert len(agent.get(f"{LIST}/{kept.id}?all=1").source) > 600_000
    assert len(agent.get(LIST).source) < 100_000
    shared.memory().forget(kept.id)


def test_an_edit_is_a_version_that_can_be_taken_back(shared: Inspected, agent: Browser) -> None:
    kept = shared.memory().remember("The kettle is red.", topic="kitchen", metadata={"n": 1})
    at = f"{LIST}/{kept.id}"
    form = agent.get(f"{at}/edit").form("/edit")
    assert dict(form.fields)["text"] == "The kettle is red." and dict(form.fields)["topic"] == "kitchen"
    page = agent.send(form, text="The kettle is blue.", topic="", importance="0.9", flags="old, loud")
    assert "Saved as version 2." in page.text and "The kettle is red blue ." in page.text
    after = shared.memory().get(kept.id)
    assert after is not None and (after.text, after.topic, after.worth.importance) == ("The kettle is blue.", None, 0.9)
    assert after.worth.flags == ("old", "loud") and after.metadata == {"n": 1} and after.worth.confidence == 1
    stale = agent.send(form, text="The kettle is green.")
    assert stale.status == 422 and "Somebody changed this memory" in stale.text
    assert "Saved as version 3." in agent.send(page.form("/restore")).text
    again = shared.memory().get(kept.id)
    assert again is not None and (again.text, again.topic, again.worth.importance) == (
        "The kettle is red.",
        "kitchen",
        0.5,
    )


def test_an_edit_that_changes_nothing_or_is_wrong_writes_nothing(shared: Inspected, agent: Browser) -> None:
    kept = shared.memory().remember("Line one.\nLine two.")
    form = agent.get(f"{LIST}/{kept.id}/edit").form("/edit")
    same = agent.send(form, text="Line one.\r\nLine two.")
    assert "Nothing was changed." in same.text
    for given in ({"importance": "7"}, {"importance": "x"}, {"metadata": "[1"}, {"text": " "}, {"tier": "huge"}):
        assert agent.send(form, **given).status == 422, given
    assert shared.memory().get(kept.id) == kept.memory


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("pin", "Pinned."),
        ("useful", "useful."),
        ("hide", "Hidden."),
        ("outdated", "outdated."),
        ("invalidate", "Ended."),
    ],
)
def test_each_action_tells_what_it_did_and_can_be_undone(
    shared: Inspected, agent: Browser, action: str, said: str
) -> None:
    kept = shared.memory().remember(f"The {action} lamp is on.")
    page = agent.send(agent.get(f"{LIST}/{kept.id}").form(f"/do/{action}"))
    assert said in page.text and shared.memory().get(kept.id) != kept.memory
    assert "Undone: 1 change taken back." in agent.send(page.form("/undo")).text
    assert shared.memory().get(kept.id) == kept.memory


def test_several_are_changed_at_once_and_taken_back_together(shared: Inspected, agent: Browser) -> None:
    ids = [shared.memory().remember(f"Plate {number} is white.").id for number in range(3)]
    page = agent.get(f"{LIST}?q=plate")
    done = agent.send(page.form("/change"), id=ids, action="pin")
    assert done.path.startswith(f"{LIST}?q=plate&done=") and "Pinned: 3 memories." in done.text
    assert {memory.id for memory in shared.memory().pinned()} == set(ids)
    assert "Undone: 3 changes" in agent.send(done.form("/undo")).text and shared.memory().pinned() == []
    assert agent.send(page.form("/change"), action="pin").status == 422
    assert agent.send(page.form("/change"), id=ids, action="explode").status == 422


def test_forgetting_asks_first_and_shows_its_receipt(shared: Inspected, agent: Browser) -> None:
    ids = [shared.memory().remember(f"Secret {number} of the attic.").id for number in range(2)]
    asked = agent.send(agent.get(f"{LIST}?q=attic").form("/change"), id=ids, action="forget")
    assert "Forget 2 memories?" in asked.text and "cannot be undone" in asked.text
    assert None not in shared.memory().get(ids)
    done = agent.send(asked.form("/change"))
    assert "2 memories were erased" in done.text and all(id in done.text for id in ids)
    assert shared.memory().get(ids) == [None, None]
    assert agent.get(f"{LIST}/{ids[0]}").status == 404


def test_a_change_leads_to_no_place_outside(shared: Inspected, agent: Browser) -> None:
    kept = shared.memory().remember("The gate is open.")
    form = agent.get(f"{LIST}?q=gate").form("/change")
    agent.http.follow_redirects = False
    for place in ("https://evil.example/", "//evil.example", "/inspect/other/memories", "/inspect/agent/\nx"):
        page = agent.send(form, id=kept.id, action="pin", back=place)
        assert page.response.headers["location"].startswith(f"{LIST}?"), place


def test_what_a_memory_states_and_rests_on_shows(inspecting: Inspecting) -> None:
    made = inspecting()
    kept = made.memory().remember("Alice moved to Stockholm.")
    browser = made.browser()
    page = browser.get(f"{LIST}/{kept.id}")
    fact = next(row for row in page.rows() if not row.endswith(kept.id))
    assert "States Alice lives in Stockholm." in page.text
    assert "Rests on Alice moved to Stockholm." in browser.get(fact).text
