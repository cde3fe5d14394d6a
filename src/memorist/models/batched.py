"""Runs of local models: as many at once as there are cores, and runs that wait are put together.

A caller that finds a core free runs at once, in its own thread. While all cores are busy, batches wait in one queue for
all models; whoever has a core next takes the first of them, and all others of the same model and length that fit into
one run. Nobody waits for company, and the results are those of separate runs: no batch is padded.

Questions go first, and one piece of each bulk of memories in between, so neither waits for the end of the other.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from heapq import heappop, heappush
from threading import Event, Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from memorist.ports.notices import inner_span

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memorist.ports import Vector

    Inputs: TypeAlias = Mapping[str, NDArray[np.int64] | NDArray[np.float32]]
    """The inputs of a run by name, each with one row per text, all of the same length."""
    Outputs: TypeAlias = Sequence[Vector]
    """The outputs of a run, each with one row per text."""

QUESTIONS_PER_MEMORY = 8
"""Batches of questions that run before each batch of a bulk of memories, while there are both."""


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class BatchedModel:
    """A model whose callers share its runs; thread-safe.

    `tokens` is the maximum of one run; with 0 each batch runs alone, because others would change its results.
    """

    def __init__(self, run: Callable[[Inputs], Outputs], tokens: int, kind: str = "model") -> None:
        self.run = run
        self.kind = kind
        self.tokens = tokens

    def __call__(self, batches: Sequence[Inputs], *, question: bool) -> list[Outputs]:
        """The outputs of each batch. One that fails raises its error; those of other callers do not fail with it."""
        with inner_span("memorist.model.run", {"memorist.model": self.kind, "memorist.batches": len(batches)}):
            return RUNS.run(self, batches, question=question)


class _Caller:
    """Somebody who waits for batches."""

    def __init__(self, left: int) -> None:
        self.left = left
        self.leads = False
        """Whether it has a core to run batches on."""
        self.woken = Event()


class _Batch:
    """One batch of a caller, and what became of it."""

    def __init__(self, caller: _Caller, model: BatchedModel, inputs: Inputs) -> None:
        self.caller = caller
        self.model = model
        self.inputs = inputs
        self.rows, length = next(iter(inputs.values())).shape
        self.room = model.tokens // max(1, length)
        self.alike = model, length
        self.waits = True
        self.outputs: Outputs | BaseException | None = None

    def answer(self) -> Outputs:
        """The outputs, or the error that came instead."""
        assert self.outputs is not None
        if isinstance(self.outputs, BaseException):
            raise self.outputs
        return self.outputs


class _Queue:
    """The waiting batches in their order: start-time fair queueing, Goyal et al., SIGCOMM 1996.

    All questions are one flow, and each caller with memories is one of its own.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, _Batch]] = []
        self._alike: dict[tuple[BatchedModel, int], deque[_Batch]] = {}
        self._now = self._questions = 0.0
        self._count = 0

    def add(self, batches: Sequence[_Batch], *, question: bool) -> None:
        """Put the batches of one caller into the queue."""
        start, step = (max(self._now, self._questions), 1 / QUESTIONS_PER_MEMORY) if question else (self._now, 1.0)
        for place, batch in enumerate(batches, 1):
            self._put(batch, start + place * step)
        if question:
            self._questions = start + len(batches) * step

    def put_back(self, batch: _Batch) -> None:
        """Put a batch that was taken near the head of the queue."""
        batch.waits = True
        self._put(batch, self._now)

    def _put(self, batch: _Batch, at: float) -> None:
        self._count += 1
        heappush(self._heap, (at, self._count, batch))
        self._alike.setdefault(batch.alike, deque()).append(batch)

    def first(self) -> _Batch | None:
        """The batch that is next."""
        while self._heap and not self._heap[0][2].waits:
            heappop(self._heap)
        return self._heap[0][2] if self._heap else None

    @property
    def waiting(self) -> int:
        """The number of batches that wait."""
        return sum(batch.waits for _, _, batch in self._heap)

    def take(self) -> list[_Batch]:
        """The next batch, with those that fit into the same run; none if nobody waits."""
        first = self.first()
        if first is None:
            return []
        self._now = self._heap[0][0]
        first.waits = False
        taken, rows, alike = [first], first.rows, self._alike[first.alike]
        while alike and (not alike[0].waits or rows + alike[0].rows <= first.room):
            other = alike.popleft()
            if other.waits:
                other.waits = False
                rows += other.rows
                taken.append(other)
        if not alike:
            del self._alike[first.alike]
        return taken


