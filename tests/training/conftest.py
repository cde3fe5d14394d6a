"""The scripts in `training/` import one another by their bare names."""

from __future__ import annotations

import sys
from pathlib import Path

TRAINING = Path(__file__).parents[2] / "training"

sys.path.append(str(TRAINING))
