"""The local models of Memorist: one folder a model, found by name."""

from __future__ import annotations

from pathlib import Path

DEFAULT = "memorist-embed-1"
PLAIN = "all-minilm-l6-v2"
"""The model that ours were made from, untuned."""

_ROOT = Path(__file__).parent


def names() -> list[str]:
    """The models in this package."""
    return sorted(manifest.parent.name for manifest in _ROOT.glob("*/model.json"))


def path(name: str = DEFAULT) -> Path:
    """The folder of a model: `model.onnx`, `tokenizer.json` and the manifest `model.json`."""
    if name not in names():
        raise KeyError(f"no model {name!r}; there is {', '.join(names())}")
    return _ROOT / name
