"""`memorist inspect`: one file, one browser, once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from memorist.errors import InvalidInput
from memorist_server.commands.inspect import page_of, write_page
from tests.surfaces.conftest import Cli


def test_a_file_that_does_not_exist_is_not_created(cli: Cli, db: Path) -> None:
    assert "There is no memory at" in cli("inspect", "--no-open").problem
    assert not db.exists()


def test_the_page_with_the_ticket_is_for_this_user_alone(tmp_path: Path) -> None:
    page = write_page(tmp_path / "open.html", "http://127.0.0.1:1/?key=x")
    assert page.stat().st_mode & 0o777 == 0o600 and "url=http://127.0.0.1:1/?key=x" in page.read_text()


@pytest.mark.slow
def test_it_serves_one_file_to_one_browser_and_leaves_nothing_behind(cli: Cli, db: Path, tmp_path: Path) -> None:
    cli("remember", "The kettle is red.")
    folder = tmp_path / "temporary"
    folder.mkdir()
    command = [sys.executable, "-m", "memorist", "--embedder", "none", "inspect", str(db), "--no-open", "--json"]
    own = {"TMPDIR": str(folder), "HOME": str(folder)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=own) as run:
        assert run.stdout is not None
        url = httpx.URL(json.loads(run.stdout.readline())["url"])
        try:
            opens_once(url)
        finally:
            run.send_signal(signal.SIGTERM)
        assert run.wait(60) == 0
    assert [path.name for path in folder.iterdir() if path.name.startswith("memorist-")] == []
    assert sorted(path.name for path in tmp_path.glob(".*")) == []


def opens_once(url: httpx.URL) -> None:
    stranger, owner, second = (httpx.Client(follow_redirects=True, timeout=60, verify=False) for _ in range(3))
    with stranger, owner, second:
        assert "private" in stranger.get(url.copy_with(query=None)).text
        assert stranger.get(url.copy_with(path="/v1/spaces", query=None)).status_code == 401
        assert "The kettle is red." in owner.get(url).text
        assert second.get(url).status_code == 403


def test_a_question_is_part_of_the_address() -> None:
    assert page_of(None, None) == ""
    assert page_of("Who?", "agent") == "&next=%2Finspect%2Fagent%2Flab%3Fq%3DWho%253F"
    with pytest.raises(InvalidInput, match="one space"):
        page_of("Who?", None)
