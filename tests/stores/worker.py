"""A process of its own for tests: writes, follows, forks or opens a store, and reports line by line.

worker.py write PATH PREFIX COUNT BATCH    `ok N` after each batch that was acknowledged
worker.py follow PATH                      for each word on stdin: how many memories have it
worker.py open PATH [SPACE]                the space's name, or the name of the error
worker.py fork PATH                        what a child sees of its parent's handle, and of its own
worker.py read-only PATH                   what can be read, then the name of the error of a write
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

from memorist.errors import Error
from memorist.model import Filter
from memorist.ports import Batch
from memorist.stores.sqlite import SqliteStore
from memorist.testing import FakeEmbedder, memory

EMBEDDER = FakeEmbedder()
EVERYTHING = Filter()
NOBODY = 65534


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def batch(prefix: str, start: int, count: int) -> Batch:
    """Memories `prefix-start` and on, each with a vector."""
    memories = [memory(f"lantern {prefix} number {n}", id=f"{prefix}-{n}") for n in range(start, start + count)]
    rows = EMBEDDER.embed([other.text for other in memories], purpose="memory")
    return Batch(memories, {one.id: {"text": row} for one, row in zip(memories, rows, strict=True)})


def write(path: str, prefix: str, count: str, size: str) -> None:
    store = SqliteStore.open(path)
    store.adopt(EMBEDDER.generation, EMBEDDER.dim)
    for start in range(0, int(count), int(size)):
        store.put(batch(prefix, start, int(size)))
        say("ok", start + int(size))
    store.close()


def follow(path: str) -> None:
    store = SqliteStore.open(path)
    say("ready")
    for word in sys.stdin:
        say(len(store.view().search_text(word.strip(), EVERYTHING, 1_000_000)))
    store.close()


def open_(path: str, space: str | None = None) -> None:
    say("ready")
    sys.stdin.readline()
    try:
        store = SqliteStore.open(path, space=space)
    except Error as error:
        say(type(error).__name__)
        return
    say(store.space)
    store.close()


def fork(path: str) -> None:
    store = SqliteStore.open(path)
    store.put(Batch([memory("a lamp", id="lamp")]))
    child = os.fork()
    if child == 0:
        for verb in (store.view, store.stats, lambda: store.put(Batch([memory("a book")]))):
            try:
                verb()
            except Error as error:
                say(type(error).__name__, error.remedy)
        store.close()
        say(len(SqliteStore.open(path).get(["lamp"])))
        os._exit(0)
    os.waitpid(child, 0)
    store.put(Batch([memory("a door", id="door")]))
    say("parent", len(store.get(["lamp", "door"])), store.integrity())
    store.close()


def read_only(path: str) -> None:
    import_module("memorist.stores.index.index")  # from a Python that only root may read
    if os.geteuid() == 0:
        os.setuid(NOBODY)  # root may write what is read-only
    try:
        store = SqliteStore.open(path)
        say(*store.get(["lamp"]), store.view().size)
        store.put(Batch([memory("a book")]))
    except Error as error:
        say(type(error).__name__, error.remedy)


COMMANDS = {"write": write, "follow": follow, "open": open_, "fork": fork, "read-only": read_only}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
