"""Writing takes shortcuts past patterns that cannot match; none of them changes what is found."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.model import Origin
from memorist.ports import Batch
from memorist.remember.extract import clauses
from memorist.remember.gates.verdict import _surely_in, pieces_in
from memorist.stores.memory import MemoryStore
from memorist.testing.world import memory
from memorist.text import chatter, labels, sameness, tokens
from memorist.text.secrets import disguise, passwords
from memorist.text.words import words

LOCOMO = Path(__file__).parents[3] / "shared/data/eval/locomo/corpus.jsonl"
SIGNS = ".!?…。！？｡\n\"'”’)]」』 \t[](){}-*•>|,;:%&\\_#@0159"
TEXTS = st.text(
    st.sampled_from(SIGNS + "aAbBsSiIdDßẞKéİ中は\u200b") | st.characters(exclude_categories=("Cs",)), max_size=80
)


def _spans(text: str) -> list[tuple[int, int]]:
    """The sentences by one search through the text."""
    spans, start = list[tuple[int, int]](), 0
    for end in tokens._END.finditer(text):
        if end[0] != "." or not tokens._ABBREVIATION.search(text, max(start, end.end() - 12), end.end()):
            spans.append((start, end.end()))
            start = end.end()
    return [*spans, (start, len(text))]


@given(TEXTS)
def test_sentences_end_where_one_search_through_the_text_finds_their_ends(text: str) -> None:
    assert list(tokens._sentence_spans(text)) == _spans(text)


@given(TEXTS)
def test_plain_letters_are_compared_like_any_others(text: str) -> None:
    general = " ".join(normalize("NFC", sameness.one_case(normalize("NFD", text))).split())
    assert sameness.canonical(text) in (general, general[:-1].rstrip())


@given(
    st.lists(
        st.tuples(st.integers(0, 70), st.sampled_from([" ", "\n", "\t", "\u2003"]), st.integers(1, 20)), max_size=9
    )
)
def test_a_text_without_wide_gaps_and_endless_words_is_read_as_it_is(parts: list[tuple[int, str, int]]) -> None:
    text = "".join("a" * letters + gap * wide for letters, gap, wide in parts)
    masked = clauses._UNREAD.sub(clauses._gap, text)
    assert clauses.head_of(text) == masked


@given(TEXTS)
def test_a_text_that_wears_no_disguise_is_not_searched_for_one(text: str) -> None:
    dressed = disguise._DRESSED.search(text)
    assert dressed or not disguise._DRESS.search(text)


@given(st.sampled_from(["password", "API key", "token", "name"]), st.sampled_from("|,;\t"), TEXTS)
def test_a_table_of_passwords_is_never_passed_over(head: str, sign: str, text: str) -> None:
    table = f"user{sign}{head}\n{text}"
    found = passwords._HEADER.search(table)
    assert not found or passwords._may_have_columns(table)


@pytest.mark.parametrize("frame", labels.FRAMES)
def test_every_line_of_a_context_is_recognised(frame: labels.Frame) -> None:
    slots = {"number": 1, "days": "2024-01-01", "relation": "lives_in", "validity": "2024-01-01 to now", "places": ""}
    assert labels.framed_lines(frame.around("Ann lives in Rome.", **slots, id="0123abcd")) == 1


@given(TEXTS)
def test_fillers_have_few_words(text: str) -> None:
    assert not chatter.is_filler(text) or len(words(text)) <= chatter.MOST_FILLERS


def _texts() -> list[str]:
    if not LOCOMO.exists():
        pytest.skip("the conversations are not here")
    lines = LOCOMO.read_text(encoding="utf-8").splitlines()[:1500]
    return [json.loads(line)["text"] for line in lines]


def test_no_memory_that_holds_a_sentence_is_ruled_out_by_its_words() -> None:
    """A copy is searched for only if some memory has the longest words of the sentence."""
    memories = [memory(text, origin=Origin(speaker=text.partition(":")[0])) for text in _texts()]
    store = MemoryStore()
    store.put(Batch(memories))
    view = store.view()
    for one in memories:
        for piece in pieces_in(one):
            assert view.may_hold(_surely_in(piece)), piece
