"""How many workers a service needs: a simulation fed with measured costs.

    python benchmarks/fleet.py [--spaces 10000] [--memories 100000000] [--rate 200] [--writes 0.5] [--no-reranker]

Requests for spaces arrive at random (a Poisson process) and are sent to workers, either to each in turn or always to
the same one for a space (affinity). A worker serves its requests in order on its cores. It holds the spaces that it was
asked for in memory, up to a budget of bytes, and drops the least recently used one first. A request for a space that is
not in memory opens the index file of this machine and waits for that; others on the worker go on. Every machine has its
files at the beginning; with `--new`, it has none, and the first request for a space reads the rows and writes the file.
What other workers wrote to a space meanwhile is read before the answer.

The sizes of spaces are lognormal; how often a space is asked grows with its size to a power (`--follow`). The first
half of the requests fills the memory and is not counted. The smallest number of workers is printed for which 95 % of
the requests are answered within `--within` seconds, and how they fare with that number.

The costs are processor times that our other benchmarks measured; docs/explanation/scale.md says which, and what was
left out: the network, the server of the database, several machines on one disk, a worker that fails.
"""

from __future__ import annotations

import argparse
import random
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import accumulate
from statistics import fmean, quantiles

GIB = 2**30
MOST = 256
"""The most workers that are tried."""
COLUMNS = ("routing", "workers", "busy", "p50", "p95", "p99", "loads per 1,000", "held by a worker")
SMALLEST_FILE = 2_000
"""Spaces with fewer memories have no index file."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of processor time, and bytes."""

    recall: float = 0.11
    recall_each: float = 12e-9
    """What a recall takes more for each memory of the space."""
    write: float = 0.010
    """One `remember` with its embedding."""
    read_each: float = 30e-6
    """Making the index from the rows."""
    file_each: float = 16e-6
    """Writing the index file."""
    open: float = 0.005
    open_each: float = 0.13e-6
    """Opening an index file that is there."""
    follow_each: float = 30e-6
    """Reading a memory that another worker wrote."""
    held: float = 0.1e6
    held_each: float = 2_200.0
    """The memory that a space takes: arrays of its own, or mapped pages of the index file."""

    def bytes(self, memories: int) -> float:
        """What a space takes in memory."""
        return self.held + self.held_each * memories


@dataclass(frozen=True, slots=True)
class Request:
    """A recall or a write of one space at a moment."""

    at: float
    space: int
    writes: bool


@dataclass(slots=True)
class Held:
    """A space in a worker's memory: when it was loaded, and how many writes it has seen."""

    ready: float
    seen: int


@dataclass(frozen=True, slots=True)
class Place:
    """The machine of a worker: its cores, the bytes for spaces, and whether it has no index files yet."""

    cores: int = 2
    budget: float = 6 * GIB
    new: bool = False


class Worker:
    """Serves requests in order on its cores, and holds spaces up to a budget."""

    def __init__(self, costs: Costs, sizes: Sequence[int], place: Place) -> None:
        self._costs = costs
        self._sizes = sizes
        self._budget = place.budget
        self._free = [0.0] * place.cores
        self._held: OrderedDict[int, Held] = OrderedDict()
        known = () if place.new else (space for space, size in enumerate(sizes) if size >= SMALLEST_FILE)
        self._files = dict.fromkeys(known, 0)
        """The index files of this machine, with the writes that they have."""
        self.bytes = 0.0
        self.busy = 0.0
        self.loads = 0

    def serve(self, request: Request, written: int) -> float:
        """When a request is answered; `written` counts the writes to its space before it."""
        start = max(request.at, heappop(self._free))
        work = 0.0
        held = self._held.get(request.space)
        if held is None:
            work = self._load(request.space, written)
            held = self._held[request.space] = Held(start + work, written)
            self._drop_least_used()
        self._held.move_to_end(request.space)
        waited = max(0.0, held.ready - start - work)  # another request is loading it
        work += (written - held.seen) * self._costs.follow_each + self._verb(request)
        held.seen = written + request.writes
        end = start + waited + work
        self.busy += work
        heappush(self._free, end)
        return end

    def _load(self, space: int, written: int) -> float:
        costs, size = self._costs, self._sizes[space]
        self.loads += 1
        self.bytes += costs.bytes(size)
        if space in self._files:
            missing = written - self._files[space]
            return costs.open + costs.open_each * size + costs.follow_each * missing
        if size < SMALLEST_FILE:
            return costs.read_each * size
        self._files[space] = written
        return (costs.read_each + costs.file_each) * size

    def _drop_least_used(self) -> None:
        while self.bytes > self._budget and len(self._held) > 1:
            space, held = self._held.popitem(last=False)
            self.bytes -= self._costs.bytes(self._sizes[space])
            if space in self._files:
                self._files[space] = held.seen  # a file that lacks much is written again when the space is closed

    def _verb(self, request: Request) -> float:
        if request.writes:
            return self._costs.write
        return self._costs.recall + self._costs.recall_each * self._sizes[request.space]


