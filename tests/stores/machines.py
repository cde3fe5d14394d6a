"""Machines that have no index file of a space: they search what is published in the server."""

from __future__ import annotations

import pytest

from memorist.stores import index_sync
from memorist.stores.index import IndexView
from memorist.stores.index_server import ServerIndex
from memorist_server.postgres import PostgresStore


class NewMachine(PostgresStore):
    """A store of which every view is one of a new machine: it publishes its index, and forgets it."""

    def view(self) -> IndexView:
        """The newest state, fetched from the server as it is searched."""
        super().view()
        self.publish()
        self.move()
        return super().view()

    def publish(self) -> None:
        """Publish what was written, if it is due."""
        self._cache._finish_work()
        if self._index_file.exists():
            self._cache._publish()

    def move(self) -> None:
        """Go to a machine that has no file."""
        self._cache._finish_work()
        self._cache._state = None
        self._index_file.remove()
        self._cache._drop_unlisted()


def publish_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every index have a file, which is published; nothing is fetched that no search needs."""
    monkeypatch.setattr(index_sync, "FEWEST_ROWS", 0)
    monkeypatch.setattr(index_sync, "REST", 0)
    monkeypatch.setattr(ServerIndex, "fill", lambda *_: None)
