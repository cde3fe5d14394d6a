"""Facts on two clocks: how they are drawn, and what the answer was at other moments."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from memorist.model import Fact, Memory, Times
from memorist_server.inspector.timeline import WIDTH, Scale, lanes, patches, scale_of
from server_tests.inspector.browser import Browser
from server_tests.inspector.conftest import HOME, Inspected, Inspecting


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def fact(value: str, start: str, known: str, end: str | None = None, learnt: str | None = None) -> Memory:
    times = Times(day(start), day(known), end and day(end), learnt and day(learnt))  # pyright: ignore[reportArgumentType]
    after = "Paris" if end else None
    return Memory(value, f"Ann lives in {value}.", times, fact=Fact("Ann", "lives_in", value), superseded_by=after)


SCALE = Scale(date(2024, 1, 1), date(2024, 1, 11))
OSLO = fact("Oslo", "2024-01-02", "2024-01-03", "2024-01-06", "2024-01-08")
PARIS = fact("Paris", "2024-01-06", "2024-01-08")


def states(as_of: str, known_at: str) -> list[tuple[str, float, float, bool]]:
    (lane,) = lanes([PARIS, OSLO], SCALE, day(as_of), day(known_at))
    return [(span.state, span.start, span.width, span.to_below) for span in lane.spans]


def test_a_day_is_a_tenth_of_ten_days() -> None:
    assert [SCALE.x(day(f"2024-01-{number:02}")) for number in (1, 2, 11)] == [0, 100, WIDTH]
    assert SCALE.x(day("2023-01-01")) == 0 and SCALE.x(None) == WIDTH
    assert len(SCALE.labels) == 4 and SCALE.labels[0] == date(2024, 1, 1)


def test_before_the_move_was_known_oslo_had_no_end() -> None:
    assert states("2024-01-09", "2024-01-07") == [("held", 100, 900, False), ("unknown", 500, 500, False)]


def test_after_it_was_known_paris_follows_oslo() -> None:
    assert states("2024-01-09", "2024-01-09") == [("past", 100, 400, True), ("held", 500, 500, False)]
    assert states("2024-01-05", "2024-01-09") == [("held", 100, 400, True), ("future", 500, 500, False)]


def test_both_clocks_show_what_was_believed_and_what_is() -> None:
    drawn = [(patch.memory.id, patch.x, patch.width, patch.y, patch.height) for patch in patches([PARIS, OSLO], SCALE)]
    assert drawn == [
        ("Oslo", 100, 900, 300, 500),  # known from day 3 to 8: no end
        ("Oslo", 100, 400, 0, 300),  # known from day 8 on: until day 6
        ("Paris", 500, 500, 0, 300),
    ]


def test_what_was_said_is_a_moment_and_comes_last() -> None:
    said = Memory("said", "Ann has moved.", Times(day("2024-01-02"), day("2024-01-02")))
    drawn = lanes([said, PARIS], SCALE, day("2024-01-09"), day("2024-01-09"))
    assert [(lane.subject, [span.width for span in lane.spans]) for lane in drawn] == [("Ann", [500]), ("", [5])]


def test_a_scale_has_room_for_one_day_and_for_the_ends_of_the_calendar() -> None:
    one = scale_of([fact("Oslo", "2024-01-02", "2024-01-02")])
    assert one.first < date(2024, 1, 2) < one.last
    ends = scale_of([fact("Oslo", "0001-01-01", "9999-12-31")])
    assert ends.first.year == 1 and ends.last.year == 9999 and 0 <= ends.x(day("2024-01-01")) <= WIDTH


@pytest.fixture(scope="module")
def moved(shared: Inspected) -> Inspected:
    memory = shared.memory()
    memory.relate("Bea", "lives_in", "Oslo", valid_from="2024-01-02", ingested_at="2024-01-02")
    memory.relate("Bea", "lives_in", "Paris", valid_from="2024-06-02", ingested_at="2024-06-02")
    return shared


def test_a_name_shows_its_facts_and_what_held(moved: Inspected, agent: Browser) -> None:
    page = agent.get(f"{HOME}/time?q=bea&as_of=2024-03-01")
    held = page.text.partition("What held then")[2]
    assert "Bea lives in Oslo." in held and "Paris" not in held
    assert "Paris" in page.text and 'class="step"' in page.source
    assert "Bea lives in Paris." in agent.get(f"{HOME}/time?q=Bea").text.partition("What holds now")[2]


def test_the_handles_work_without_scripts(moved: Inspected, agent: Browser) -> None:
    number = date(2024, 3, 1).toordinal()
    page = agent.get(f"{HOME}/time?q=Bea&as_of={number}&known_at={number}")
    assert "true on 2024-03-01, known on 2024-03-01" in page.text and "not yet known then" in page.text
    assert ("as_of", str(number)) in page.form("/time").fields + page.forms[-1].fields


def test_a_question_is_answered_as_the_world_was_known_then(moved: Inspected, agent: Browser) -> None:
    page = agent.get(f"{HOME}/time?q=Where+does+Bea+live%3F&known_at=2024-03-01")
    then = page.text.partition("The answer then")[2]
    assert "Bea lives in Oslo." in then and "Bea lives in Paris." not in then
    lab = next(link for link in page.links if "/lab?" in link)
    assert "Ann lives" in agent.get(lab).text or "Bea lives in Oslo." in agent.get(lab).text


def test_one_fact_on_both_clocks(moved: Inspected, agent: Browser) -> None:
    page = agent.get(f"{HOME}/time?q=Bea")
    chosen = next(link for link in page.links if "fact=" in link)
    shown = agent.get(chosen).text
    assert "on both clocks" in shown and "End known from" in shown and "2024-01-02 – 2024-06-02" in shown


def test_nothing_known_says_what_to_do(moved: Inspected, agent: Browser) -> None:
    assert "See what was true" in agent.get(f"{HOME}/time").text
    assert "No facts about this" in agent.get(f"{HOME}/time?q=zzzzqqq").text
    assert agent.get(f"{HOME}/time?q=Bea&as_of=soon").status in (400, 422)


def test_a_cap_hides_facts(inspecting: Inspecting) -> None:
    made = inspecting()
    made.memory().relate("Dora", "works_at", "Vault House", classification=3)
    made.memory().relate("Ann", "works_at", "Harbour")
    low = made.browser(made.key(rights="read", cap=1))
    for query in ("Dora", "Vault House", "Where does Dora work?"):
        assert "Vault House." not in low.get(f"{HOME}/time?q={query}").text
    assert "Ann" in low.get(f"{HOME}/time").text and "Dora" not in low.get(f"{HOME}/time").text


@pytest.mark.slow
def test_postgresql_answers_alike(inspecting: Inspecting, database: str) -> None:
    made = inspecting(db=database)
    made.memory().relate("Bea", "lives_in", "Oslo", valid_from="2024-01-02", ingested_at="2024-01-02")
    made.memory().relate("Bea", "lives_in", "Paris", valid_from="2024-06-02", ingested_at="2024-06-02")
    browser = made.browser()
    then = browser.get(f"{HOME}/time?q=Bea&as_of=2024-03-01").text.partition("What held then")[2]
    assert "Bea lives in Oslo." in then and "Paris" not in then
    lab = browser.get(f"{HOME}/lab?q=Where+does+Bea+live%3F&memorist.rerank_blend.weight=0.5").text
    assert "Why it is first" in lab and "Bea lives in Paris." in lab and "[recipes.memorist.set]" in lab
