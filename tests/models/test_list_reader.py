"""The packaged reader of lists, really run: what a question and several memories together say."""

from __future__ import annotations

import pytest

from memorist.errors import ModelUnavailable
from memorist.models.rerankers import build
from memorist.models.rerankers.lists import MOST_TEXTS, fitting
from memorist.ports import ListReading, Reranker, list_reading_of
from memorist.ports.models import ReadInList

OLD = "[10 January 2024] Maren: Our office is in Canal Street."
NEW = "[2 May 2024] Maren: First day in Mill Lane, boxes everywhere in the new office."
OTHER = "[3 June 2024] Maren: The bakery on the corner has closed."
QUESTION = "[1 July 2024] Where is our office?"


@pytest.fixture(scope="module")
def reranker() -> Reranker:
    built = build("auto")
    assert built is not None
    return built


def read(reranker: Reranker, question: str, *texts: str) -> ListReading:
    found = list_reading_of(reranker, question, texts)
    assert found is not None
    return found


def test_the_current_one_fits_best_whatever_its_words(reranker: Reranker) -> None:
    old, new, other = read(reranker, QUESTION, OLD, NEW, OTHER).texts
    assert new.score > old.score > other.score
    assert old.outdated > max(new.outdated, other.outdated)


def test_a_list_without_an_answer_is_less_known(reranker: Reranker) -> None:
    known = read(reranker, QUESTION, OLD, NEW).known
    unknown = read(reranker, "[1 July 2024] What is the rent of our office?", OLD, NEW, OTHER).known
    assert known > 0 > unknown


def test_a_reading_has_a_row_for_each_text_and_depends_on_nothing_else(reranker: Reranker) -> None:
    first = read(reranker, QUESTION, OLD, NEW)
    assert len(first.texts) == 2 and all(isinstance(row, ReadInList) for row in first.texts)
    read(reranker, "Where?", OTHER)
    assert read(reranker, QUESTION, OLD, NEW) == first
    assert len(read(reranker, QUESTION, *[OLD] * (MOST_TEXTS + 3)).texts) == MOST_TEXTS
    assert list_reading_of(reranker, QUESTION, []) is None


def test_long_lone_and_odd_texts_are_read(reranker: Reranker) -> None:
    odd = ["", "\0", "\ud800", "👍" * 500, "word " * 5000, "[SEP] [CLS] [SEP]"]
    assert len(read(reranker, QUESTION, *odd).texts) == len(odd)
    assert len(read(reranker, "word " * 5000, OLD).texts) == 1


def test_a_question_in_another_language_is_refused(reranker: Reranker) -> None:
    with pytest.raises(ModelUnavailable, match="does not read the language"):
        list_reading_of(reranker, "我们的办公室在哪里？", [OLD])


def test_a_reranker_of_pairs_reads_no_lists() -> None:
    class Pairs:
        def score(self, query: str, texts: object) -> list[float]:
            return []

    assert list_reading_of(Pairs(), QUESTION, [OLD]) is None


@pytest.mark.parametrize(
    ("lengths", "room", "cut"),
    [
        ([10, 200, 300], 400, [10, 195, 195]),
        ([5, 5], 20, [5, 5]),
        ([7, 9], 10, [5, 5]),
        ([300, 10, 10], 100, [80, 10, 10]),
    ],
)
def test_the_longest_lose_the_last_tokens(lengths: list[int], room: int, cut: list[int]) -> None:
    assert fitting(lengths, room) == cut
