from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.errors import InvalidInput
from memorist.text.signature import (
    bit_matrix,
    content_stems,
    packed,
    signature,
    similarities,
)
from memorist.text.words import words


def agreement(first: bytes, second: bytes) -> float:
    """The share of equal bits of two signatures."""
    return float(similarities(first, np.frombuffer(second, np.uint8)[np.newaxis])[0])


TEXTS = st.lists(st.text(min_size=1, max_size=12), max_size=12)


def signed(text: str) -> bytes:
    return signature(content_stems(words(text)))


def test_a_signature_never_changes() -> None:
    assert signed("Alice moved to Stockholm last summer.").hex() == (
        "d1938c4d6e544c04870e4757e18ff4239ed57da1ca71e9131bc875f7aff0b207"
    )
    assert signature(["cat"], 64).hex() == "760dc036ef19b94e"


def test_stop_words_go_and_stems_and_repeats_stay() -> None:
    assert content_stems(words("The cats were chasing the cat")) == ["cat", "chase", "cat"]
    assert content_stems(words("what is it")) == ["what", "is", "it"]
    assert content_stems([]) == []


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        (
            "Where did Alice move last summer?",
            "Alice moved to Stockholm last summer.",
            "The query planner ignores the index.",
        ),
        ("project deadline", "The deadline of the project is Friday", "Bob likes cold soup"),
        ("爱丽丝什么时候搬到斯德哥尔摩的？", "爱丽丝去年夏天搬到了斯德哥尔摩", "数据库的查询速度很慢"),
    ],
)
def test_0_65_separates_answers_from_unrelated_texts(question: str, answer: str, other: str) -> None:
    assert agreement(signed(question), signed(answer)) >= 0.65
    assert agreement(signed(question), signed(other)) < 0.6


def test_a_typo_keeps_part_of_a_word() -> None:
    misspelt = agreement(signature(["stockholm"]), signature(["stokholm"]))
    assert misspelt > agreement(signature(["stockholm"]), signature(["gothenburg"])) + 0.1


def test_one_word_by_hand() -> None:
    # "a": twice the word, once its only trigram "#a#"; so the sign of every sum is the word's.
    row = bit_matrix(["a"])[0]
    assert set(np.abs(row).tolist()) == {1, 3}
    assert signature(["a"]) == packed(row).tobytes()


def test_packing_takes_positive_sums_first_bit_first() -> None:
    assert packed(np.array([[3, -1, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 2]])).tolist() == [[0b10010000], [1]]


def test_similarity_counts_equal_bits() -> None:
    assert agreement(b"\x00" * 8, b"\x00" * 7 + b"\x0f") == pytest.approx(60 / 64)
    rows = np.array([[0] * 8, [255] * 8, [255, 0] * 4], np.uint8)
    assert similarities(b"\x00" * 8, rows).tolist() == [1.0, 0.0, 0.5]
    assert similarities(b"\x00" * 8, rows[:0]).tolist() == []


def test_an_index_sums_vocabulary_rows() -> None:
    vocabulary = ["coffee", "tea", "morning"]
    counts = np.array([[2, 0, 1], [0, 1, 0]])
    rows = packed(counts @ bit_matrix(vocabulary).astype(np.int32))
    assert rows[0].tobytes() == signature(["coffee", "morning", "coffee"])
    assert similarities(signature(["tea"]), rows)[1] == 1


@given(TEXTS)
def test_the_order_of_words_does_not_matter(found: list[str]) -> None:
    assert signature(found) == signature(found[::-1])


@given(TEXTS, TEXTS, st.sampled_from([64, 256, 512]))
def test_similarity_is_symmetric_bounded_and_one_with_itself(a: list[str], b: list[str], bits: int) -> None:
    first, second = signature(a, bits), signature(b, bits)
    assert len(first) == bits // 8
    assert 0 <= agreement(first, second) == agreement(second, first) <= 1
    assert agreement(first, first) == 1


@given(st.text(alphabet="ab", min_size=60, max_size=300))
def test_a_long_word_does_not_overflow(word: str) -> None:
    assert agreement(signature([word]), signature([word])) == 1
    assert np.abs(bit_matrix(["a" * 300])).max() == 126


def test_unrelated_words_share_about_half_their_bits() -> None:
    rng = np.random.default_rng(0)
    alphabet = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    names = ["".join(rng.choice(alphabet, 9)) for _ in range(400)]
    rows = packed(bit_matrix(names).astype(np.int32))
    shares = similarities(rows[0].tobytes(), rows[1:])
    assert abs(shares.mean() - 0.5) < 0.02
    assert shares.max() < 0.65


@pytest.mark.parametrize("bits", [0, 8, 100, 576])
def test_an_unsupported_number_of_bits_is_rejected(bits: int) -> None:
    with pytest.raises(InvalidInput, match="multiple of 64"):
        signature(["word"], bits)


def test_signatures_of_different_lengths_are_rejected() -> None:
    with pytest.raises(InvalidInput, match="same number"):
        agreement(b"\x00" * 8, b"\x00" * 16)
    with pytest.raises(InvalidInput, match="same number"):
        agreement(b"", b"")
