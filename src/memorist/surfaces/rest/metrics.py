"""What the server counts, as Prometheus reads it. Each worker process counts for itself."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histogram's buckets, in seconds."""
Labels = tuple[tuple[str, str], ...]


class Metrics:
    """Counts requests by method, route and status, and how long they took by route; thread-safe.

    Routes are templates, so that no space, memory or name becomes a label.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: dict[Labels, int] = defaultdict(int)
        self._seconds: dict[Labels, list[float]] = {}

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request that was answered."""
        by_route: Labels = (("method", method), ("route", route))
        with self._lock:
            self._requests[(*by_route, ("status", str(status)))] += 1
            row = self._seconds.setdefault(by_route, [0.0] * (len(BUCKETS) + 2))
            row[bisect_left(BUCKETS, seconds)] += 1
            row[-1] += seconds

    def text(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Everything counted, with some present values by name: what they mean, and how much it is."""
        with self._lock:
            lines = [*_counter(self._requests), *_histogram(self._seconds)]
        for name, (meaning, value) in gauges.items():
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} gauge", f"{name} {value:g}"]
        return "\n".join(lines) + "\n"


def _counter(requests: Mapping[Labels, int]) -> Iterator[str]:
    name = "memorist_requests_total"
    yield f"# HELP {name} Requests answered, by method, route and status."
    yield f"# TYPE {name} counter"
    for labels, count in sorted(requests.items()):
        yield f"{name}{_written(labels)} {count}"


def _histogram(seconds: Mapping[Labels, list[float]]) -> Iterator[str]:
    name = "memorist_request_seconds"
    yield f"# HELP {name} How long requests took, by method and route."
    yield f"# TYPE {name} histogram"
    for labels, row in sorted(seconds.items()):
        total = 0
        for bound, count in zip((*map(str, BUCKETS), "+Inf"), row, strict=False):
            total += int(count)
            yield f"{name}_bucket{_written((*labels, ('le', bound)))} {total}"
        yield f"{name}_sum{_written(labels)} {row[-1]:.6f}"
        yield f"{name}_count{_written(labels)} {total}"


def _written(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
