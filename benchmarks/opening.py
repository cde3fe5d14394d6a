"""Opening a large memory, run by hand: `python benchmarks/opening.py [--sizes 10000 100000] [--folder F]`.

For each size, without and with the index file: opening, the first recall, a warm recall (the median of 20), and the
private memory of the process after them; then the size of the file on the disk and the time to write it. All times are
processor time, with all threads.
Each measurement has a process of its own. Recalls run the `memorist` recipe without its models, whose loading would be
measured too: the vector of the question is given. "Private" is what no other process can share: Private_Dirty in
/proc/self/smaps_rollup, and in brackets what an empty memory takes.

The rows are written straight into the tables, because a million through the engine take an hour. Texts are 20 words
drawn by Zipf's law from as many words as Heaps' law gives, vectors are random around topics, and every third memory
mentions two of the entities.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from common import memory_mb, options, print_head, print_row, processor_time

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memorist import Engine
    from memorist.stores.sql.database import Database

SIZES = (10_000, 100_000)
DIM, PAGE, WORDS = 384, 5_000, 20
RECALLS = 20
COLUMNS = ("memories", "index file", "open", "first recall", "warm", "first − warm", "private MB", "size", "written in")


def main() -> None:
    arguments = options(__doc__)
    arguments.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    arguments.add_argument("--folder", type=Path, help="keeps the generated memories for the next run")
    arguments.add_argument("--one", metavar="FILE", help=argparse.SUPPRESS)
    arguments.add_argument("--without", action="store_true", help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.one:
        print(json.dumps(measure(Path(given.one), with_file=not given.without)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        print_head(*COLUMNS)
        for size in given.sizes:
            report(folder, size)


def report(folder: Path, size: int) -> None:
    empty, file = folder / "empty.db", folder / f"{size}.db"
    for path, count in ((empty, 1), (file, size)):
        if not path.exists():
            generate(path, count)
    base = run(empty, "--without")["private"]
    index = file.with_name(file.name + "-index")
    index.unlink(missing_ok=True)
    without = run(file, "--without")
    row(size, "no", without, base)
    written = run(file)["cpu"] - without["cpu"]  # closing waits for the file
    on_disk = index.stat().st_blocks * 512 / 2**20
    row(size, "yes", run(file), base, f"{on_disk:,.0f} MB", f"{written:.1f} s")


def row(size: int, with_file: str, found: dict[str, float], base: float, *more: str) -> None:
    times = [found["open"], found["first"], found["warm"], found["first"] - found["warm"]]
    shown = [f"{moment:,.3f} s" for moment in times]
    print_row(f"{size:,}", with_file, *shown, f"{found['private']:,.0f} ({base:,.0f})", *(more or ("", "")))


def run(file: Path, *options: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", str(file), *options]
    return json.loads(subprocess.check_output(command).splitlines()[-1])


def measure(file: Path, *, with_file: bool) -> dict[str, float]:
    import numpy as np

    import memorist
    from memorist.stores import index_sync

    if not with_file:
        index_sync.FEWEST_ROWS = 2**60
    random = np.random.default_rng(3)
    began = time.process_time()
    engine = memorist.open(file, embedder=Given(random), reranker="none", background=False)
    opened = time.process_time() - began
    vocabulary = [f"{one} {two}" for one, two in zip(made_words(2000), reversed(made_words(2000)), strict=True)]
    first = timed(engine, vocabulary, random)
    warm = median(timed(engine, vocabulary, random) for _ in range(RECALLS))
    private = memory_mb("Private_Dirty")
    engine.close()
    return {"open": opened, "first": first, "warm": warm, "private": private, "cpu": time.process_time()}


def timed(engine: Engine, vocabulary: list[str], random: np.random.Generator) -> float:
    question = "What about " + " ".join(random.choice(vocabulary, 3)) + "?"
    return processor_time(lambda: engine.recall(question))


class Given:
    """An embedder that knows no texts: every vector is random, and takes no time."""

    generation, dim = "given", DIM

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random

    def embed(self, texts: Sequence[str], *, purpose: str, progress: object = None) -> NDArray[np.float32]:
        import numpy as np

        return self._random.standard_normal((len(texts), DIM)).astype(np.float32)


def made_words(count: int) -> list[str]:
    """Pronounceable words, each once, short ones first."""
    from itertools import islice, product

    syllables = [a + b for a, b in product("bdfgklmnprstvz", "aeiou")]
    longer = ("".join(parts) for size in range(2, 5) for parts in product(syllables, repeat=size))
    return list(islice(longer, count))


def generate(path: Path, size: int) -> None:
    """Write a file with memories, vectors, entities and links."""
    import numpy as np

    from memorist.stores.sqlite import SqliteStore
    from memorist.stores.sqlite.statements import SQLITE

    random = np.random.default_rng(7)
    store = SqliteStore.open(path)
    store.adopt("given:turns-1", DIM)
    vocabulary = np.array(made_words(int(30 * size**0.6) + 100))
    chances = 1 / np.arange(1, len(vocabulary) + 1)
    chances /= chances.sum()
    topics = random.standard_normal((max(size // 50, 1), DIM)).astype(np.float32)
    names = [f"{word.title()} {other.title()}" for word, other in zip(vocabulary, vocabulary[::-1], strict=True)]
    people = names[: max(size // 20, 2)]
    connections = store._connections  # pyright: ignore[reportPrivateUsage]  # a million by `put` take an hour
    with connections.writing() as db:
        (generation,) = next(db.execute("SELECT id FROM generations"))
        db.execute_many(
            SQLITE.write.insert_entity, [{"id": person, "name": person, "kind": "person"} for person in people]
        )
        db.execute_many(
            SQLITE.write.insert_alias,
            [{"entity": person, "place": 0, "alias": person, "folded": person.lower()} for person in people],
        )
    for start in range(0, size, PAGE):
        count = min(PAGE, size - start)
        texts = [" ".join(row) for row in random.choice(vocabulary, (count, WORDS), p=chances)]
        vectors = topics[random.integers(0, len(topics), count)] + random.standard_normal((count, DIM), np.float32)
        vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("<f2")
        with connections.writing() as db:
            write_page(db, start, texts, vectors, generation, people, random)
    store.close()


def write_page(
    db: Database,
    start: int,
    texts: Sequence[str],
    vectors: NDArray[Any],
    generation: int,
    people: Sequence[str],
    random: np.random.Generator,
) -> None:
    from memorist.ports.models import SystemClock
    from memorist.remember.record import record
    from memorist.stores.encoding import encode_memory
    from memorist.stores.rows import text_fingerprint
    from memorist.stores.sqlite.statements import SQLITE, pack

    seq, now = start // PAGE + 1, SystemClock().now()
    usual = encode_memory(record("a text", now), {}, pack).columns
    memories, mentions = list[dict[str, Any]](), list[dict[str, Any]]()
    for row, text in enumerate(texts, start + 1):
        id = f"{row * 2654435761 % 2**64:016x}{row:016x}"
        whole = f"{row} {text}"
        own = {
            "id": id,
            "text": whole,
            "words": f"en {whole}",
            "said": text_fingerprint(whole),
            "position": row,
            "session": "s",
        }
        memories.append({**usual, **own, "row": row, "seq": seq, "scope": f"topic{row % 40}"})
        if row % 3 == 0:
            ends = random.choice(len(people), 2)
            mentions += [{"source": id, "relation": "mentions", "target": people[end], "weight": 1.0} for end in ends]
    db.execute_many(SQLITE.write.insert_memory, memories)
    data = [
        {"row": start + n + 1, "generation": generation, "view": "text", "data": v.tobytes()}
        for n, v in enumerate(vectors)
    ]
    db.execute_many(SQLITE.write.insert_vector, data)
    unique = {(mention["source"], mention["target"]): mention for mention in mentions}
    db.execute_many(SQLITE.write.put_link, list(unique.values()))
    db.execute("UPDATE space SET seq = :seq", {"seq": seq})


if __name__ == "__main__":
    main()
