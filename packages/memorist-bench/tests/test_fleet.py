"""The simulation of a service, on cases small enough to work out by hand."""

from __future__ import annotations

import pytest

from benchmarks.fleet import Costs, Load, Place, Request, Worker, fewest, simulate

COSTS = Costs(
    recall=1.0, recall_each=0, write=0.5, read_each=0.001, file_each=0.001, open=0.25, open_each=0,
    follow_each=0.125, held=0, held_each=1,
)  # fmt: skip
SMALL, LARGE = 1000, 4000
NEW = Place(cores=1, budget=10_000, new=True)


def worker(*sizes: int, place: Place = NEW) -> Worker:
    return Worker(COSTS, sizes, place)


def recall(at: float, space: int = 0) -> Request:
    return Request(at, space, writes=False)


def test_a_request_waits_for_its_space_and_for_the_requests_before_it() -> None:
    """Loading takes 1000 × 0.001 s, then each recall one second on the only core."""
    one = worker(SMALL)
    assert [one.serve(recall(at), 0) for at in (0, 0.5, 10)] == [2, 3, 11]
    assert (one.loads, one.busy, one.bytes) == (1, 4, SMALL)


def test_whoever_asks_for_a_space_that_is_being_loaded_waits_for_that() -> None:
    """The second core is free at once, and the space after a second."""
    one = worker(SMALL, place=Place(cores=2, budget=10_000, new=True))
    assert [one.serve(recall(0), 0), one.serve(recall(0.5), 0)] == [2, 2]


def test_a_file_spares_reading_the_rows() -> None:
    """4000 memories take 8 s to read and to write to a file; opening the file takes 0.25 s."""
    assert worker(LARGE).serve(recall(0), 0) == 9
    assert worker(LARGE, place=Place(cores=1, budget=10_000)).serve(recall(0), 0) == 1.25


def test_the_least_recently_used_space_is_dropped() -> None:
    """There is room for two of three, and the second is asked again before the third comes."""
    one = worker(SMALL, SMALL, SMALL, place=Place(cores=1, budget=2 * SMALL))
    for number, space in enumerate((0, 1, 0, 2)):
        one.serve(recall(number * 10, space), 0)
    assert (one.loads, one.bytes) == (3, 2 * SMALL)
    assert one.serve(recall(100, 0), 0) == 101
    assert one.serve(recall(200, 1), 0) == 202


def test_what_others_wrote_is_read_before_the_answer() -> None:
    """Four memories at an eighth of a second."""
    one = worker(SMALL)
    one.serve(recall(0), 0)
    assert one.serve(recall(10), 4) == 11.5
    assert one.serve(recall(20), 4) == 21


LOAD = Load(spaces=50, memories=50_000, rate=2, requests=2000)


def test_spaces_share_the_memories_unevenly() -> None:
    sizes = LOAD.sizes()
    assert len(sizes) == 50
    assert sum(sizes) == pytest.approx(50_000, rel=0.01)
    assert max(sizes) > 5 * sorted(sizes)[25]


def test_the_same_worker_for_a_space_loads_less_often() -> None:
    place = Place(cores=2, budget=20_000)
    turn, same = (simulate(LOAD, COSTS, place, 4, affinity=affinity) for affinity in (False, True))
    assert same.loads < turn.loads / 2
    assert len(same.waits) == len(turn.waits) == 1000


def test_the_fewest_workers_are_enough_and_one_less_is_not() -> None:
    place = Place(cores=1, budget=20_000)
    best = fewest(LOAD, COSTS, place, 3, affinity=True)
    assert best is not None and best.workers > 1
    assert best.within(0.95) <= 3 < simulate(LOAD, COSTS, place, best.workers - 1, affinity=True).within(0.95)


def test_no_number_of_workers_is_enough_if_one_answer_takes_too_long() -> None:
    assert fewest(LOAD, COSTS, Place(), 0.4, affinity=True, most=4) is None
