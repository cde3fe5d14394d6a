from __future__ import annotations

import math

import numpy as np
import pytest

from memorist.text import words


def test_idf_by_hand() -> None:
    # ten documents, two with the word: ln(1 + 8.5/2.5) = ln 4.4
    assert words.idf(10, 2) == pytest.approx(1.4816045)
    assert words.idf(10, 2) == pytest.approx(math.log(4.4))


def test_idf_is_positive_and_falls_with_every_document() -> None:
    values = [words.idf(10, containing) for containing in range(11)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0


def test_length_norm_by_hand() -> None:
    assert words.length_norm(10.0, 10.0) == pytest.approx(1.2)
    assert words.length_norm(20.0, 10.0) == pytest.approx(1.2 * (0.25 + 1.5))  # 2.1
    assert words.length_norm(0.0, 10.0) == pytest.approx(0.3)


def test_weight_by_hand() -> None:
    # one occurrence in a text of mean length counts 1, many never more than 2.2
    assert words.weight(1.0, 1.2) == pytest.approx(1.0)
    assert words.weight(3.0, 2.1) == pytest.approx(3 * 2.2 / 5.1)
    assert 2.1 < words.weight(100.0, 1.2) < 2.2


def test_arrays_are_scored_like_numbers() -> None:
    lengths, frequencies = np.array([3.0, 7.0]), np.array([1.0, 4.0])
    norms = words.length_norm(lengths, 5.0)
    for place in (0, 1):
        norm = words.length_norm(float(lengths[place]), 5.0)
        assert norms[place] == norm
        assert words.weight(frequencies, norms)[place] == words.weight(float(frequencies[place]), norm)
