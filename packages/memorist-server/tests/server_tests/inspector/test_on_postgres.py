"""Every view of the inspector answers on PostgreSQL as it does on a file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memorist_server.inspector.views import VIEWS
from server_tests.inspector.browser import Page
from server_tests.inspector.conftest import HOME, STORY, Inspected, Inspecting

QUESTION = "Where+does+Ann+live%3F"
PAGES = (
    *(view.name for view in VIEWS),
    "memories?speaker=Ann",
    "memories?where=%7B%22metadata.project%22%3A%22atlas%22%7D",
    "memories?q=slow",
    "memories/{id}",
    f"lab?q={QUESTION}&with=mnemosyne-hybrid",
    f"lab/absence?q={QUESTION}&missing={{id}}",
    f"time?q={QUESTION}",
    "graph?name=Ann&hops=2",
    "graph?q=An",
    "sessions/run-1",
)


TAGS = re.compile(r'<span class="does">.*?</span>|<[^>]*>')
"""Tags, and what a stage does, which a page tells if it took long."""
UNEQUAL = re.compile(r"\b\d\.\d{3}\b|\d[\d.,]*\s*(?:ms|[KMG]?B)\b|(?:in )?\d+ (?:minute|hour|day)s?(?: ago)?|just now")
"""Scores, which age, how long a stage took, how large a store is, and how long ago something was."""


def said(page: Page) -> str:
    return UNEQUAL.sub("…", " ".join(TAGS.sub(" ", page.source).split()))


def told(made: Inspected, space: str) -> None:
    memory = made.memory(space)
    memory.remember_many(STORY)
    memory.relate("Ann", "lives_in", "Bergen", valid_from="2024-07-01")
    with memory.session(goal="Find out why billing is slow.", id="run-1") as session:
        session.step("The billing service was slow.", "look at the disk")


@pytest.mark.slow
def test_every_view_shows_a_space_of_a_database(inspecting: Inspecting, database: str) -> None:
    made = inspecting(db=database)
    told(made, "agent")
    agent = made.browser()
    for view in VIEWS:
        page = agent.get(f"{HOME}/{view.name}")
        assert page.status == 200, view.name
    assert "Ann lives in Oslo." in agent.get(f"{HOME}/lab?q={QUESTION}").text
    assert "Bergen" in agent.get(f"{HOME}/graph?name=Ann").text
    assert "Find out why billing is slow." in agent.get(f"{HOME}/sessions").text


@pytest.mark.slow
def test_the_same_memories_show_the_same_on_both(inspecting: Inspecting, database: str, tmp_path: Path) -> None:
    file, server = inspecting(db=f"{tmp_path}/files/"), inspecting(db=database)
    told(file, "both")
    file.memory("both").export(tmp_path / "all.jsonl")
    server.memory("both").import_(tmp_path / "all.jsonl")
    id = file.memory("both").list(1).items[0].id
    for page in PAGES:
        path = f"/inspect/both/{page.format(id=id)}"
        here, there = (made.browser().get(path) for made in (file, server))
        assert (here.status, there.status) == (200, 200), path
        assert said(here) == said(there), path
