"""The ONNX graphs of our models, written operator by operator with int8 products.

A product is three operators: divide the channels, quantise, multiply. `MatMulIntegerToFloat` and
`MultiHeadAttention` are ONNX Runtime's own; written out in standard operators the same encoder is half again
as slow, for the numbers then pass through memory many more times. Rows of a batch have one length, so there
is no mask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from encoder import Encoder, Layer, PairScorer, SentenceEncoder
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from quantise import Floats, Span, divisors, input_scale, quantise_columns, quantise_rows
from torch import Tensor, nn

OPSET, IR_VERSION = 20, 9
RUNTIME = "com.microsoft"
IDS, TYPES = "input_ids", "token_type_ids"
EMBEDDING, TOKENS = "embedding", "tokens"
SCORE, ANSWERS = "score", "answers"

Spans = Mapping[str, Span]


def embedder_graph(model: SentenceEncoder, spans: Spans, positions: int) -> ModelProto:
    """From ids of one length to unit vectors and token states."""
    draft = _Draft(dict(model.named_modules()), spans)
    states = _encoder(draft, model.encoder, positions)
    draft.add("LpNormalization", _mean(draft, states), to=EMBEDDING, axis=-1, p=2)
    draft.add("Identity", states, to=TOKENS)
    width = model.encoder.config.hidden_size
    return draft.finished((IDS,), {EMBEDDING: ("batch", width), TOKENS: ("batch", "length", width)})


def scorer_graph(model: PairScorer, spans: Spans, positions: int) -> ModelProto:
    """From ids and types of pairs of one length to two logits each."""
    if model.mean:
        raise ValueError("a finished reranker reads the first state alone; this one reads the mean of all too")
    draft = _Draft(dict(model.named_modules()), spans)
    first = _encoder(draft, model.encoder, positions, types=TYPES, first_only=True)
    mixed = draft.products(first, ["ranking.mix", "answering.mix"])
    for head, mix, output in zip(("ranking", "answering"), mixed, (SCORE, ANSWERS), strict=True):
        logit = draft.product(draft.add("Gelu", mix), f"{head}.out")
        draft.add("Squeeze", logit, draft.constant("last", np.array([-1])), to=output)
    return draft.finished((IDS, TYPES), {SCORE: ("batch",), ANSWERS: ("batch",)})


def _encoder(
    draft: _Draft, encoder: Encoder, positions: int, types: str | None = None, *, first_only: bool = False
) -> str:
    words = draft.lookup("words.weight", encoder.words.weight, IDS)
    places, kinds = _array(encoder.positions.weight)[:positions], _array(encoder.types.weight)
    length = draft.add("Shape", IDS, start=1, end=2)
    start = draft.constant("start", np.array([0]))
    if types is None:
        places = places + kinds[0]
    states = draft.add("Add", words, draft.add("Slice", draft.constant("places", places), start, length, start))
    if types is not None:
        states = draft.add("Add", states, draft.add("Gather", draft.constant("kinds", kinds), types))
    states = draft.norm(states, "encoder.norm")
    *others, last = [(layer, f"encoder.layers.{index}") for index, layer in enumerate(encoder.layers)]
    for layer, name in others:
        states = _layer(draft, states, _attention(draft, states, layer, name), name)
    if not first_only:
        return _layer(draft, states, _attention(draft, states, *last), last[1])
    first = draft.add("Gather", states, draft.constant("first", np.int64(0)), axis=1)
    return _layer(draft, first, _attention_of_first(draft, first, states, *last), last[1])


def _attention(draft: _Draft, states: str, layer: Layer, name: str) -> str:
    read = draft.products(states, [f"{name}.attention.{one}" for one in ("query", "key", "value")])
    return draft.add("MultiHeadAttention", *read, domain=RUNTIME, num_heads=layer.attention.heads)


def _attention_of_first(draft: _Draft, first: str, states: str, layer: Layer, name: str) -> str:
    one = draft.constant("one", np.array([1]))
    key, value = draft.products(states, [f"{name}.attention.key", f"{name}.attention.value"])
    query = draft.add("Unsqueeze", draft.product(first, f"{name}.attention.query"), one)
    mixed = draft.add("MultiHeadAttention", query, key, value, domain=RUNTIME, num_heads=layer.attention.heads)
    return draft.add("Squeeze", mixed, one)


def _layer(draft: _Draft, states: str, mixed: str, name: str) -> str:
    attended = draft.add("Add", states, draft.product(mixed, f"{name}.attention.output"))
    states = draft.norm(attended, f"{name}.attention_norm")
    wide = draft.add("Gelu", draft.product(states, f"{name}.widen"))
    return draft.norm(draft.add("Add", states, draft.product(wide, f"{name}.narrow")), f"{name}.output_norm")


def _mean(draft: _Draft, states: str) -> str:
    # A product per text rather than one sum over the batch: rounding then ignores the neighbours.
    one, two = draft.constant("one", np.array([1])), draft.constant("two", np.array([2]))
    shape = draft.add("Shape", states, start=0, end=2)
    length = draft.add("Cast", draft.add("Slice", shape, one, two), to_type=TensorProto.FLOAT)
    weights = draft.add("Expand", draft.add("Reciprocal", length), shape)
    return draft.add("Squeeze", draft.add("MatMul", draft.add("Unsqueeze", weights, one), states), one)


@dataclass(slots=True)
class _Draft:
    """A graph in the making."""

    modules: Mapping[str, nn.Module]
    spans: Spans
    nodes: list[NodeProto] = field(default_factory=list)
    constants: dict[str, TensorProto] = field(default_factory=dict)

    def product(self, values: str, name: str) -> str:
        """A linear layer in integers."""
        return self.products(values, (name,))[0]

    def products(self, values: str, names: Sequence[str]) -> list[str]:
        """Linear layers that share the integers of one input."""
        matrices = [_array(self.modules[name].weight).T for name in names]
        span, read = self.spans[names[0]], f"{names[0]}.input"
        divided_by = divisors(span, np.concatenate(matrices, axis=1))
        scale, zero = input_scale(span, divided_by)
        divided = self.add("Mul", values, self.constant(f"{read}_factor", 1 / divided_by))
        quantised = (self.constant(f"{read}_scale", scale), self.constant(f"{read}_zero", zero))
        self.add("QuantizeLinear", divided, *quantised, to=read)
        return [
            self._multiply(read, name, matrix * divided_by[:, None])
            for name, matrix in zip(names, matrices, strict=True)
        ]

    def _multiply(self, read: str, name: str, matrix: Floats) -> str:
        integers, scales = quantise_columns(matrix)
        return self.add(
            "MatMulIntegerToFloat",
            read,
            self.constant(f"{name}.weight_int8", integers),
            f"{read}_scale",
            self.constant(f"{name}.weight_scale", scales),
            f"{read}_zero",
            "",
            self.constant(f"{name}.bias", _array(self.modules[name].bias)),
            domain=RUNTIME,
        )

    def norm(self, values: str, name: str) -> str:
        module = self.modules[name]
        weight, bias = (self.constant(f"{name}.{part}", _array(getattr(module, part))) for part in ("weight", "bias"))
        return self.add("LayerNormalization", values, weight, bias, axis=-1, epsilon=module.eps)

    def lookup(self, name: str, table: Tensor, places: str) -> str:
        integers, scales = quantise_rows(_array(table))
        rows = self.add("Gather", self.constant(f"{name}_int8", integers), places)
        scale = self.add("Gather", self.constant(f"{name}_scale", scales), places)
        return self.add("Mul", self.add("Cast", rows, to_type=TensorProto.FLOAT), scale)

    def constant(self, name: str, value: NDArray[np.generic] | np.generic) -> str:
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value).reshape(np.shape(value)), name)
        return name

    def add(
        self,
        operator: str,
        *inputs: str,
        to: str | None = None,
        domain: str = "",
        to_type: int | None = None,
        **attributes: float,
    ) -> str:
        result = to or f"{operator}_{len(self.nodes)}"
        if to_type is not None:
            attributes["to"] = to_type
        self.nodes.append(helper.make_node(operator, inputs, [result], name=result, domain=domain, **attributes))
        return result

    def finished(self, inputs: Sequence[str], outputs: Mapping[str, Sequence[str | int]]) -> ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "memorist",
            [helper.make_tensor_value_info(name, TensorProto.INT64, ("batch", "length")) for name in inputs],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
            list(self.constants.values()),
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(RUNTIME, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="memorist")
        onnx.checker.check_model(model)
        return model


def _array(tensor: Tensor) -> Floats:
    return tensor.detach().float().cpu().numpy()
