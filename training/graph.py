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
from list_reader import ListScorer
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from quantise import Floats, Span, divisors, input_scale, quantise_columns, quantise_rows
from torch import Tensor, nn

OPSET, IR_VERSION = 20, 9
RUNTIME = "com.microsoft"
IDS, TYPES = "input_ids", "token_type_ids"
EMBEDDING, TOKENS = "embedding", "tokens"
SCORE, ANSWERS = "score", "answers"
OUTDATED, KNOWN = "outdated", "known"
ENDS, MEANS = "ends", "means"
STATE, MIXED = "state", "mixed"
TOKEN_IDS = ("batch", "length")

Spans = Mapping[str, Span]
Shapes = Mapping[str, Sequence[str | int]]


def embedder_graph(model: SentenceEncoder, spans: Spans, positions: int) -> ModelProto:
    """From ids of one length to unit vectors and token states."""
    draft = Draft(dict(model.named_modules()), spans)
    states = _encoder(draft, model.encoder, _layers(model.encoder), positions)
    draft.add("LpNormalization", _mean(draft, states), to=EMBEDDING, axis=-1, p=2)
    draft.add("Identity", states, to=TOKENS)
    width = model.encoder.config.hidden_size
    return draft.finished({IDS: TOKEN_IDS}, {EMBEDDING: ("batch", width), TOKENS: ("batch", "length", width)})


def scorer_graphs(model: PairScorer, spans: Spans, positions: int) -> tuple[ModelProto, ModelProto]:
    """From ids and types of pairs of one length to what the first state reads; and from that to two logits each.

    All tokens are read in the first graph. The second has the products of single states, and takes all pairs at once
    whatever their length: each product would otherwise fetch its weights anew for every batch.
    """
    if model.mean:
        raise ValueError("a finished reranker reads the first state alone; this one reads the mean of all too")
    modules, config = dict(model.named_modules()), model.encoder.config
    *others, (last, name) = _layers(model.encoder)
    shapes = {
        STATE: ("batch", config.hidden_size),
        MIXED: ("batch", config.num_attention_heads, config.hidden_size),
    }
    draft = Draft(modules, spans)
    states = _encoder(draft, model.encoder, others, positions, types=TYPES)
    first = draft.add("Gather", states, draft.constant("first", np.int64(0)), to=STATE, axis=1)
    _mixed_for_first(draft, first, states, last, name)
    reading = draft.finished({IDS: TOKEN_IDS, TYPES: TOKEN_IDS}, shapes)

    draft = Draft(modules, spans)
    read = _layer(draft, STATE, _values_of_first(draft, last, name), name)
    mixed = draft.products(read, ["ranking.mix", "answering.mix"])
    for head, mix, output in zip(("ranking", "answering"), mixed, (SCORE, ANSWERS), strict=True):
        _logit(draft, mix, head, output)
    return reading, draft.finished(shapes, {SCORE: ("batch",), ANSWERS: ("batch",)})


def lists_graph(model: ListScorer, spans: Spans, positions: int) -> ModelProto:
    """From ids and types of a list to three logits of each memory and one of the question.

    `ends` picks the last token of each memory, `means` averages its tokens; both have a row for each memory.
    """
    draft = Draft(dict(model.named_modules()), spans)
    states = _encoder(draft, model.encoder, _layers(model.encoder), positions, types=TYPES)
    read = draft.add("Concat", draft.add("MatMul", ENDS, states), draft.add("MatMul", MEANS, states), axis=2)
    heads = {"ranking": SCORE, "answering": ANSWERS, "outdating": OUTDATED}
    mixed = draft.products(read, [f"{head}.mix" for head in heads])
    for (head, output), mix in zip(heads.items(), mixed, strict=True):
        _logit(draft, mix, head, output)
    first = draft.add("Gather", states, draft.constant("first", np.int64(0)), axis=1)
    _logit(draft, draft.product(first, "knowing.mix"), "knowing", KNOWN)
    places = ("batch", "memories", "length")
    outputs = {**dict.fromkeys(heads.values(), ("batch", "memories")), KNOWN: ("batch",)}
    return draft.finished({IDS: TOKEN_IDS, TYPES: TOKEN_IDS, ENDS: places, MEANS: places}, outputs)


