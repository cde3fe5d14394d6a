"""The same stories in process and over REST: code moves from a file to a server by changing one string."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

import memorist
from memorist.client.client import Client
from memorist.client.upkeep import RemoteUpkeep
from memorist.verbs import Verbs as Contract
from memorist_server.rest.server import Settings
from server_tests.rest.conftest import Running, running
from tests.surfaces.verbs import FILE_STORIES, STORIES, Verbs


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(Settings(db=f"{tmp_path_factory.mktemp('spaces')}/", embedder="none")) as started:
        yield started


@pytest.fixture(params=["in process", "rest"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, server: Running) -> Iterator[Verbs]:
    """An empty space."""
    if request.param == "in process":
        with memorist.open(tmp_path / "agent.db", embedder="none") as engine:
            yield engine
    else:
        yield server.client(space=uuid4().hex)


def test_the_client_has_every_verb_itself() -> None:
    verbs = {name for name in vars(Contract) if not name.startswith("_")}
    assert len(verbs) > 30 and verbs <= vars(Client).keys() | vars(RemoteUpkeep).keys()


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__.replace("_", " "))
def test_a_story(memory: Verbs, story: Callable[[Verbs], None]) -> None:
    story(memory)


@pytest.mark.parametrize("story", FILE_STORIES, ids=lambda story: story.__name__.replace("_", " "))
def test_a_story_with_files(memory: Verbs, story: Callable[[Verbs, Path], None], tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    story(memory, tmp_path / "files")
