"""Rerankers: models that score a question and a text together."""

from __future__ import annotations

from functools import cache
from typing import Any

from memorist.errors import InvalidInput
from memorist.models.folder import packaged
from memorist.models.settings import Options, checked, split
from memorist.ports import Reranker
from memorist.text.secrets import masked

__all__ = ["build", "packaged_for"]

PACKAGED = "memorist-rerank-1"
"""The model for recipes that rerank when no reranker is configured."""
LATE_INTERACTION = "all-minilm-l6-v2"
"""The model whose token vectors `local` compares; our own embedder does not output any."""


def build(setting: str | Reranker | None, *, options: Options | None = None) -> Reranker | None:
    """The reranker that a setting names: `local`, `local:NAME`, `SERVICE` or `SERVICE:MODEL`.

    None for `none`, and for `auto`, which leaves the choice to the recipe. An object is returned unchanged.
    """
    if setting is None or not isinstance(setting, str):
        return setting
    name, model = split(setting)
    if name in ("none", "auto"):
        return None
    if name == "local":
        checked(options, (), "The reranker local")
        return _local(model)
    from memorist.models.rerankers.http import PROVIDERS, HttpReranker

    if name not in PROVIDERS:
        raise InvalidInput(
            f"There is no reranker {masked(setting)!r}",
            remedy=f"Choose auto, none or one of {', '.join((*PROVIDERS, 'local'))}; jina:MODEL names a model.",
        )
    given: dict[str, Any] = checked(options, ("url", "key_env", "timeout"), f"The reranker {name}")
    return HttpReranker(name, model or None, **given)


def packaged_for(setting: str | Reranker | None) -> Reranker | None:
    """The packaged reranker if the setting is `auto`: one per process, loaded on first use."""
    return _packaged() if setting == "auto" else None


@cache
def _packaged() -> Reranker:
    return _local(PACKAGED)


def _local(model: str) -> Reranker:
    from memorist.models.embedders.local import OnnxEmbedder
    from memorist.models.rerankers.local import CrossReranker, MaxSimReranker
    from memorist.text.words import NOT_LATIN

    if model:
        return CrossReranker.from_folder(packaged(model, "reranker"), unread=NOT_LATIN)
    return MaxSimReranker(OnnxEmbedder.from_folder(packaged(LATE_INTERACTION, "embedder")), unread=NOT_LATIN)
