"""A personal journal with time travel: what is true, what was true, and what was known when.

python examples/journal.py
"""

from __future__ import annotations

import sys

import memorist

ENTRIES = [
    ("2023-09-01", "I started as a nurse at St. Olav."),
    ("2023-11-12", "Ran my first half marathon with Ida: two hours and four minutes."),
    ("2024-02-03", "Moved to Bergen. I miss the fjord view from the old flat already."),
    ("2024-05-20", "I work at the harbour clinic now, days only, at last."),
    ("2024-06-02", "Ida and I want to try the full marathon in September."),
]


def main() -> None:
    with memorist.open(sys.argv[1] if len(sys.argv) > 1 else "journal.db") as journal:
        for day, text in ENTRIES:
            journal.remember(text, at=day, speaker="Kari")
        journal.relate("Kari", "works_at", "St. Olav", valid_from="2023-09-01")
        journal.relate("Kari", "works_at", "the harbour clinic", valid_from="2024-05-20")

        question = "Where does Kari work?"
        print("today:        ", journal.recall(question, kinds=["semantic"]).items[0].memory.text)
        print("last December:", journal.recall(question, kinds=["semantic"], as_of="2023-12-01").items[0].memory.text)

        print("\nWhat happened in autumn 2023?")
        for item in journal.recall("What did I do in autumn?", since="2023-09-01", until="2023-12-01").items:
            print(" ", item.memory.times.valid_from.date(), item.memory.text)

        print("\nHow do you know?")
        found = journal.recall("How fast was the half marathon?")
        print(journal.explain(found, found.items[0].memory.id))


if __name__ == "__main__":
    main()
