"""ONNX Runtime behind the few typed calls that we need of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memorist.ports import Vector


class Graph:
    """A loaded ONNX file on one thread; safe to run from many.

    Several texts at once on one core each beat one text on several cores, and a thread that spins while
    it waits takes its core from the others.
    """

    def __init__(self, file: Path) -> None:
        import onnxruntime

        runtime: Any = onnxruntime  # carries no types for most of what follows
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session: Any = runtime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        self.inputs: tuple[str, ...] = tuple(one.name for one in self._session.get_inputs())
        self.outputs: tuple[str, ...] = tuple(one.name for one in self._session.get_outputs())

    def run(self, output: str, inputs: Mapping[str, NDArray[np.int64]]) -> Vector:
        """One output, of those inputs that the graph has."""
        return self._session.run([output], {name: inputs[name] for name in self.inputs})[0]
