"""Writing takes shortcuts past patterns that cannot match; none of them changes what is found."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.model import Origin
from memorist.ports import Batch
from memorist.remember.extract import clauses, english, reading
from memorist.remember.gates.verdict import _surely_in, pieces_in
from memorist.stores.memory import MemoryStore
from memorist.testing.world import memory
from memorist.text import chatter, injection, labels, sameness, tokens
from memorist.text.dates import find_dates, reader, values
from memorist.text.patterns import LIKE_ASCII, any_of
from memorist.text.secrets import disguise, numbers, passwords
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
    for row in memories:
        for piece in pieces_in(row):
            assert view.may_hold(_surely_in(piece)), piece


AT = datetime(2024, 6, 3, tzinfo=UTC)
WHO = (
    "I", "We", "I'm", "I’ve", "My sister Anna", "Anna Berg", "My landlord", "The gate code", "our rent", "My email",
    "my favourite film", "My birthday", "Just", "Well, I", "Bob is my brother, and I", "My name", "Anna's been",
)  # fmt: skip
WHAT = (
    "in Oslo", "to Rome from Paris", "to Rome", "at Google for years", "a nurse at Shell", "a cat called Tom",
    "a vegetarian", "allergic to nuts", "married to Tom", "Spanish", "the guitar", "34", "born in Kiel", "from Norway",
    "working as a cook", "studying law", "Head of Sales", "at 12 Baker Street", "up smoking", "smoking again", "to Vim",
    "my job at Shell", "to Mrs Smith", "£900", "Blade Runner", "engaged to Kim", "a student at MIT", "fluent in Dutch",
    "my uncle", "a@b.com", "a bike", "hired as a manager", "on 3 March", "my all-time hero", "new number: 01234 567890",
)  # fmt: skip
SENTENCES = st.builds(
    "{} {} {} {}".format,
    st.sampled_from(WHO),
    st.sampled_from(("", "is", "am", "have", "has been", "will", "used to", "'s", "don't", "is called")),
    st.sampled_from(("", "live", "moved", "works", "work", "living", "was", "name is", "birthday is")),
    st.sampled_from(WHAT),
)


@given(SENTENCES | TEXTS)
def test_a_sentence_without_the_words_of_any_rule_states_nothing(sentence: str) -> None:
    """Every clause is read here, whatever its words are."""
    people = reading.People(sentence, "Ann", None)
    whole = clauses.Sentence(0, len(sentence), "Ann")
    made = [
        statement
        for span in clauses.clauses(sentence, whole)
        for statement in reading.Clause(people, AT, *span).statements(None)[0]
    ]
    found = [*made, *reading._in_passing(whole, people)]
    assert not found or english.may_state(sentence), found


def test_only_four_letters_beyond_ascii_are_taken_for_one_of_it() -> None:
    letter = re.compile("[a-z]", re.IGNORECASE)
    beyond = [chr(code) for code in range(128, 0x110000) if letter.match(chr(code))]
    assert all(map(LIKE_ASCII.fullmatch, beyond))
    assert len(beyond) == 4


@given(st.lists(st.text(st.sampled_from("ab|.c"), min_size=1, max_size=4), min_size=1, max_size=9), st.text("ab|.cd"))
def test_one_search_finds_any_of_several_words(some: list[str], text: str) -> None:
    assert bool(re.search(any_of(some), text)) is any(word in text for word in some)


@given(st.sampled_from(injection._FORMS), TEXTS)
def test_every_hint_of_an_order_is_seen(form: injection._Form, text: str) -> None:
    for hint in form.hints:
        said = f"{text}{hint}".lower()
        assert injection._ALL_HINTS.search(said)
        assert injection._HINTS.search(said) or not said.isascii()


@given(st.lists(st.sampled_from(("able", "zoo", "an", "wonderful", "3. art", "é", "don't")), max_size=40))
def test_no_run_of_words_that_may_be_a_seed_phrase_is_passed_over(said: list[str]) -> None:
    text = " ".join(said)
    assert not numbers._RUN.search(text) or numbers._may_hold_seed_phrase(text)


@given(
    st.lists(
        st.sampled_from(("yesterday", "on Friday", "in May", "2 weeks ago", "I will go", "and", "3/4", "五月")),
        max_size=6,
    )
)
def test_dates_that_no_preference_decides_are_read_once(said: list[str]) -> None:
    text = " ".join(said)
    context = values.Context(AT.replace(tzinfo=None), "past", "whole")
    past = reader.read(text, context)
    if not context.chosen:
        assert past == find_dates(text, AT, prefer="future") == find_dates(text, AT, prefer="nearest")
