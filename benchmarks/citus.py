"""A real Citus cluster, run by hand: `python benchmarks/citus.py --bin FOLDER [conform] [count] [move] [kill]`.

Starts a coordinator and two workers on this machine (`citus_cluster.py`), distributes a database, and prints one table.
conform: the conformance suite of the store. count: the queries of every operation, to one shard and to several. move:
every shard moves to the other worker, and one space to a shard of its own, while spaces are written. kill: a worker
dies and comes back while spaces on both are written. Without a part, all of them. `serve` only starts the cluster and
waits, so that `MEMORIST_TEST_POSTGRES=URL pytest …` can run on it. Fails if anything acknowledged is lost.

FOLDER is the `bin` folder of a PostgreSQL that has Citus and pgvector; as root, the servers run as `postgres`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4
from xml.etree import ElementTree

from citus_cluster import Cluster, Node, cluster, run
from common import options, print_head, print_row

import memorist
from memorist.engine.open import open_database
from memorist.errors import Error

ROOT = Path(__file__).parents[1]
SPACES = tuple(f"space-{number}" for number in range(8))
SUITE = "tests/stores/test_postgres_conformance.py"
OUTAGE = 20.0
"""Seconds that a worker is down at least: twice as long as a write is tried again."""
PLACE = """
    SELECT nodeport FROM citus_shards WHERE table_name = 'memorist.spaces'::regclass
    AND shardid = get_shard_id_for_distribution_column('memorist.spaces', %s::text)
"""
SHARDS = "SELECT shardid, nodeport FROM citus_shards WHERE table_name = 'memorist.spaces'::regclass ORDER BY shardid"
ISOLATE = "SELECT isolate_tenant_to_new_shard('memorist.spaces', %s::text, 'CASCADE', 'block_writes')"
"""Without the last argument, it copies while others write, and hung in Citus 13.2.2 when they did."""
Rows = list[tuple[str, str]]


def main() -> None:
    arguments = options(__doc__)
    arguments.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}, or serve")
    arguments.add_argument("--bin", type=Path, required=True, help="where `postgres` and `pg_ctl` are")
    given = arguments.parse_args()
    if not {"serve", *PARTS}.issuperset(given.parts):
        arguments.error(f"a part is one of {', '.join(PARTS)}, or serve")
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory(prefix="memorist-citus-") as folder:
        Path(folder).chmod(0o755)  # the servers may run as another user
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"  # index files
        with cluster(given.bin, Path(folder) / "cluster") as made:
            open_database(made.url).distribute()
            if given.parts == ["serve"]:
                wait_for_a_key(made)
                return
            rows = [row for part in given.parts or PARTS for row in PARTS[part](made)]
    print()
    print_head("measured", "result")
    for row in rows:
        print_row(*row)


def wait_for_a_key(made: Cluster) -> None:
    for node in made.nodes:
        print(f"{node.name:<12} {node.url}")
    input("Enter stops the cluster. ")


def conform(made: Cluster) -> Rows:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "--tb=short", f"--junitxml={report}", SUITE]
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, "MEMORIST_TEST_POSTGRES": made.url}, check=False)
        suite = next(ElementTree.parse(report).iter("testsuite"))
    ran, failed = int(suite.get("tests", 0)), int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    assert done.returncode == 0, "the suite failed; see above"
    return [("conformance tests passed, failed", f"{ran - failed}, {failed}")]


def count(made: Cluster) -> Rows:
    from tests.stores.test_citus import shards_asked

    with tempfile.TemporaryDirectory() as folder:
        found = shards_asked(made.url, Path(folder))
    for name, (single, multi) in found.items():
        print(f"  {name:<20} {single:>6} queries to one shard, {multi} to several")
    single, multi = (sum(numbers) for numbers in zip(*found.values(), strict=True))
    assert multi == 0, "an operation on one space asked several shards"
    return [(f"queries of {len(found)} operations to one shard, to several", f"{single:,}, {multi}")]


class Writers:
    """A thread per space that writes without a pause and notes what came of it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.kept: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
        self.refused: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
        self.slowest = 0.0
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(space,)) for space in SPACES]

    def _write(self, space: str) -> None:
        with memorist.open(self.url, space=space, embedder="none", reranker="none", background=False) as engine:
            while not self._stop.is_set():
                started = time.monotonic()
                try:
                    kept = engine.remember(f"{uuid4().hex} was noted in {space}.")
                    engine.recall(f"What was noted in {space}?", limit=3)
                except Error as error:
                    self.refused[space].append((time.monotonic(), str(error)))
                else:
                    self.kept[space].append((time.monotonic(), kept.id))
                    self.slowest = max(self.slowest, time.monotonic() - started)

    def start(self) -> None:
        for thread in self._threads:
            thread.start()
        self.until(lambda: len(self.kept) == len(SPACES))

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def until(self, reached: Callable[[], bool], seconds: float = 240.0) -> float:
        """Wait until something is so; returns how long that took."""
        started = time.monotonic()
        while not reached():
            assert time.monotonic() < started + seconds, "it never came to that"
            time.sleep(0.05)
        return time.monotonic() - started

    def since(self, moment: float, space: str) -> int:
        """How many writes to a space were acknowledged since a moment."""
        return sum(at >= moment for at, _ in self.kept[space])

    def lost(self) -> int:
        """How many acknowledged memories are not there."""
        missing = 0
        for space, kept in self.kept.items():
            ids = [id for _, id in kept]
            with memorist.open(self.url, space=space, embedder="none", background=False) as engine:
                missing += sum(found is None for found in engine.get(ids))
        return missing


