"""Inspectors to look at.

`inspecting(**settings)` starts one on an empty folder of the test. `agent` is a browser at one whose space `agent`
holds `STORY`, shared by a module: tests that change something write memories of their own there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from memorist.client import Client
from memorist_server.inspector.app import create_app
from memorist_server.rest.server import Settings
from server_tests.inspector.browser import Browser
from server_tests.rest.conftest import Running, running

STORY = (
    {"text": "Ann lives in Oslo.", "at": "2024-06-03", "speaker": "Ann", "scope": "user:ann"},
    {"text": "The billing service was slow.", "at": "2024-06-05", "speaker": "Ben", "metadata": {"project": "atlas"}},
    {"text": "The vault code is kept by Dora.", "at": "2024-06-06", "classification": 3},
)
HOME = "/inspect/agent"


@dataclass(frozen=True)
class Inspected:
    """A running inspector."""

    server: Running

    def browser(self, key: str | None = None) -> Browser:
        """Another person's browser, logged in with a key if one is given."""
        made = Browser(self.server.url)
        self.server.opened.callback(made.close)
        if key is not None:
            assert made.log_in(key).status == 200
        return made

    def key(self, space: str = "agent", rights: str = "admin", cap: int = 3) -> str:
        return self.server.key(space, rights, cap)

    def memory(self, space: str = "agent", key: str | None = None) -> Client:
        """The verbs, over REST."""
        return self.server.client(space, key)


Inspecting = Callable[..., Inspected]


def started(stack: ExitStack, folder: Path, **settings: object) -> Inspected:
    usual = {"db": f"{folder}/spaces/", "embedder": "none", "session_secret": "for the tests"}
    return Inspected(
        stack.enter_context(
            running(Settings(**{**usual, **settings}), create_app)  # pyright: ignore[reportArgumentType]
        )
    )


@pytest.fixture
def inspecting(tmp_path: Path) -> Iterator[Inspecting]:
    """Starts inspectors on folders of this test, searched by words alone."""
    with ExitStack() as stack:
        yield lambda **settings: started(stack, tmp_path, **settings)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspected]:
    """An inspector without keys whose space `agent` holds the story."""
    with ExitStack() as stack:
        made = started(stack, tmp_path_factory.mktemp("inspected"))
        made.memory().remember_many(STORY)
        yield made


@pytest.fixture
def agent(shared: Inspected) -> Browser:
    return shared.browser()
