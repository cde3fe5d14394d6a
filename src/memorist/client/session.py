"""A session of an agent that a server keeps."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import quote

from memorist.client import reading
from memorist.model import Memory
from memorist.wire_in import memory_from_data

if TYPE_CHECKING:
    from memorist.client.transport import Transport
    from memorist.remember.sessions import Commit


class RemoteSession:
    """A run of an agent: keeps its steps, and learns from them when it is committed. Thread-safe."""

    def __init__(self, transport: Transport, id: str, goal: str | None) -> None:
        self._transport = transport
        self._path = f"/sessions/{quote(id, safe='')}"
        self.id = id
        self.goal = goal

    def step(self, observation: str, action: str | None = None, reward: float | None = None) -> Memory:
        """Keep what was observed and what was then done, verbatim; it can be found as soon as this returns."""
        body = {"observation": observation, "action": action, "reward": reward}
        return memory_from_data(self._transport.post(f"{self._path}/steps", body))

    def commit(self) -> Commit:
        """Learn from the steps so far and close the session; another step opens it again."""
        return reading.commit(self._transport.post(f"{self._path}/commit"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit, also after a failure: an agent learns from those too."""
        self.commit()
