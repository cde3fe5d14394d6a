"""Notices: one hook, no text unless asked for, and nothing that a hook does breaks anything."""

from __future__ import annotations

import logging

import pytest

from memorist.ports.notices import Notice, Notices
from memorist.testing import FakeClock

NOTICE = Notice("commit", FakeClock().now(), ("run",), {"steps": 20, "semantic": 3}, texts=("a secret",))


def test_a_hook_hears_of_everything_but_the_texts() -> None:
    heard: list[Notice] = []
    Notices(heard.append).tell(NOTICE)
    Notices(heard.append, texts=True).tell(NOTICE)
    assert [notice.texts for notice in heard] == [(), ("a secret",)]
    assert heard[1] == NOTICE


def test_without_a_hook_notices_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "memorist")
    Notices().tell(NOTICE)
    Notices().tell(Notice("extraction_failed", NOTICE.at, ("run",), error="the model is away"))
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("INFO", "commit · run · steps=20 semantic=3"),
        ("WARNING", "extraction_failed · run · the model is away"),
    ]


def test_a_failing_hook_is_logged_and_goes_no_further(caplog: pytest.LogCaptureFixture) -> None:
    def broken(notice: Notice) -> None:
        raise RuntimeError(notice.kind)

    Notices(broken).tell(NOTICE)
    assert "the hook for notices failed on 'commit'" in caplog.text
