"""The models of the package `memorist_models`, which has one folder a model."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from memorist.errors import InvalidInput, ModelUnavailable
from memorist.models.folder import Kind, kind_of


def packaged(name: str, kind: Kind) -> Path:
    """The folder of a packaged model of this kind."""
    folders = packages(kind)
    if not folders:
        raise ModelUnavailable("No local models are installed", remedy="Install the package memorist-models.")
    if name not in folders:
        raise InvalidInput(f"There is no local model {name!r}", remedy=f"Choose one of {', '.join(sorted(folders))}.")
    return folders[name]


def packages(kind: Kind) -> dict[str, Path]:
    """The folders of all packaged models of this kind, by name."""
    package = find_spec("memorist_models")
    roots = (package.submodule_search_locations or ()) if package is not None else ()
    folders = (file.parent for root in roots for file in Path(root).glob("*/model.onnx"))
    return {folder.name: folder for folder in folders if kind_of(folder) == kind}
