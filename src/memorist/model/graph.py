"""The graph of entities that memories span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class FactGraph:
    """Entities as nodes, an edge for each pair that a memory relates; immutable, so what is derived can be cached.

    Edge i of memory `memories[i]` joins the nodes `source[i]` and `target[i]`.
    """

    nodes: Mapping[str, int]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    memories: Sequence[str]