class Runs:
    """The runs of all models of a process. A caller with a core runs batches, its own or not, until its own are done.

    Then it hands its core to the caller of the next batch, or to a helper thread if that one has a core already.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.reset()

    def reset(self) -> None:
        """Forget all callers and threads; a forked process has none of them."""
        self._lock = Lock()
        self._free = self._most
        self._queue = _Queue()
        self._helpers = ThreadPoolExecutor(self._most, thread_name_prefix="memorist-models")
        self._spent: dict[str, tuple[int, float]] = {}

    def spent(self) -> dict[str, tuple[int, float]]:
        """The number of runs so far, and their seconds, by the kind of model."""
        with self._lock:
            return dict(self._spent)

    @property
    def waiting(self) -> int:
        """The batches that wait for a core."""
        with self._lock:
            return self._queue.waiting

    def run(self, model: BatchedModel, inputs: Sequence[Inputs], *, question: bool) -> list[Outputs]:
        """The outputs of each batch."""
        caller = _Caller(len(inputs))
        batches = [_Batch(caller, model, value) for value in inputs]
        with self._lock:
            self._queue.add(batches, question=question)
            if self._free:
                self._free -= 1
                caller.leads = True
            for _ in range(min(self._free, len(batches) - 1)):
                self._free -= 1
                self._hand_over()
        try:
            while caller.left:
                if not self._ran_next(caller):
                    caller.woken.wait()
                    caller.woken.clear()
        finally:
            self._leave(caller, batches)
        return [batch.answer() for batch in batches]

    def _leave(self, caller: _Caller, batches: Sequence[_Batch]) -> None:
        """Hand over the core of a caller that is done or was interrupted; nobody wants what it still waits for."""
        with self._lock:
            for batch in batches:
                batch.waits = False
            if caller.leads:
                caller.leads = False
                self._hand_over()

    def _help(self) -> None:
        """Run batches in a thread of our own, while there are any."""
        helper = _Caller(0)
        helper.leads = True
        while self._ran_next(helper):
            pass

    def _ran_next(self, leader: _Caller) -> bool:
        """Run the next batches; without any, give the core back."""
        with self._lock:
            taken = self._queue.take() if leader.leads else []
            if leader.leads and not taken:
                leader.leads = False
                self._free += 1
        began = perf_counter()
        try:
            _run(taken)
        finally:
            with self._lock:
                if taken:
                    runs, seconds = self._spent.get(taken[0].model.kind, (0, 0.0))
                    self._spent[taken[0].model.kind] = runs + 1, seconds + perf_counter() - began
                for batch in taken:
                    if batch.outputs is None:  # an interrupt of this thread
                        self._queue.put_back(batch)
                        continue
                    batch.caller.left -= 1
                    if not batch.caller.left:
                        batch.caller.woken.set()
        return bool(taken)

    def _hand_over(self) -> None:
        """Pass a core on, with the lock held."""
        batch = self._queue.first()
        if batch is None:
            self._free += 1
        elif not batch.caller.leads:
            batch.caller.leads = True
            batch.caller.woken.set()
        else:
            try:
                self._helpers.submit(self._help)
            except RuntimeError:  # the interpreter is ending, and starts no thread
                self._free += 1


RUNS = Runs(cores())
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=RUNS.reset)


def _run(batches: Sequence[_Batch]) -> None:
    """Run batches together; if that fails, each alone, so that only its own caller meets an error."""
    try:
        outputs = _outputs(batches)
    except Exception as error:
        if len(batches) == 1:
            batches[0].outputs = error
            return
        for batch in batches:
            _run([batch])
        return
    for batch, own in zip(batches, outputs, strict=True):
        batch.outputs = own


def _outputs(batches: Sequence[_Batch]) -> list[Outputs]:
    if len(batches) < 2:
        return [batch.model.run(batch.inputs) for batch in batches]
    names = batches[0].inputs
    inputs: Any = {name: np.concatenate([each.inputs[name] for each in batches]) for name in names}
    made = batches[0].model.run(inputs)
    ends = np.cumsum([batch.rows for batch in batches])[:-1]
    parts = [np.split(output, ends) for output in made]
    return [[output[place] for output in parts] for place in range(len(batches))]
