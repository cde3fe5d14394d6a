"""`memorist.stores` as the author of another store sees it."""

from __future__ import annotations

import subprocess
import sys

import memorist.stores


def test_every_public_name_can_be_imported() -> None:
    assert sorted(memorist.stores.__all__) == memorist.stores.__all__
    assert all(getattr(memorist.stores, name) is not None for name in memorist.stores.__all__)


def test_importing_the_module_loads_no_vendor() -> None:
    code = "import sys, memorist.stores; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "apsw", "psycopg", "psycopg_pool", "pgvector"} & set(done.stdout.split())


def test_an_unknown_name_is_no_attribute() -> None:
    assert not hasattr(memorist.stores, "OracleStore")
