"""The ONNX graph of the multilingual embedder: int8 products with fixed scales, and a word table of four bits."""

from __future__ import annotations

import numpy as np
from graph import EMBEDDING, IDS, TOKEN_IDS, Draft, Spans
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto
from quantise import Floats, Span, divisors, input_scale
from student import NARROW, ORDERS, WIDTH, Student


def student_graph(model: Student, packed: NDArray[np.uint8], scale: Floats, spans: Spans) -> ModelProto:
    """From ids of one length to unit vectors; `packed` and `scale` are the word table of `four_bits`."""
    draft = StudentDraft(dict(model.named_modules()), spans)
    words = draft.words(packed, scale)
    names = [f"branches.{place}" for place in range(len(ORDERS))]
    projected = draft.products(words, [f"{name}.project" for name in names])
    parts = [draft.branch(values, name, *order) for values, name, order in zip(projected, names, ORDERS, strict=True)]
    states = draft.product(draft.norm(draft.add("Concat", words, *parts, axis=-1), "norm"), "mix")
    low = draft.bent(draft.mean(states), "p1", "d0", "d1")
    high = draft.bent(draft.add("Relu", low), "p3", "d2", "d3")
    draft.add("LpNormalization", draft.add("Tanh", high), to=EMBEDDING, axis=-1, p=2)
    return draft.finished({IDS: TOKEN_IDS}, {EMBEDDING: ("batch", WIDTH)})


class StudentDraft(Draft):
    """A graph in the making, with the parts of a student."""

    def words(self, packed: NDArray[np.uint8], scale: Floats) -> str:
        """Rows of the table: the low four bits of its bytes, then the high ones."""
        rows = self.add("Gather", self.constant("words", packed), IDS)
        low = self.add("BitwiseAnd", rows, self.constant("low_bits", np.array([15], dtype=np.uint8)))
        high = self.add("BitShift", rows, self.constant("bits", np.array([4], dtype=np.uint8)), direction="RIGHT")
        both = self.add("Cast", self.add("Concat", low, high, axis=-1), to_type=TensorProto.FLOAT)
        centred = self.add("Sub", both, self.constant("middle", np.array([8], dtype=np.float32)))
        return self.add("Mul", centred, self.add("Gather", self.constant("word_scale", scale[:, None]), IDS))

    def branch(self, projected: str, name: str, order: int, left: int) -> str:
        """Two residual convolutions over windows of tokens."""
        states = self.norm(projected, f"{name}.norm")
        for part in ("first", "second"):
            states = self.add("Add", self.add("Relu", self._windows(states, f"{name}.{part}", order, left)), states)
        return states

    def _windows(self, values: str, name: str, order: int, left: int) -> str:
        """A product over windows. Its input becomes integers first, and the zeros at both ends are the zero point."""
        matrix = self.modules[name].weight.detach().float().numpy().T
        wide = self.spans[name]
        low, high = (half.reshape(order, NARROW) for half in (wide.low, wide.high))
        span = Span(low.min(axis=0), high.max(axis=0))
        divided_by = divisors(span, np.abs(matrix.reshape(order, NARROW, -1)).max(axis=0))
        scale, zero = input_scale(span, divided_by)
        read = f"{name}.input"
        divided = self.add("Mul", values, self.constant(f"{read}_factor", 1 / divided_by))
        given = (self.constant(f"{read}_scale", scale), self.constant(f"{read}_zero", zero))
        ends = self.constant(f"{read}_ends", np.array([0, left, 0, 0, order - 1 - left, 0]))
        padded = self.add("Pad", self.add("QuantizeLinear", divided, *given), ends, given[1])
        length = self.add("Shape", IDS, start=1, end=2)
        axis = self.constant("token_axis", np.array([1]))
        parts: list[str] = []
        for at in range(order):
            start = self.constant(f"at_{at}", np.array([at]))
            parts.append(self.add("Slice", padded, start, self.add("Add", length, start), axis))
        self.add("Concat", *parts, to=read, axis=-1)
        return self._multiply(read, name, matrix * np.tile(divided_by, order)[:, None])

    def mean(self, states: str) -> str:
        """The weighted mean of the tokens times the root of their number, a product per text."""
        one = self.constant("one", np.array([1]))
        weights = self.add("Softmax", self.product(self.norm(states, "weigh_norm"), "weigh"), axis=1)
        rows = self.add("Transpose", weights, perm=[0, 2, 1])
        mean = self.add("Squeeze", self.add("MatMul", rows, states), one)
        length = self.add("Cast", self.add("Shape", IDS, start=1, end=2), to_type=TensorProto.FLOAT)
        return self.add("Mul", mean, self.add("Sqrt", length))

    def bent(self, values: str, straight: str, first: str, second: str) -> str:
        """A product, plus two with a bend between them."""
        direct, inner = self.products(values, (straight, first))
        return self.add("Add", direct, self.product(self.add("Relu", inner), second))
