"""Ways to find the nearest of very many vectors with numpy alone: time and share found.

    python benchmarks/vector_scan.py [--vectors rows.npy --queries rows.npy] [--count 100000]

Without files the vectors are random: topics of fifty around centres whose spread falls with the dimension, as that
of text embeddings does. One thread; times are the processor's, the best of ten a query, the median over queries.
Each scan is followed by exact products with its shortlist; the share is of the true nearest 10, 30 and 100.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from common import options, processor_time
from numpy.typing import NDArray

from memorist.stores.index.binary_codes import BinaryCodes
from memorist.stores.index.vectors import normalize

Vectors = NDArray[np.float32]
Scan = Callable[[Vectors], NDArray[Any]]
DEPTHS = (10, 30, 100)


def random_vectors(count: int, dim: int = 384) -> tuple[Vectors, Vectors]:
    draw = np.random.default_rng(5)
    spread = 1 / np.sqrt(np.arange(1, dim + 1))
    turn = np.linalg.qr(draw.normal(size=(dim, dim)))[0]
    centres = draw.normal(size=(count // 50 + 1, dim)) * spread
    rows = np.repeat(centres, 50, axis=0)[:count] + 0.7 * draw.normal(size=(count, dim)) * spread
    near = rows[draw.integers(0, count, 100)] + 0.7 * draw.normal(size=(100, dim)) * spread
    return normalize(rows @ turn), normalize(near @ turn)


def exact(rows: Vectors) -> Scan:
    return lambda probe: rows @ probe


def leading_components(rows: Vectors, dim: int) -> Scan:
    sample = rows[:: max(1, len(rows) // 8192)].astype(np.float64)
    _, directions = np.linalg.eigh(sample.T @ sample)
    return _projected(rows, directions[:, : -dim - 1 : -1])


def random_directions(rows: Vectors, dim: int) -> Scan:
    turn = np.linalg.qr(np.random.default_rng(3).normal(size=(rows.shape[1],) * 2))[0]
    return _projected(rows, turn[:, :dim])


def _projected(rows: Vectors, directions: NDArray[np.float64]) -> Scan:
    basis = np.ascontiguousarray(directions, np.float32)
    shadows = rows @ basis
    return lambda probe: shadows @ (probe @ basis)


def signs(rows: Vectors) -> Scan:
    kept = BinaryCodes(rows.shape[1])
    kept.extend(rows)
    return lambda probe: kept.agreement(probe[None], len(rows))


def found(rows: Vectors, scan: Scan, shortlist: int, probe: Vectors) -> NDArray[np.intp]:
    scores = scan(probe)
    places = np.argpartition(scores, -shortlist)[-shortlist:]
    return places[np.argsort(-(rows[places] @ probe), kind="stable")][: DEPTHS[-1]]


def report(name: str, make: Callable[[], Scan], shortlist: int, rows: Vectors, probes: Vectors) -> None:
    start = time.process_time()
    scan = make()
    scan(probes[0])
    made = time.process_time() - start
    times = [min(processor_time(lambda p=p: found(rows, scan, shortlist, p)) for _ in range(10)) for p in probes[:20]]
    shares = []
    for depth in DEPTHS:
        best = [np.argsort(-(rows @ probe))[:depth] for probe in probes]
        ours = [found(rows, scan, shortlist, probe)[:depth] for probe in probes]
        shares.append(statistics.mean(len({*a} & {*b}) / depth for a, b in zip(ours, best, strict=True)))
    columns = "".join(f"{share:9.4f}" for share in shares)
    print(f"{name:36}{made:9.2f}{1000 * statistics.median(times):9.2f}{columns}", flush=True)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--count", type=int, default=100_000)
    args = parser.parse_args()
    if args.vectors and args.queries:
        rows, probes = normalize(np.load(args.vectors)[: args.count]), normalize(np.load(args.queries)[:100])
    else:
        rows, probes = random_vectors(args.count)
    print(f"{len(rows):,} vectors of {rows.shape[1]} dimensions, {len(probes)} queries")
    print(f"{'':36}{'make, s':>9}{'ask, ms':>9}" + "".join(f"{f'@{depth}':>9}" for depth in DEPTHS))
    report("every vector", lambda: exact(rows), DEPTHS[-1], rows, probes)
    for dim, shortlist in ((96, 500), (128, 500), (128, 1000)):
        name = f"{dim} leading components, best {shortlist:,}"
        report(name, lambda dim=dim: leading_components(rows, dim), shortlist, rows, probes)
    report("128 random directions, best 1,000", lambda: random_directions(rows, 128), 1000, rows, probes)
    for shortlist in (500, 1000, 2000, 4000):
        report(f"signs, best {shortlist:,}", lambda: signs(rows), shortlist, rows, probes)


if __name__ == "__main__":
    main()
