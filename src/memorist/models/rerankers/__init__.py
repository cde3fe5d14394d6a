"""Rerankers: models that read a question and a text together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from memorist.errors import InvalidInput
from memorist.models.folder import packaged
from memorist.models.rerankers.http import PROVIDERS, HttpReranker
from memorist.models.settings import Options, checked, split
from memorist.ports import Reranker

__all__ = ["build", "packaged_for"]

PACKAGED = "memorist-rerank-1"
"""The model that recipes use which want one where none is configured."""
PLAIN = "all-minilm-l6-v2"
"""The model whose words `local` compares: ours gives no states of single words."""


def _http(name: str, model: str, options: Options | None) -> Reranker:
    given: dict[str, Any] = checked(options, ("url", "key_env", "timeout"), f"The reranker {name}")
    return HttpReranker(name, model or None, **given)


def _local(model: str, options: Options | None) -> Reranker:
    checked(options, (), "The reranker local")
    from memorist.models.embedders.local import OnnxEmbedder
    from memorist.models.rerankers.local import MaxSimReranker
    from memorist.text.words import NOT_LATIN

    if model:
        from memorist.models.rerankers.local import CrossReranker

        return CrossReranker.from_folder(packaged(model, "reranker"), unread=NOT_LATIN)
    return MaxSimReranker(OnnxEmbedder.from_folder(packaged(PLAIN, "embedder")), unread=NOT_LATIN)


_BUILDERS: Mapping[str, Callable[[str, Options | None], Reranker]] = {
    **{name: partial(_http, name) for name in PROVIDERS},
    "local": _local,
}


def build(setting: str | Reranker | None, *, options: Options | None = None) -> Reranker | None:
    """The reranker that a setting names: `local`, `local:NAME`, `SERVICE` or `SERVICE:MODEL`.

    None for `none`, and for `auto`, which leaves the choice to the recipe; an object passes through.
    """
    if setting is None or not isinstance(setting, str):
        return setting
    name, model = split(setting)
    if name in ("none", "auto"):
        return None
    if name not in _BUILDERS:
        raise InvalidInput(
            f"There is no reranker {setting!r}",
            remedy=f"Choose auto, none or one of {', '.join(_BUILDERS)}; jina:MODEL names a model.",
        )
    return _BUILDERS[name](model, options)


def packaged_for(setting: str | Reranker | None) -> Reranker | None:
    """The packaged reranker, one a process and loaded at its first use, where the recipe is left the choice."""
    return _packaged() if setting == "auto" else None


@cache
def _packaged() -> Reranker:
    return _local(PACKAGED, None)