def _logit(draft: Draft, mixed: str, head: str, output: str) -> None:
    logit = draft.product(draft.add("Gelu", mixed), f"{head}.out")
    draft.add("Squeeze", logit, draft.constant("last", np.array([-1])), to=output)


def _layers(encoder: Encoder) -> list[tuple[Layer, str]]:
    return [(layer, f"encoder.layers.{index}") for index, layer in enumerate(encoder.layers)]


def _encoder(
    draft: Draft, encoder: Encoder, layers: Sequence[tuple[Layer, str]], positions: int, types: str | None = None
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
    for layer, name in layers:
        states = _layer(draft, states, _attention(draft, states, layer, name), name)
    return states


def _attention(draft: Draft, states: str, layer: Layer, name: str) -> str:
    read = draft.products(states, [f"{name}.attention.{projection}" for projection in ("query", "key", "value")])
    return draft.add("MultiHeadAttention", *read, domain=RUNTIME, num_heads=layer.attention.heads)


def _mixed_for_first(draft: Draft, first: str, states: str, layer: Layer, name: str) -> str:
    """The states as each head of the first state mixes them, before they become values.

    A query meets the key of a token in q · (W x) = (Wᵀ q) · x, and the values are mixed in Σ a (W x) = W (Σ a x): a
    product per head instead of one per token. The bias of a key is the same for all tokens, so the softmax ignores it.
    """
    heads, width = layer.attention.heads, layer.attention.width
    read, key = draft.rounded(states, _key_and_value(name))
    each = draft.constant("each", np.array([0, heads, 1, width]))
    query = draft.add("Reshape", draft.product(first, f"{name}.attention.query"), each)
    asked = draft.add("FusedMatMul", query, _by_head(draft, key, layer), domain=RUNTIME, transB=1)
    asked = draft.add("Squeeze", asked, draft.constant("one_row", np.array([2])))
    logits = draft.add("FusedMatMul", asked, read, domain=RUNTIME, transB=1, alpha=width**-0.5)
    return draft.add("MatMul", draft.add("Softmax", logits, axis=-1), read, to=MIXED)


def _values_of_first(draft: Draft, layer: Layer, name: str) -> str:
    """The values of the mixed states. The weights of a mixture sum to 1, so the bias is added once."""
    key, value = _key_and_value(name)
    matrix = _by_head(draft, draft.matrix(value, beside=key), layer)
    mixed = draft.add("Unsqueeze", MIXED, draft.constant("one_row", np.array([2])))
    width = layer.attention.heads * layer.attention.width
    joined = draft.constant("joined", np.array([0, width]))
    values = draft.add("Reshape", draft.add("MatMul", mixed, matrix), joined)
    return draft.add("Add", values, draft.constant(f"{value}.bias", _array(layer.attention.value.bias)))


def _key_and_value(name: str) -> tuple[str, str]:
    return f"{name}.attention.key", f"{name}.attention.value"


def _by_head(draft: Draft, matrix: str, layer: Layer) -> str:
    heads, width = layer.attention.heads, layer.attention.width
    split = draft.add("Reshape", matrix, draft.constant("by_head", np.array([heads * width, heads, width])))
    return draft.add("Transpose", split, perm=[1, 0, 2])


def _layer(draft: Draft, states: str, mixed: str, name: str) -> str:
    attended = draft.add("Add", states, draft.product(mixed, f"{name}.attention.output"))
    states = draft.norm(attended, f"{name}.attention_norm")
    wide = draft.add("Gelu", draft.product(states, f"{name}.widen"))
    return draft.norm(draft.add("Add", states, draft.product(wide, f"{name}.narrow")), f"{name}.output_norm")


def _mean(draft: Draft, states: str) -> str:
    # A product per text rather than one sum over the batch: rounding then ignores the neighbours.
    one, two = draft.constant("one", np.array([1])), draft.constant("two", np.array([2]))
    shape = draft.add("Shape", states, start=0, end=2)
    length = draft.add("Cast", draft.add("Slice", shape, one, two), to_type=TensorProto.FLOAT)
    weights = draft.add("Expand", draft.add("Reciprocal", length), shape)
    return draft.add("Squeeze", draft.add("MatMul", draft.add("Unsqueeze", weights, one), states), one)


@dataclass(slots=True)
class Draft:
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
        read, matrices = self._read(values, names)
        return [self._multiply(read, name, matrix) for name, matrix in zip(names, matrices, strict=True)]

    def rounded(self, values: str, names: Sequence[str]) -> tuple[str, str]:
        """The input that linear layers share and the matrix of the first, in floats that are those of the integers."""
        read, matrices = self._read(values, names)
        return self.add("DequantizeLinear", read, f"{read}_scale", f"{read}_zero"), self._floats(names[0], matrices[0])

    def matrix(self, name: str, beside: str) -> str:
        """The matrix of a linear layer that shares its input with another one, in such floats."""
        matrices, _ = self._divided((beside, name))
        return self._floats(name, matrices[1])

    def _floats(self, name: str, matrix: Floats) -> str:
        integers, scales = self._weights(name, matrix)
        return self.add("Mul", self.add("Cast", integers, to_type=TensorProto.FLOAT), scales)

    def _read(self, values: str, names: Sequence[str]) -> tuple[str, list[Floats]]:
        """The integers that linear layers share, and their matrices for them."""
        matrices, divided_by = self._divided(names)
        read = f"{names[0]}.input"
        scale, zero = input_scale(self.spans[names[0]], divided_by)
        divided = self.add("Mul", values, self.constant(f"{read}_factor", 1 / divided_by))
        quantised = (self.constant(f"{read}_scale", scale), self.constant(f"{read}_zero", zero))
        self.add("QuantizeLinear", divided, *quantised, to=read)
        return read, matrices

    def _divided(self, names: Sequence[str]) -> tuple[list[Floats], Floats]:
        """The matrices of linear layers that share an input, and what its channels are divided by for them."""
        matrices = [_array(self.modules[name].weight).T for name in names]
        divided_by = divisors(self.spans[names[0]], np.concatenate(matrices, axis=1))
        return [matrix * divided_by[:, None] for matrix in matrices], divided_by

    def _weights(self, name: str, matrix: Floats) -> tuple[str, str]:
        integers, scales = quantise_columns(matrix)
        return self.constant(f"{name}.weight_int8", integers), self.constant(f"{name}.weight_scale", scales)

    def _multiply(self, read: str, name: str, matrix: Floats) -> str:
        integers, scales = self._weights(name, matrix)
        return self.add(
            "MatMulIntegerToFloat",
            read,
            integers,
            f"{read}_scale",
            scales,
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
        **attributes: float | str | Sequence[int],
    ) -> str:
        result = to or f"{operator}_{len(self.nodes)}"
        if to_type is not None:
            attributes["to"] = to_type
        self.nodes.append(helper.make_node(operator, inputs, [result], name=result, domain=domain, **attributes))
        return result

    def finished(self, inputs: Shapes, outputs: Shapes) -> ModelProto:
        kinds = {name: TensorProto.INT64 if shape == TOKEN_IDS else TensorProto.FLOAT for name, shape in inputs.items()}
        graph = helper.make_graph(
            self.nodes,
            "memorist",
            [helper.make_tensor_value_info(name, kinds[name], shape) for name, shape in inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs.items()],
            list(self.constants.values()),
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(RUNTIME, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="memorist")
        onnx.checker.check_model(model)
        return model


def _array(tensor: Tensor) -> Floats:
    return tensor.detach().float().cpu().numpy()
