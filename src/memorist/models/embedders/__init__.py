"""Embedders: models that turn texts into vectors."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from memorist.errors import InvalidInput
from memorist.models.folder import DEFAULT_SET, of_set, packaged_folder, packages
from memorist.models.settings import Options, check_options, split
from memorist.ports import Embedder

__all__ = ["build", "packaged_embedder"]

_REMOTE_OPTIONS = ("url", "key_env", "dim", "timeout", "batch")


def build(
    setting: str | Embedder | None, *, options: Options | None = None, models: str = DEFAULT_SET
) -> Embedder | None:
    """The embedder that a setting names, with a query cache in front of it.

    `local`, `local:NAME`, `onnx:FOLDER`, `ollama:MODEL`, or `openai:MODEL` or another preset in `vendors.PRESETS`.
    None for `none`. An object is returned unchanged. `options` are those of the table `[embedder_options]`; `models` is
    the set of local models that `local` belongs to.
    """
    if setting is None or not isinstance(setting, str):
        return setting
    name, model = split(setting)
    if name == "none":
        return None
    from memorist.models.embedders.cache import CachedEmbedder

    if name == "local" or (name == "onnx" and model):
        check_options(options, (), f"The embedder {name}")
        return CachedEmbedder(_onnx(_folder(name, model, models)))
    return CachedEmbedder(_remote(setting, name, model, options))


def packaged_embedder(generation: str) -> Embedder | None:
    """The packaged model that makes vectors of this generation, if there is one; loaded once for all spaces."""
    models = (_shared(folder) for folder in packages("embedder").values())
    return next((model for model in models if model.generation == generation), None)


@cache
def _shared(folder: Path) -> Embedder:
    from memorist.models.embedders.cache import CachedEmbedder

    return CachedEmbedder(_onnx(folder))


def _folder(name: str, model: str, models: str) -> Path:
    if name == "onnx":
        return Path(model).expanduser()
    return packaged_folder(model, "embedder") if model else of_set(models, "embedder")


def _onnx(folder: Path) -> Embedder:
    from memorist.models.embedders.local import OnnxEmbedder

    return OnnxEmbedder.from_folder(folder)


def _remote(setting: str, name: str, model: str, options: Options | None) -> Embedder:
    from memorist.models.embedders.vendors import PRESETS, OllamaEmbedder, OpenAIEmbedder

    if name != "ollama" and name not in PRESETS:
        from memorist.text.secrets import mask_secrets

        choices = ["local", "local:NAME", "onnx:FOLDER", "ollama:MODEL", *(f"{preset}:MODEL" for preset in PRESETS)]
        problem = f"There is no embedder {mask_secrets(setting)!r}"
        raise InvalidInput(problem, remedy=f"Choose none or one of {', '.join(choices)}.")
    given: dict[str, Any] = check_options(options, _REMOTE_OPTIONS, f"The embedder {name}")
    if name == "ollama":
        return OllamaEmbedder(model, **given) if model else OllamaEmbedder(**given)
    preset = PRESETS[name]
    if not model:
        raise InvalidInput(f"The embedder {name} needs a model", remedy=f"Name one, as in {name}:{preset.example}.")
    return OpenAIEmbedder(model, preset, **given)
