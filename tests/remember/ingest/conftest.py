from __future__ import annotations

from tests.surfaces.conftest import bare, cli, db

__all__ = ["bare", "cli", "db"]
