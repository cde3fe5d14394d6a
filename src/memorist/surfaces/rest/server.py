"""What one worker process holds, from its start to its end."""

from __future__ import annotations

from dataclasses import dataclass, field

from anyio import CapacityLimiter

from memorist.surfaces.keys import KeyRing, keys_file
from memorist.surfaces.rest.answers import Answers
from memorist.surfaces.rest.limits import Rate, Room
from memorist.surfaces.rest.metrics import Metrics
from memorist.surfaces.rest.settings import Settings
from memorist.surfaces.rest.spaces import Spaces, spaces_of


@dataclass(slots=True)
class Server:
    """Settings, keys and open spaces."""

    settings: Settings
    keys: KeyRing
    spaces: Spaces
    answers: Answers
    room: Room
    rate: Rate
    metrics: Metrics = field(default_factory=Metrics)
    ready: bool = False
    _threads: CapacityLimiter | None = None

    @classmethod
    def started(cls, settings: Settings) -> Server:
        """A server for a folder of spaces, which is made if it is not there."""
        folder = settings.folder
        return cls(
            settings,
            KeyRing(keys_file(settings.db)),
            spaces_of(settings),
            Answers(folder),
            Room(settings.concurrency),
            Rate(settings.rate),
        )

    @property
    def threads(self) -> CapacityLimiter:
        """The threads that verbs run in: a slow embedding never blocks the event loop."""
        if self._threads is None:  # made inside the event loop, to which it belongs
            self._threads = CapacityLimiter(max(1, self.settings.threads))
        return self._threads

    @property
    def unlocked(self) -> bool:
        """Whether anybody may ask: nobody else can reach it, and no key was ever made."""
        return self.settings.loopback and self.keys.empty

    def close(self) -> None:
        """Close every space and file."""
        self.ready = False
        self.spaces.close()
        self.answers.close()
        self.keys.close()
