"""Notes of a coding agent: what failed, what fixed it, and what this project expects.

    python examples/coding_notes.py

The agent logs its steps in a session. At its end Memorist derives procedures from them, without a language model, and
the next run asks before it tries. Preferences are pinned, so they head every context.
"""

from __future__ import annotations

import sys

import memorist

PROJECT = "project:shop"


def first_run(memory: memorist.Engine) -> None:
    """The agent fixes a failing build and learns how."""
    memory.remember("Use pnpm in this repository, never npm.", scope=PROJECT, tier="pinned")
    with memory.session(goal="Make the tests of the shop pass.", scope=PROJECT) as session:
        session.step("pnpm test fails with HTTP 404 in the API client.", "Now find out what the client expects.")
        session.step("The API client is older than openapi.json.", "Next, generate the API client.")
        session.step("The script codegen writes the API client.", "run pnpm codegen")
        session.step("pnpm test passes.", reward=1.0)


def second_run(memory: memorist.Engine) -> str:
    """Weeks later, in another process, the client is out of date again."""
    found = memory.recall("How do I generate the API client?", scope=PROJECT)
    return found.context


def main() -> None:
    with memorist.open(sys.argv[1] if len(sys.argv) > 1 else "coding.db") as memory:
        first_run(memory)
        print(second_run(memory))


if __name__ == "__main__":
    main()
