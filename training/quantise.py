"""Int8 quantisation of an ONNX encoder, token by token, in standard operators.

Dynamic quantisation as ONNX Runtime offers it takes one scale per activation tensor, so a text's vector
depends on the texts that share its batch. Here every token (row) has its own scale:

    y = x W + b  ≈  s_row · s_column · ((q_x − 128) q_W) + b,   s_row = max|x_row| / 127

as in LLM.int8() (Dettmers et al. 2022) without its outlier columns. The integer product is exact, hence a
row's result does not depend on its neighbours at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

# Seven bits of weight: x86 processors without VNNI add two u8 × s8 products in 16 bits with saturation,
# and 2 · 255 · 63 still fits.
WEIGHT_LIMIT = 63
# A table row is only looked up, never multiplied in integers, so it has all eight bits.
TABLE_LIMIT = 127
ACTIVATION_LIMIT = 127
ACTIVATION_ZERO = 128
SMALLEST_SCALE = 1e-10  # a row of zeros stays zeros


def quantise(model: ModelProto) -> ModelProto:
    """The model with int8 matrices and embedding tables; everything else stays in float."""
    rewriter = _Rewriter({one.name: numpy_helper.to_array(one) for one in model.graph.initializer})
    for node in model.graph.node:
        rewriter.take(node)
    result = ModelProto()
    result.CopyFrom(model)
    del result.graph.node[:], result.graph.initializer[:]
    result.graph.node.extend(rewriter.nodes)
    result.graph.initializer.extend(one for one in model.graph.initializer if one.name not in rewriter.replaced)
    result.graph.initializer.extend(rewriter.constants)
    return result


def quantise_columns(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Integers and a scale for each output column of a weight matrix."""
    scale = (np.abs(matrix).max(axis=0) / WEIGHT_LIMIT).astype(np.float32)
    return np.rint(matrix / scale).astype(np.int8), scale


def quantise_rows(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Integers and a scale for each row of an embedding table."""
    scale = np.maximum(np.abs(table).max(axis=1, keepdims=True) / TABLE_LIMIT, SMALLEST_SCALE)
    return np.rint(table / scale).astype(np.int8), scale.astype(np.float32)


@dataclass(slots=True)
class _Rewriter:
    """Collects the new graph while walking the old one."""

    weights: dict[str, NDArray[np.float32]]
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    replaced: set[str] = field(default_factory=set)
    quantised: dict[str, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._constant("activation_step", np.float32(1 / ACTIVATION_LIMIT))
        self._constant("activation_zero", np.uint8(ACTIVATION_ZERO))
        self._constant("smallest_scale", np.float32(SMALLEST_SCALE))
        self._constant("one", np.float32(1))

    def take(self, node: NodeProto) -> None:
        """Copy a node, or put its quantised form in its place."""
        if node.op_type == "MatMul" and node.input[1] in self.weights:
            self._product(node)
        elif node.op_type == "Gather" and self._is_table(node.input[0]):
            self._lookup(node)
        else:
            self.nodes.append(node)

    def _is_table(self, name: str) -> bool:
        return name in self.weights and self.weights[name].ndim == 2

    def _product(self, node: NodeProto) -> None:
        (values, weight), (result,) = node.input, node.output
        integers, scales = quantise_columns(self.weights[weight])
        self.replaced.add(weight)
        rows, row_scales = self._quantised_rows(values)
        product = self._add(
            "MatMulInteger", rows, self._constant(f"{weight}_int8", integers), "activation_zero", to=f"{result}_int"
        )
        number = self._add("Cast", product, to=f"{result}_float", dtype=TensorProto.FLOAT)
        by_column = self._add("Mul", number, self._constant(f"{weight}_scale", scales), to=f"{result}_columns")
        self._add("Mul", by_column, row_scales, to=result)

    def _quantised_rows(self, values: str) -> tuple[str, str]:
        """Names of the integers and row scales of an activation; query, key and value share theirs."""
        if values not in self.quantised:
            size = self._add("Abs", values, to=f"{values}_abs")
            largest = self._add("ReduceMax", size, to=f"{values}_max", axes=[-1], keepdims=1)
            scale = self._add("Mul", largest, "activation_step", to=f"{values}_step")
            scale = self._add("Max", scale, "smallest_scale", to=f"{values}_scale")
            unit = self._add("Div", values, scale, to=f"{values}_unit")
            rows = self._add("QuantizeLinear", unit, "one", "activation_zero", to=f"{values}_int8")
            self.quantised[values] = rows, scale
        return self.quantised[values]

    def _lookup(self, node: NodeProto) -> None:
        (table, places), (result,) = node.input, node.output
        integers, scales = quantise_rows(self.weights[table])
        self.replaced.add(table)
        rows = self._add("Gather", self._constant(f"{table}_int8", integers), places, to=f"{result}_int8")
        number = self._add("Cast", rows, to=f"{result}_float", dtype=TensorProto.FLOAT)
        scale = self._add("Gather", self._constant(f"{table}_scale", scales), places, to=f"{result}_scale")
        self._add("Mul", number, scale, to=result)

    def _constant(self, name: str, value: NDArray[np.generic] | np.generic) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def _add(
        self, operator: str, *inputs: str, to: str, dtype: int | None = None, **attributes: int | list[int]
    ) -> str:
        if dtype is not None:
            attributes["to"] = dtype
        self.nodes.append(helper.make_node(operator, inputs, [to], name=to, **attributes))
        return to
