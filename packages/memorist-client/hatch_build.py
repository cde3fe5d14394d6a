"""Pack the part of `src/memorist` that the client needs: the files that the wheel of `memorist` leaves out.

The list is in the `pyproject.toml` of the repository. An sdist holds the files themselves, so that a wheel of it needs
no list.
"""

import tomllib
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
        wheel = self.target_name == "wheel"
        build_data["force_include"] |= {
            str(REPOSITORY / name): name.removeprefix("src/") if wheel else name for name in files_of_client()
        }


def files_of_client() -> list[str]:
    """The files and folders, relative to the repository."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    return [name.removeprefix("/") for name in project["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]]
