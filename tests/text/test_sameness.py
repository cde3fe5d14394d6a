"""What makes two texts the same text: case, white space and a final full stop, and nothing else."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.text.sameness import canonical


def same(one: str, other: str) -> bool:
    return canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I like tea.", "i  LIKE\ttea"),
        ("I like tea .", "\nI like tea\u00a0"),
        ("我住在东京。", "我住在东京"),
        ("1.", "1"),
        ("Café", normalize("NFD", "CAFÉ")),
        ("ΟΔΟΣ", "οδος"),
        ("STRAẞE", "straße"),
    ],
)
def test_case_white_space_and_a_final_full_stop_do_not_matter(one: str, other: str) -> None:
    assert same(one, other) and canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x²", "x2"),
        ("Wait.", "Wait..."),
        ("Wait", "Wait…"),
        ("Wait.", "Wait!"),
        ("Wait.。", "Wait"),
        ("in Maßen", "in Massen"),
        ("resume", "résumé"),
        ("on line", "online"),
        (".", "。"),
        ("1.5", "15"),
    ],
)
def test_everything_else_does(one: str, other: str) -> None:
    assert not same(one, other)


@given(st.text())
def test_the_canonical_text_is_the_same_text(text: str) -> None:
    assert canonical(canonical(text)) == canonical(f" {text}\n") == canonical(text)
    assert bool(canonical(text)) == bool(text.strip())
