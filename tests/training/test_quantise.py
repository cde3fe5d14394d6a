"""The integers of the finished models, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from quantise import Span, divisors, input_scale, quantise_columns, quantise_rows


def floats(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def test_a_column_has_its_own_scale_and_seven_bits() -> None:
    integers, scale = quantise_columns(np.array([[6.3, 0.5], [-3.0, 0.1]], dtype=np.float32))
    assert scale == pytest.approx([0.1, 0.5 / 63])
    assert integers.tolist() == [[63, 63], [-30, 13]]


def test_a_row_of_a_table_has_all_eight_bits_and_zeros_stay_zeros() -> None:
    integers, scale = quantise_rows(np.array([[1.27, -0.5], [0.0, 0.0]], dtype=np.float32))
    assert integers.tolist() == [[127, -50], [0, 0]]
    assert scale[0, 0] == pytest.approx(0.01)


def test_a_large_channel_is_divided_and_a_small_one_multiplied() -> None:
    span = Span(floats(-32, -1), floats(8, 1))
    found = divisors(span, np.array([[1.0, 0.5], [-1.0, 0.1]], dtype=np.float32))
    # Sizes 32 and 1 to the power of 0.8, weights of the same size: 16 and 1, over their geometric mean of 4.
    assert found == pytest.approx([4.0, 0.25], rel=1e-6)


def test_the_scale_covers_the_divided_span_and_zero() -> None:
    scale, zero = input_scale(Span(floats(-8, -1), floats(4, 60)), floats(4, 20))  # -2 … 1 and -0.05 … 3
    assert scale == pytest.approx(5 / 255)
    assert zero == 102
    assert input_scale(Span(floats(2), floats(5.1)), floats(1))[1] == 0  # never below zero: all steps above it


@given(
    st.lists(st.floats(-50, 50, width=32), min_size=6, max_size=6),
    st.lists(st.floats(-2, 2, width=32), min_size=6, max_size=6),
)
def test_the_product_in_integers_is_near_the_product(values: list[float], weights: list[float]) -> None:
    x, matrix = np.array(values, dtype=np.float32), np.array(weights, dtype=np.float32)[:, None]
    span = Span(np.minimum(x, 0), np.maximum(x, 0))
    divided_by = divisors(span, matrix)
    scale, zero = input_scale(span, divided_by)
    integers, (column,) = quantise_columns(matrix * divided_by[:, None])
    read = np.clip(np.rint(x / divided_by / scale) + zero, 0, 255) - zero
    found = float((read @ integers.astype(np.float64))[0] * scale * column)
    # Half a step of either side, times the most that the other can be, for each of the six.
    most = 6 * (scale * np.abs(integers).max() + np.abs(read).max() * 0.5 * scale + scale) * column
    assert found == pytest.approx(float((x.astype(np.float64) @ matrix)[0]), abs=float(most) + 1e-6)
