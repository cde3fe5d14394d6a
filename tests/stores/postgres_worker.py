"""A process of its own for tests: remembers, supersedes and forgets in a space that others use, and tells of each round
whether it was kept.

postgres_worker.py URL SPACE NAME SECONDS    begins when it hears a line
"""

from __future__ import annotations

import sys
import time
from itertools import count

import memorist
from memorist.engine.engine import Engine
from memorist.errors import StoreError
from memorist.ports import Batch, Reader
from memorist.testing import memory

CITIES = ("Oslo", "Bergen", "Rome", "Lisbon", "Madrid", "Berlin", "Paris", "Vienna")
KEYS = 4
COUNTER = "counter"


def raised(reader: Reader) -> Batch:
    """A plan that counts: what was read is what is written to."""
    known = reader.get([COUNTER]).get(COUNTER)
    return Batch([memory(str(1 + (int(known.text) if known else 0)), id=COUNTER)])


def one_round(engine: Engine, name: str, number: int) -> None:
    city = CITIES[(number + sum(map(ord, name))) % len(CITIES)]
    engine.remember(f"I moved to {city}.", speaker="Alice", key=f"{name}/{number}")
    engine.remember(f"note {number} of {name}", key=f"shared/{number % KEYS}")
    passing = engine.remember(f"a passing remark, {number} of {name}")
    engine.forget(passing.id)
    engine.store.update(raised)


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main(url: str, space: str, name: str, seconds: str) -> None:
    with memorist.open(url, space=space, embedder="none", background=False) as engine:
        say("ready")
        sys.stdin.readline()
        end = time.monotonic() + float(seconds)
        for number in count():
            try:
                one_round(engine, name, number)
            except StoreError as error:
                say("failed", number, error)
            else:
                say("kept", number)
            if time.monotonic() > end:
                return


if __name__ == "__main__":
    main(*sys.argv[1:])
