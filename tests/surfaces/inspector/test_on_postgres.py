"""Every view of the inspector answers on PostgreSQL as it does on a file."""

from __future__ import annotations

import pytest

from memorist.surfaces.inspector.views import VIEWS
from tests.surfaces.inspector.conftest import HOME, STORY, Inspecting


@pytest.mark.slow
def test_every_view_shows_a_space_of_a_database(inspecting: Inspecting, database: str) -> None:
    made = inspecting(db=database)
    memory = made.memory()
    memory.remember_many(STORY)
    memory.relate("Ann", "lives_in", "Bergen", valid_from="2024-07-01")
    with memory.session(goal="Find out why billing is slow.", id="run-1") as session:
        session.step("The billing service was slow.", "look at the disk")
    agent = made.browser()
    for view in VIEWS:
        page = agent.get(f"{HOME}/{view.name}")
        assert page.status == 200, view.name
    assert "Ann lives in Oslo." in agent.get(f"{HOME}/lab?q=Where+does+Ann+live%3F").text
    assert "Bergen" in agent.get(f"{HOME}/graph?name=Ann").text
    assert "Find out why billing is slow." in agent.get(f"{HOME}/sessions").text
