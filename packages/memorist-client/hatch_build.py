"""Pack the part of `src/memorist` that the client needs: the files that the wheel of `memorist` leaves out.

The list is in the `pyproject.toml` of the repository. An sdist holds the files themselves, so that a wheel of it needs
no list.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

REPOSITORY = Path(__file__).parents[2]


class ClientFiles(BuildHookInterface):
    """Adds the files to an sdist and to a wheel; an editable installation finds them by `dev-mode-dirs`."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add them, unless this is an editable installation, or a wheel from an sdist."""
        if version == "editable" or Path(self.root, "src").is_dir():
            return
        below = REPOSITORY / "src" if self.target_name == "wheel" else REPOSITORY
        build_data["force_include"] |= {str(file): str(file.relative_to(below)) for file in files_of_client()}


def files_of_client() -> Iterator[Path]:
    """The files that are listed, and those in the folders that are."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    for name in project["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]:
        place = Path(f"{REPOSITORY}{name}")
        yield from (file for file in (place, *place.rglob("*")) if file.is_file() and file.suffix != ".pyc")
