"""The recall lab: why each memory was found, what each stage did, and what other numbers would do."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from server_tests.inspector.browser import Browser, Page
from server_tests.inspector.conftest import HOME, STORY, Inspected, Inspecting
from server_tests.inspector.test_memories import HOSTILE

QUESTION = "Where does Ann live?"


def lab(browser: Browser, **given: object) -> Page:
    return browser.get(f"{HOME}/lab?{urlencode({'q': QUESTION, **given})}")


def test_without_a_question_it_offers_some(agent: Browser) -> None:
    page = agent.get(f"{HOME}/lab")
    assert "Ask, and see why" in page.text and "What do you know about Ann?" in page.text
    asked = agent.get(next(link for link in page.links if link.startswith(f"{HOME}/lab?q=What")))
    assert "Why it is first" in asked.text


def test_the_overview_leads_there(agent: Browser) -> None:
    page = agent.get(f"{HOME}/overview")
    assert "Why it is first" in agent.send(page.form("/lab"), q=QUESTION).text


def test_the_first_answer_is_explained_at_once(agent: Browser) -> None:
    page = lab(agent)
    assert page.status == 200
    for words in ("Ann lives in Oslo.", "found by", "1st by its words", "weighted_sum: rank 1", "tokens"):
        assert words in page.text
    for stage in ("search", "keyword", "rerank_blend", "limit", "did not run: no embedder"):
        assert stage in page.text
    assert "svg" in page.tags and "How each rose and fell" in page.text


def test_any_item_can_be_explained(agent: Browser) -> None:
    page = lab(agent, q="Ann billing service slow")
    second = [link for link in page.links if "item=" in link][1]
    assert "Why it is number 2" in agent.get(second).text


def test_looking_does_not_count_as_use(shared: Inspected, agent: Browser) -> None:
    page = lab(agent)
    id = next(link for link in page.links if "item=" in link).partition("item=")[2]
    lab(agent, **{"memorist.rerank_blend.weight": "0.5", "with": "mnemo"})
    memory = shared.memory().get(id)
    assert memory is not None and (memory.usage is None or memory.usage.recalls == 0)


def test_a_memory_outside_the_answer_is_told_why(agent: Browser) -> None:
    page = lab(agent, find="billing")
    choice = next(link for link in page.links if "missing=" in link)
    page = agent.get(choice)
    assert "Following it through the recall" in page.text
    told = agent.get(choice.replace("/lab?", "/lab/absence?"))
    assert "The billing service was slow." in told.text
    assert "no signal matches it with the query" in told.text


def test_two_recipes_stand_side_by_side(agent: Browser) -> None:
    page = lab(agent, **{"with": "mnemosyne-hybrid"})
    assert page.status == 200 and "Options: 1 in use" in page.text
    assert "Found by memorist" in page.text and "Moves are against mnemosyne-hybrid." in page.text


def test_a_moved_number_changes_the_ranking_and_is_written_as_toml(agent: Browser) -> None:
    page = lab(agent, **{"memorist.weighted_sum.weights.keyword": "0.5"})
    assert "Moves are against memorist as it is." in page.text
    assert "[recipes.memorist.set]" in page.text
    assert '"weighted_sum.weights" = { vector = 0.9, keyword = 0.5, temporal = 0.3 }' in page.text
    assert "[recipes." not in lab(agent, **{"memorist.weighted_sum.weights.keyword": "0.1"}).text
    assert "[recipes." not in lab(agent, recipe="memoria", **{"memorist.weighted_sum.weights.keyword": "0.5"}).text


@pytest.mark.parametrize(
    "given",
    [
        {"memorist.search.limit": "100000"},
        {"memorist.search.limit": "nan"},
        {"memorist.nothing": "1"},
        {"limit": "1000"},
        {"limit": "ten"},
        {"recipe": "unknown"},
        {"as_of": "yesterday"},
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_remedy(agent: Browser, given: dict[str, str]) -> None:
    page = lab(agent, **given)
    assert page.status in (400, 422) and any(word in page.text for word in ("Give", "Choose", "Move", "Write"))


def test_the_recall_sees_what_an_agent_would(agent: Browser) -> None:
    question = "Who keeps the vault code?"
    assert "kept by Dora" not in lab(agent, q=question).text
    assert "kept by Dora" in lab(agent, q=question, max_classification=3).text


def test_a_cap_hides_what_lies_above_it(inspecting: Inspecting) -> None:
    made = inspecting()
    made.memory().remember_many(STORY)
    low = made.browser(made.key(rights="read", cap=1))
    for given in ({"max_classification": 3}, {"find": "vault"}, {"find": "Dora", "with": "mnemosyne-hybrid"}):
        page = lab(low, q="Who keeps the code?", **given)
        assert page.status == 200 and "Dora." not in page.text


def test_hostile_memories_are_only_text(shared: Inspected, agent: Browser) -> None:
    kept = shared.memory().remember(HOSTILE).id
    page = lab(agent, q="script onerror here", find="script")
    assert page.status == 200 and "&lt;script&gt;" in page.source
    assert "<script>document" not in page.source and "<img" not in page.source and "\u202e" not in page.source
    shared.memory().forget(kept)


def test_the_confidence_is_a_number_or_unknown(shared: Inspected, agent: Browser) -> None:
    for recipe in ("memorist", "mnemosyne-hybrid"):
        found = shared.memory().recall(QUESTION, recipe=recipe, track=False)
        sure = "unknown" if found.confidence is None else f"{100 * found.confidence:.0f} %"
        page = lab(agent, recipe=recipe).text
        assert f"confidence {sure}" in page and "sure" not in page.replace("measure", "")
    assert found.confidence is None and found.items[0].probability is None
