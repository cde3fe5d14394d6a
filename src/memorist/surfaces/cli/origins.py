"""Where each setting comes from, for `doctor`."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from memorist.config import SETTINGS, Setting, find_file
from memorist.surfaces.cli.target import Target

CREDENTIALS = re.compile(r"(?<=://)[^/@]*(?=@)")


@dataclass(frozen=True, slots=True)
class Origin:
    """The value of a setting and where it comes from."""

    name: str
    value: str | None
    origin: str


def settings_file(target: Target) -> Path | None:
    """The settings file in force."""
    return Path(target.config) if target.config is not None else find_file()


def origins(target: Target) -> list[Origin]:
    """Every setting in force."""
    settings, file = target.settings(), settings_file(target)
    written = tomllib.loads(file.read_text(encoding="utf-8")) if file else {}
    return [
        Origin(one.name, _shown(getattr(settings, one.name)), _origin(one, target, file, one.name in written))
        for one in SETTINGS
    ]


def _origin(setting: Setting, target: Target, file: Path | None, written: bool) -> str:
    """The order of `memorist.config`, from the strongest."""
    if getattr(target, setting.name, None) is not None:
        return f"--{setting.name}"
    if os.environ.get(setting.variable):
        return setting.variable
    return str(file) if written else "default"


def _shown(value: str | int | None) -> str | None:
    return None if value is None else CREDENTIALS.sub("…", str(value))
