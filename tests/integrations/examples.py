"""The examples, run as a user runs them."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.integrations.upstream import ROOT


def output_of(adapter: str) -> str:
    """What the example of an adapter prints; it runs without a network, an API key or a warning."""
    script = ROOT / "examples" / "integrations" / f"with_{adapter}.py"
    env = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    ran = subprocess.run(
        [sys.executable, str(script)], env=env, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
