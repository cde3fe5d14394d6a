"""Questions and requests are told from statements."""

from __future__ import annotations

import pytest

from memorist.text.chatter import asks


@pytest.mark.parametrize(
    "text",
    [
        "Where is it?",
        "Yes or no, is it? Thanks.",
        "他住在哪里？",
        "who lives there",
        "List what I ate",
        "Does it",
    ],
)
def test_questions_and_requests_ask(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize("text", ["", "Foods for glaucoma", "Alice lives in Oslo.", "whoever", "…", "I wonder"])
def test_claims_and_keywords_do_not(text: str) -> None:
    assert not asks(text)
