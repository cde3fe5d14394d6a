"""The runs of agents: steps, rewards, and lessons with what they rest on."""

from __future__ import annotations

from memorist_server.inspector.views.sessions import spans
from server_tests.inspector.conftest import HOME, Inspecting

STEPS = (
    ("The shop answers with HTTP 503.", "Now find out why the shop is down.", None),
    ("The disk of oslo-2 is full.", "Next, free some space on oslo-2.", None),
    ("The old logs take 80 GB.", "delete the old logs", None),
    ("The shop answers with HTTP 200.", None, 1.0),
)


def test_a_run_shows_its_steps_and_what_was_learnt_from_which(inspecting: Inspecting) -> None:
    made = inspecting()
    with made.memory().session(goal="Bring the shop back online.", id="night/1") as session:
        for observation, action, reward in STEPS:
            session.step(observation, action, reward)
    agent = made.browser()
    listed = agent.get(f"{HOME}/sessions")
    assert "Bring the shop back online." in listed.text and "closed" in listed.text and "4 steps" in listed.text
    [link] = [edge for edge in listed.links if "/sessions/" in edge]
    page = agent.get(link)
    assert page.status == 200 and page.text.index("HTTP 503") < page.text.index("HTTP 200")
    assert "How it is done" in page.text and "delete the old logs" in page.text
    assert "reward 1.00" in page.text and "#step-2" in page.links and "from steps 2–4" in page.text


def test_the_steps_of_a_lesson_are_told_as_spans() -> None:
    assert spans([7, 2, 1, 3]) == [(1, 3), (7, 7)] and spans([4]) == [(4, 4)] and spans([]) == []


def test_a_run_that_taught_nothing_says_so_once_it_has_ended(inspecting: Inspecting) -> None:
    made = inspecting()
    session = made.memory().session(goal="Repair the router.", id="r9")
    session.step("The light is red.", "unplug it", 0.0)
    agent = made.browser()
    assert "Lessons are drawn when the session ends" in agent.get(f"{HOME}/sessions/r9").text
    session.commit()
    ended = agent.get(f"{HOME}/sessions/r9").text
    assert "No lessons" in ended and "Lessons are drawn when" not in ended


def test_without_sessions_the_page_says_how_to_begin_one(inspecting: Inspecting) -> None:
    made = inspecting()
    made.memory().remember("The lamp is blue.")
    browser = made.browser()
    assert "session.step(" in browser.get(f"{HOME}/sessions").text
    assert browser.get(f"{HOME}/sessions/none").status == 404


def test_a_cap_hides_sessions_above_it(inspecting: Inspecting) -> None:
    made = inspecting()
    admin = made.key()
    with made.memory(key=admin).session(goal="Open the vault.", id="v") as session:
        session.step("The vault is closed.", "open it")
    capped = made.browser(made.key(rights="read", cap=0))
    assert "Open the vault" not in capped.get(f"{HOME}/sessions").text
    assert capped.get(f"{HOME}/sessions/v").status == 404
