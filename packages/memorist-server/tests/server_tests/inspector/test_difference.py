"""The difference of two texts, word by word."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist_server.inspector.difference import LONGEST, difference

CASES = {
    ("The cat sat on the mat.", "The dog sat on the rug."): (
        ("same", "The "),
        ("removed", "cat"),
        ("added", "dog"),
        ("same", " sat on the "),
        ("removed", "mat"),
        ("added", "rug"),
        ("same", "."),
    ),
    ("one two", "one two"): (("same", "one two"),),
    ("one two", "two one"): (("removed", "one "), ("same", "two"), ("added", " one")),
    ("", "new"): (("added", "new"),),
    ("old", ""): (("removed", "old"),),
    ("", ""): (),
    ("!" * 3, "?!" * 2): (("removed", "!!"), ("added", "?!?"), ("same", "!")),
}


@pytest.mark.parametrize(("texts", "pieces"), CASES.items())
def test_the_pieces_of_two_texts(texts: tuple[str, str], pieces: tuple[tuple[str, str], ...]) -> None:
    found = difference(*texts)
    assert found is not None
    if texts == ("one two", "two one"):  # either word may be the one that stays
        assert sorted(how for how, _ in found) == ["added", "removed", "same"]
    else:
        assert found == pieces


TEXTS = st.lists(st.sampled_from(["a", "b", "c", " ", ".", "dog", "cat "]), max_size=30).map("".join)


@given(TEXTS, TEXTS)
def test_the_pieces_are_the_two_texts_and_no_two_neighbours_are_alike(before: str, after: str) -> None:
    pieces = difference(before, after)
    assert pieces is not None
    assert "".join(piece for how, piece in pieces if how != "added") == before
    assert "".join(piece for how, piece in pieces if how != "removed") == after
    assert all(piece for _, piece in pieces)
    assert all(one[0] != other[0] for one, other in pairwise(pieces))
    assert before != after or len(pieces) <= 1


def test_texts_that_are_too_long_are_not_compared() -> None:
    assert difference("a" * LONGEST, "") == (("removed", "a" * LONGEST),)
    assert difference("a" * LONGEST, "b") is None
