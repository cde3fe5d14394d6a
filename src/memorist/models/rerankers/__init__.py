"""Rerankers: models that score a question and a text together."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from memorist.errors import InvalidInput
from memorist.models.folder import DEFAULT_SET, of_set, packaged_folder
from memorist.models.settings import Options, check_options, split
from memorist.ports import Reranker

__all__ = ["build"]


def build(
    setting: str | Reranker | None, *, options: Options | None = None, models: str = DEFAULT_SET
) -> Reranker | None:
    """The reranker that a setting names: `auto`, `local`, `local:NAME`, `SERVICE`, `SERVICE:MODEL` or `none`.

    `auto` and `local` are the cross-encoder of the set `models`. An object is returned unchanged. `options` are those
    of the table `[reranker_options]`.
    """
    if setting is None or not isinstance(setting, str):
        return setting
    name, model = split(setting)
    if name == "none":
        return None
    if name in ("auto", "local"):
        check_options(options, (), f"The reranker {name}")
        return _local(packaged_folder(model, "reranker") if model else of_set(models, "reranker"))
    from memorist.models.rerankers.http import PROVIDERS, HttpReranker

    if name not in PROVIDERS:
        from memorist.text.secrets import mask_secrets

        raise InvalidInput(
            f"There is no reranker {mask_secrets(setting)!r}",
            remedy=f"Choose auto, none or one of {', '.join((*PROVIDERS, 'local'))}; jina:MODEL names a model.",
        )
    given: dict[str, Any] = check_options(options, ("url", "key_env", "timeout"), f"The reranker {name}")
    return HttpReranker(name, model or None, **given)


@cache
def _local(folder: Path) -> Reranker:
    """A packaged cross-encoder: one per process, loaded on first use."""
    from memorist.models.rerankers.local import CrossReranker
    from memorist.text.words import NOT_ENGLISH

    return CrossReranker.from_folder(folder, unread=NOT_ENGLISH)