@contextmanager
def writing(url: str) -> Generator[Writers]:
    """Writers of every space, at work within the block."""
    writers = Writers(url)
    try:
        writers.start()
        yield writers
    finally:
        writers.stop()


def report(name: str, writers: Writers) -> Rows:
    kept, refused = (sum(map(len, some.values())) for some in (writers.kept, writers.refused))
    lost = writers.lost()
    assert lost == 0, "something that was acknowledged is gone"
    return [(f"{name}: writes acknowledged, refused, lost", f"{kept:,}, {refused}, {lost}")]


def move(made: Cluster) -> Rows:
    coordinator, (first, second) = made.nodes[0], made.workers
    times = list[float]()
    with writing(made.url) as writers:
        for shard, port in run(coordinator, SHARDS):
            source, target = (first, second) if port == first.port else (second, first)
            started = time.monotonic()
            run(
                coordinator,
                "SELECT citus_move_shard_placement(%s, '127.0.0.1', %s, '127.0.0.1', %s)",
                *(shard, source.port, target.port),
            )
            times.append(time.monotonic() - started)
            print(f"  shard {shard} moved to {target.name} in {times[-1]:.1f} s", flush=True)
        run(coordinator, ISOLATE, SPACES[0])
        after = time.monotonic()
        writers.until(lambda: all(writers.since(after, space) for space in SPACES))
    return [
        ("shards moved under writers, seconds each", f"{len(times)}, {min(times):.1f} to {max(times):.1f}"),
        *report("… and one space isolated", writers),
        ("… longest remember and recall", f"{writers.slowest:.1f} s"),
    ]


def kill(made: Cluster) -> Rows:
    victim = made.workers[0]
    struck = {space for space in SPACES if node_of(made, space) == victim}
    others = set(SPACES) - struck
    assert 0 < len(struck) < len(SPACES), "every worker should have some space"
    with writing(made.url) as writers:
        made.stop_node(victim)
        down = time.monotonic()
        time.sleep(OUTAGE)
        writers.until(lambda: all(writers.since(down, space) for space in others))
        writers.until(lambda: all(writers.refused[space] for space in struck))
        outage = time.monotonic() - down
        answered = {space: writers.since(down, space) for space in SPACES}
        made.start_node(victim)
        up = time.monotonic()
        back = writers.until(lambda: all(writers.since(up, space) for space in struck))
    said = {message for space in struck for _, message in writers.refused[space]}
    assert not any(writers.refused[space] for space in others), "a space on another worker was refused"
    assert all("promote its standby" in message or "Write it again" in message for message in said), said
    print("  " + "\n  ".join(sorted(said)))
    return [
        (
            f"a worker down for {outage:.0f} s: writes to {len(others)} spaces on the other, to {len(struck)} on it",
            f"{sum(answered[space] for space in others):,}, {sum(answered[space] for space in struck)}",
        ),
        ("… after its start, all spaces are written again within", f"{back:.1f} s"),
        *report("… in all", writers),
    ]


def node_of(made: Cluster, space: str) -> Node:
    ((port,),) = run(made.nodes[0], PLACE, space)
    return next(node for node in made.nodes if node.port == port)


PARTS: dict[str, Callable[[Cluster], Rows]] = {"conform": conform, "count": count, "move": move, "kill": kill}

if __name__ == "__main__":
    main()