@dataclass(frozen=True, slots=True)
class Load:
    """The spaces and what is asked of them."""

    spaces: int = 10_000
    memories: int = 100_000_000
    spread: float = 1.5
    """The standard deviation of the logarithm of the sizes."""
    follow: float = 1.0
    """The power of its size with which a space is asked: 0 for all alike, 1 for as often as it is large."""
    rate: float = 200.0
    """Requests a second."""
    writes: float = 0.5
    """The share of writes."""
    requests: int = 200_000
    seed: int = 7

    def sizes(self) -> list[int]:
        """The memories of each space."""
        drawn = random.Random(self.seed)
        weights = [drawn.lognormvariate(0, self.spread) for _ in range(self.spaces)]
        each = self.memories / sum(weights)
        return [max(1, round(weight * each)) for weight in weights]

    def arrivals(self, sizes: Sequence[int]) -> Iterator[Request]:
        """The requests in the order in which they come."""
        drawn, now = random.Random(self.seed + 1), 0.0
        bounds = list(accumulate(size**self.follow for size in sizes))
        for space in drawn.choices(range(len(sizes)), cum_weights=bounds, k=self.requests):
            now += drawn.expovariate(self.rate)
            yield Request(now, space, drawn.random() < self.writes)


@dataclass(slots=True)
class Outcome:
    """How a number of workers fared with the second half of the requests."""

    workers: int
    waits: list[float] = field(default_factory=list[float])
    busy: float = 0.0
    loads: int = 0
    bytes: float = 0.0

    def within(self, share: float) -> float:
        """The seconds within which a share of the requests was answered."""
        return quantiles(self.waits, n=1000)[round(share * 1000) - 1]


def simulate(load: Load, costs: Costs, place: Place, workers: int, *, affinity: bool) -> Outcome:
    """Serve all requests; with affinity, always the same worker serves a space."""
    sizes = load.sizes()
    staff = [Worker(costs, sizes, place) for _ in range(workers)]
    requests, written, outcome = list(load.arrivals(sizes)), [0] * len(sizes), Outcome(workers)
    warm = len(requests) // 2
    for number, request in enumerate(requests):
        if number == warm:
            for person in staff:
                person.busy, person.loads = 0.0, 0
        chosen = staff[(_scattered(request.space) if affinity else number) % workers]
        end = chosen.serve(request, written[request.space])
        written[request.space] += request.writes
        if number >= warm:
            outcome.waits.append(end - request.at)
    lasted = requests[-1].at - requests[warm].at
    outcome.busy = sum(person.busy for person in staff) / (lasted * workers * place.cores)
    outcome.loads = sum(person.loads for person in staff)
    outcome.bytes = fmean(person.bytes for person in staff)
    return outcome


def _scattered(space: int) -> int:
    """A number of a space that tells nothing of its neighbours (Knuth's multiplicative hash)."""
    return space * 2_654_435_761 >> 7


def fewest(
    load: Load, costs: Costs, place: Place, seconds: float, *, affinity: bool, most: int = MOST
) -> Outcome | None:
    """The outcome with the fewest workers that answer 95 % of the requests in time; None if `most` do not."""
    low, high, best = 1, 1, None
    while best is None and high <= most:
        tried = simulate(load, costs, place, high, affinity=affinity)
        best = tried if tried.within(0.95) <= seconds else None
        low, high = (low, high) if best else (high + 1, high * 2)
    while best is not None and low < best.workers:
        middle = (low + best.workers) // 2
        tried = simulate(load, costs, place, middle, affinity=affinity)
        if tried.within(0.95) <= seconds:
            best = tried
        else:
            low = middle + 1
    return best


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("spaces", 10_000), ("memories", 100_000_000), ("requests", 200_000)):
        arguments.add_argument(f"--{name}", type=int, default=default)
    for name, default in (("rate", 200.0), ("writes", 0.5), ("follow", 1.0), ("within", 0.5), ("budget", 6.0)):
        arguments.add_argument(f"--{name}", type=float, default=default)
    arguments.add_argument("--no-reranker", action="store_true")
    arguments.add_argument("--new", action="store_true")
    given = arguments.parse_args()
    load = Load(
        given.spaces,
        given.memories,
        follow=given.follow,
        rate=given.rate,
        writes=given.writes,
        requests=given.requests,
    )
    place = Place(budget=given.budget * GIB, new=given.new)
    costs = replace(Costs(), recall=0.012) if given.no_reranker else Costs()
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for affinity in (False, True):
        best = fewest(load, costs, place, given.within, affinity=affinity)
        routing = "by space" if affinity else "in turn"
        if best is None:
            print(f"| {routing} | more than {MOST} |{' |' * (len(COLUMNS) - 2)}")
            continue
        times = " | ".join(f"{best.within(share) * 1000:.0f} ms" for share in (0.5, 0.95, 0.99))
        loads = best.loads * 1000 / len(best.waits)
        print(f"| {routing} | {best.workers} | {best.busy:.0%} | {times} | {loads:.1f} | {best.bytes / GIB:.1f} GiB |")


if __name__ == "__main__":
    main()
