"""The passage of a long text that fits a question best, worked by hand."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from memorist.text.tokens import best_passage, count_tokens, pieces

HOUSE = (
    "The boiler is behind the kitchen door. "  # 9 tokens: seven words, `kitchen` has two pieces, and a full stop
    "The stopcock is under the stairs. "  # 8 tokens: `stopcock` has two pieces
    "Turn it clockwise. "  # 5 tokens: `clockwise` has two pieces
    "The alarm wants a new battery each May. "  # 10 tokens
    "The geese bite strangers."  # 6 tokens: `strangers` has two pieces
)


def test_a_text_that_fits_is_whole() -> None:
    assert count_tokens(HOUSE) == 38
    assert best_passage(HOUSE, "Where is the stopcock?", 38) == HOUSE


def test_the_best_sentence_comes_with_the_next_one() -> None:
    """With the sign of its gap each sentence costs one more: 9 + 6 of 15 fit, and 1 is kept for the last gap."""
    shown = "… The stopcock is under the stairs. Turn it clockwise. …"
    assert best_passage(HOUSE, "Where is the stopcock?", 16) == shown
    assert best_passage(HOUSE, "Where is the stopcock?", 15) == "… The stopcock is under the stairs. …"


def test_sentences_with_other_words_of_the_question_follow_while_they_fit() -> None:
    """Of five sentences one has each word, so both weigh log(4.5 / 1.5 + 1) = log 4; the earlier one is taken first."""
    shown = "… The stopcock is under the stairs. Turn it clockwise. … The geese bite strangers."
    assert best_passage(HOUSE, "Do geese guard the stopcock?", 26) == shown


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    """`geese` is in one of four sentences: log(3.5 / 1.5 + 1) = 1.20; `house` in three: log(1.5 / 3.5 + 1) = 0.36."""
    text = "The house is old. The house is yellow. The house has a roof. Geese live there, by the pond."
    assert best_passage(text, "Are there geese at the house?", 12) == "… Geese live there, by the pond."


def test_without_a_common_word_a_text_is_shown_by_its_beginning() -> None:
    assert best_passage(HOUSE, "Who called?", 16).startswith("The boiler is behind the kitchen door. …")


def test_a_judge_decides_between_sentences() -> None:
    def judge(sentences: object) -> list[float]:
        return [0.0, 0.0, 0.0, 5.0, 0.0]

    assert best_passage(HOUSE, "Where is the stopcock?", 12, judge) == "… The alarm wants a new battery each May. …"


def test_a_long_sentence_is_parted_at_a_clause_and_never_inside_a_number_or_code() -> None:
    said = "we met " + "and walked around the lake again " * 20 + "then the code LM3-12001 came, 1,250.50 in all"
    shown = best_passage(said, "Which code came?", 40)
    assert "LM3-12001 came," in shown and shown.startswith("…")
    assert set(re.findall(r"[\w.,-]+", shown)) <= set(re.findall(r"[\w.,-]+", said))


def test_chinese_is_parted_at_clauses() -> None:
    said = "我们在海淀区租了一套房子，" * 8 + "房租每月8500元，门锁密码是739204，" + "楼下有一家小超市，" * 8
    shown = best_passage(said, "门锁密码是多少？", 60)
    assert "门锁密码是739204" in shown and count_tokens(shown) <= 60 and shown.endswith("…")


def test_an_enormous_text_is_never_shown_whole() -> None:
    for text in ("x" * 3_000_000, "word " * 600_000, "字" * 1_000_000, "One more line.\n" * 200_000):
        shown = best_passage(text, "Which word is in the line?", 50)
        assert 0 < count_tokens(shown) <= 50 and len(shown) < 400


@given(st.text(max_size=300), st.text(max_size=30), st.integers(8, 60))
def test_a_passage_fits_and_invents_nothing(text: str, query: str, most: int) -> None:
    shown = best_passage(text, query, most)
    assert shown == text or all(part.strip() in text for part in shown.split("…"))


def test_pieces_are_whole_sentences_that_fit_together() -> None:
    """9 + 8 tokens fit into 17, then 5 + 10, and the last 6 would be too many."""
    boiler, stopcock, turn, alarm, geese = (f"{part}." for part in HOUSE.rstrip(".").split(". "))
    assert pieces(HOUSE, 17) == [f"{boiler} {stopcock}", f"{turn} {alarm}", geese]
    assert pieces(HOUSE, 38) == [HOUSE]
    assert pieces(" ", 5) == []


@given(st.text("ab c.。?\n9中😀", max_size=200), st.integers(6, 40))
def test_pieces_fit_and_have_everything(text: str, most: int) -> None:
    found = pieces(text, most)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(count_tokens(name) <= most for name in found)
