"""How `memorist inspect` lets a browser in: by way of a private page on the disk, which another site could not use."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from memorist_server.commands.inspect import write_page
from server_tests.inspector.conftest import started


def test_the_private_page_leads_in_once(page: Any, tmp_path: Path) -> None:
    with ExitStack() as stack:
        made = started(stack, tmp_path, ticket="the-ticket")
        door = write_page(tmp_path / "open.html", f"{made.server.url}/?key=the-ticket")
        page.goto(door.as_uri())
        page.get_by_text("A space begins with its first memory").wait_for()
        page.context.clear_cookies()
        page.goto(door.as_uri())
        page.get_by_text("This link has been used").wait_for()
