"""Is my recipe better than the default, on my own questions?

    python examples/evaluate_recipe.py

Writes a small dataset (what was said, what is asked, what should be found) and a recipe, and lets `memorist bench`
compare the recipe with the default, question by question. Replace the texts by your own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

SAID = {
    "d1": "Ann: I moved to Rome in May.",
    "d2": "Ann: My sister Bea is a potter.",
    "d3": "Ann: The flat in Rome has a balcony with lemon trees.",
    "d4": "Bea: I sold twelve bowls at the market in Lucca.",
    "d5": "Ann: The rent of the flat is 900 euros.",
}
ASKED = {
    "q1": ("Where does Ann live?", "d1"),
    "q2": ("Who makes ceramics?", "d2"),
    "q3": ("Which fruit does she have at home?", "d3"),
    "q4": ("How much does the flat cost?", "d5"),
}
RECIPE = """
[recipes.words-only]
stages = [
  { stage = "search", signals = [{ signal = "keyword" }, { signal = "trigram" }], limit = 50 },
  { stage = "rrf", k = 60, keep = 30 },
  { stage = "limit" },
  { stage = "assemble", max_tokens = 1000 },
]
"""


def write_dataset(folder: Path) -> None:
    """The three files of the BEIR layout."""
    folder.mkdir()
    said = (json.dumps({"_id": id, "text": text}) for id, text in SAID.items())
    asked = (json.dumps({"_id": id, "text": text}) for id, (text, _) in ASKED.items())
    (folder / "corpus.jsonl").write_text("\n".join(said), encoding="utf-8")
    (folder / "queries.jsonl").write_text("\n".join(asked), encoding="utf-8")
    (folder / "qrels.tsv").write_text("".join(f"{id}\t{found}\t1\n" for id, (_, found) in ASKED.items()))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_dataset(folder / "mine")
        (folder / "memorist.toml").write_text(RECIPE, encoding="utf-8")
        options = ["--recipe", "memorist", "--recipe", "words-only", "--html", str(folder / "report.html")]
        command = [sys.executable, "-m", "memorist", "--config", str(folder / "memorist.toml"), "bench"]
        subprocess.run([*command, str(folder / "mine"), *options], check=True)


if __name__ == "__main__":
    main()
