"""Parts of the training for many languages; what needs torch is skipped without it."""

from __future__ import annotations

import random
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tests.training.conftest import TRAINING

sys.path.append(str(TRAINING / "multilingual"))

from switch import Switch
from table import four_bits, unpacked

DICTIONARY = {
    "de": {"where": ["wo"], "is": ["ist"], "the": ["das"], "bicycle": ["Fahrrad"], "bill": ["Rechnung"]},
    "zh": {"where": ["哪里"], "is": ["在"], "the": [""], "bicycle": ["自行车"]},
}


@pytest.fixture
def draw() -> random.Random:
    return random.Random(1)


def test_two_numbers_share_a_byte_and_a_row_shares_a_scale() -> None:
    """7, −7, 4, 0 are 15, 1, 12, 8 above −8; the first half of a row has the low bits: 15 + 16 · 12 and 1 + 16 · 8."""
    table = np.array([[7, -7, 4, 0], [0.7, -0.7, 0.4, 0]], dtype=np.float32)
    packed, scale = four_bits(table)
    assert packed.tolist() == [[207, 129], [207, 129]]
    assert scale == pytest.approx([1.0, 0.1])
    assert unpacked(packed, scale) == pytest.approx(table)


def test_a_row_of_zeros_stays_zeros() -> None:
    assert not unpacked(*four_bits(np.zeros((1, 4), dtype=np.float32))).any()


def test_words_are_exchanged_and_names_stay(draw: random.Random) -> None:
    switch = Switch(DICTIONARY)
    assert switch("Where is the bicycle, Bill?", "de", 1.0, draw) == "wo ist das Fahrrad, Bill?"
    assert switch("Where is the bicycle, Bill?", "de", 0.0, draw) == "Where is the bicycle, Bill?"


def test_scripts_without_spaces_get_none(draw: random.Random) -> None:
    assert Switch(DICTIONARY)("Where is the red bicycle?", "zh", 1.0, draw) == "哪里在 red 自行车?"


def test_a_list_wants_its_first_text_and_spares_the_answers_of_lists_alike() -> None:
    torch = pytest.importorskip("torch")
    learn = pytest.importorskip("learn")

    class Vectors:
        def run(self, model: object, rows: object, parts: int) -> object:
            return rows

    queries, texts = torch.eye(2), torch.tensor([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])  # two lists of two
    apart, alike = (
        learn._listed_loss(Vectors(), None, SimpleNamespace(queries=queries, texts=texts, same=np.array(same)), 2)
        for same in ([0, 1], [0, 0])
    )
    assert alike < apart
