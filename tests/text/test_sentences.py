from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.text.tokens import sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith came at 5 p.m. on Jan. 3. He left.", ["Dr. Smith came at 5 p.m. on Jan. 3.", "He left."]),
        ("J. R. Jones paid 3.50 for v1.2.3, e.g. today.", ["J. R. Jones paid 3.50 for v1.2.3, e.g. today."]),
        ("He said “Stop!” Then he left…  All were gone", ["He said “Stop!”", "Then he left…", "All were gone"]),
        ("a line\nanother\n\nthird", ["a line", "another", "third"]),
        ("他走了。她留下了！“好吗？”你呢", ["他走了。", "她留下了！", "“好吗？”", "你呢"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences_end_where_a_reader_pauses(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(max_size=200))
def test_nothing_but_whitespace_is_lost(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
