"""Move from mem0: read its memories, and check that questions find them.

    python examples/migrate_from_mem0.py EXPORT.json agent.db

EXPORT.json is what mem0's `get_all` returns, saved as JSON. Running this twice adds nothing. The reader comes
with `memorist[import]`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import memorist


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("export", type=Path)
    options.add_argument("db")
    given = options.parse_args()
    with memorist.open(given.db) as memory:
        report = memory.ingest(given.export, format="mem0")
        print(f"{report.kept} kept, {report.known} known already, {len(report.skipped)} skipped")
        for skip in report.skipped:
            print(f"  {skip.where}: {skip.reason}")

        data = json.loads(given.export.read_text(encoding="utf-8"))
        missing = 0
        for known in data["results"] if isinstance(data, dict) else data:
            found = memory.recall(known["memory"], limit=5)
            missing += known["memory"] not in [item.memory.text for item in found.items]
        print(f"{missing} of them are not among the first five for their own text")


if __name__ == "__main__":
    main()
