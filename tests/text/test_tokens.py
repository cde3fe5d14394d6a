from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.text.tokens import count_tokens

SHARED = Path(__file__).parents[3] / "shared"

COUNTS = {
    "": 0,
    "  \t": 0,
    "the cat": 2,
    "friend": 1,  # six letters
    "friends": 2,
    "friendship": 2,  # ten
    "friendships": 3,
    "1234567": 3,  # 123 456 7
    "wait, what?": 4,
    "東京タワー": 7,  # 5 × 5/4, rounded up
    "привет": 3,
    "😂": 2,
    "a\n\n b": 3,
    "snake_case": 3,
}


@pytest.mark.parametrize("text", COUNTS)
def test_tokens_are_counted_by_the_formula(text: str) -> None:
    assert count_tokens(text) == COUNTS[text]


ANY = st.text(st.characters(codec=None))


@given(ANY, ANY)
def test_more_text_has_no_fewer_tokens(first: str, second: str) -> None:
    assert count_tokens(first) <= count_tokens(first + second)
    assert count_tokens(first + " " + second) <= count_tokens(first) + count_tokens(second)


@given(st.text(st.characters(codec="ascii")), st.text("ab 1_\n–…’×😂❤️"))
def test_plain_text_is_counted_by_the_same_formula(text: str, signs: str) -> None:
    for said in (text, signs, text + signs):
        assert count_tokens(said) == count_tokens(f"{said} é") - 1  # a letter beyond ASCII takes the general way


def test_the_estimate_is_rarely_below_the_word_pieces() -> None:
    model, corpus = SHARED / "models/tokenizer.json", SHARED / "data/eval/locomo/corpus.jsonl"
    if not (model.exists() and corpus.exists()):
        pytest.skip("no evaluation data beside the repository")
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(model))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    with corpus.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line, _ in zip(lines, range(500), strict=False)]
    pieces = [len(found.ids) for found in tokenizer.encode_batch(texts, add_special_tokens=False)]
    counted = [count_tokens(text) for text in texts]
    assert sum(ours < theirs for ours, theirs in zip(counted, pieces, strict=True)) < 0.05 * len(texts)
    assert 1.0 < sum(counted) / sum(pieces) < 1.25
