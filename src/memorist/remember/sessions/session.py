"""One session in the hands of an agent."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from memorist.model import Memory
from memorist.notices import logger
from memorist.remember.sessions.commit import Commit
from memorist.remember.sessions.run import Run

if TYPE_CHECKING:
    from memorist.remember.sessions.sessions import Sessions


class Session:
    """A run of an agent: keeps its steps, and learns from them when it is committed. Thread-safe."""

    def __init__(self, sessions: Sessions, run: Run) -> None:
        self._sessions = sessions
        self._run = run

    @property
    def id(self) -> str:
        """The session's id, by which it can be gone on with."""
        return self._run.id

    @property
    def goal(self) -> str | None:
        """What the agent is to achieve."""
        return self._run.goal

    def step(self, observation: str, action: str | None = None, reward: float | None = None) -> Memory:
        """Keep what was observed and what was then done, verbatim; it can be found as soon as this returns.

        `reward`, from 0 to 1, tells how well the action went; left out, it is judged by what is observed next.
        """
        return self._sessions.log.step(self._run, observation, action, reward)

    def commit(self) -> Commit:
        """Learn from the steps so far and close the session; another step opens it again.

        A failing model raises nothing here: the steps stay, and the commit is tried again later.
        """
        return self._sessions.commit(self.id)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commit, also after a failure: an agent learns from those too."""
        try:
            self.commit()
        except Exception:
            if error is None:
                raise
            logger.warning("session %s was not committed and will be when it is idle", self.id, exc_info=True)
