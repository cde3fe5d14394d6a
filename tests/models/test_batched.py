"""Callers of a model share its runs: in which order, in whose company, and with whose errors."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from memorist.models.batched import QUESTIONS_PER_MEMORY, RUNS, BatchedModel, Runs, cores
from memorist.models.embedders.local import OnnxEmbedder
from memorist.models.folder import of_set
from memorist.models.rerankers.local import CrossReranker

BUSY = 99
"""A text that keeps the model busy until the test lets it go."""
WRONG = 13
"""A text that the model fails on."""


class Model:
    """Doubles its numbers, and notes the texts of each run; a text is a row of one number."""

    def __init__(self) -> None:
        self.runs: list[list[int]] = []
        self.begun = threading.Semaphore(0)
        self.go = threading.Event()

    def __call__(self, inputs: Mapping[str, Any]) -> list[Any]:
        texts = inputs["ids"][:, 0].tolist()
        self.runs.append(texts)
        if BUSY in texts:
            self.begun.release()
            assert self.go.wait(60)
        if WRONG in texts:
            raise ValueError("thirteen")
        return [2 * inputs["ids"][:, 0], inputs["ids"].sum(axis=1)]


class Office:
    """Callers of one model, which runs on a single core."""

    def __init__(self, tokens: int) -> None:
        self.model = Model()
        self.runs = Runs(1)
        self._shared = BatchedModel(self.model, tokens)
        self._callers = ThreadPoolExecutor(32)

    def ask(self, *texts: int, length: int = 1, question: bool = True) -> Future[list[list[int]]]:
        """Ask for each text as a batch of its own, and wait until they are in the queue."""
        batches = [{"ids": np.array([[text] * length])} for text in texts]
        before = self.waiting

        def run() -> list[list[int]]:
            made = self.runs.run(self._shared, batches, question=question)
            return [[int(output[0]) for output in outputs] for outputs in made]

        asked = self._callers.submit(run)
        while self.waiting < before + len(texts) and not asked.done() and texts != (BUSY,):
            time.sleep(0.001)
        return asked

    @property
    def waiting(self) -> int:
        """How many batches wait."""
        heap = list(self.runs._queue._heap)  # pyright: ignore[reportPrivateUsage]
        return sum(batch.waits for _, _, batch in heap)

    @contextmanager
    def busy(self) -> Iterator[None]:
        """The model is busy in this block, so that what is asked for in it waits."""
        asked = self.ask(BUSY)
        assert self.model.begun.acquire(timeout=60)
        yield
        self.model.go.set()
        asked.result(60)


def test_who_comes_alone_runs_at_once_and_alone() -> None:
    office = Office(tokens=100)
    assert office.ask(1).result(60) == [[2, 1]]
    assert office.ask(2, 3, length=2).result(60) == [[4, 4], [6, 6]]
    assert office.model.runs[0] == [1]


def test_what_came_while_the_model_was_busy_runs_together_and_each_gets_its_own() -> None:
    office = Office(tokens=100)
    with office.busy():
        asked = [office.ask(text) for text in range(1, 6)]
    assert [future.result(60) for future in asked] == [[[2 * text, text]] for text in range(1, 6)]
    assert office.model.runs == [[BUSY], [1, 2, 3, 4, 5]]


def test_only_texts_of_one_length_run_together_and_no_more_than_the_model_takes() -> None:
    office = Office(tokens=6)
    with office.busy():
        asked = [office.ask(text, length=2) for text in (1, 2, 3, 4)]
        asked += [office.ask(text, length=3) for text in (5, 6)]
    for future in asked:
        future.result(60)
    assert office.model.runs == [[BUSY], [1, 2, 3], [4], [5, 6]]


def test_a_model_whose_results_depend_on_company_runs_each_text_alone() -> None:
    office = Office(tokens=0)
    with office.busy():
        asked = [office.ask(text) for text in (1, 2, 3)]
    assert [future.result(60) for future in asked] == [[[2, 1]], [[4, 2]], [[6, 3]]]
    assert office.model.runs == [[BUSY], [1], [2], [3]]


def test_an_error_is_its_own_callers_alone() -> None:
    office = Office(tokens=100)
    with office.busy():
        good, bad, other = office.ask(1), office.ask(WRONG), office.ask(2)
    assert (good.result(60), other.result(60)) == ([[2, 1]], [[4, 2]])
    with pytest.raises(ValueError, match="thirteen"):
        bad.result(60)
    assert office.ask(3).result(60) == [[6, 3]]


def test_a_question_does_not_wait_for_a_bulk_of_memories_nor_a_memory_for_it() -> None:
    """Lengths differ, so that nothing runs together: a bulk of 100 came first, then a memory and a question."""
    office = Office(tokens=1)
    with office.busy():
        bulk = office.ask(*range(100, 200), question=False)
        memory = office.ask(1, question=False)
        question = office.ask(2)
    for future in (bulk, memory, question):
        future.result(60)
    order = [text for run in office.model.runs for text in run]
    assert order[:4] == [BUSY, 2, 100, 1] and order[4:] == list(range(101, 200))


def test_a_bulk_of_memories_is_not_kept_waiting_by_questions() -> None:
    office = Office(tokens=1)
    with office.busy():
        bulk = office.ask(100, 101, question=False)
        questions = office.ask(*range(200, 200 + 3 * QUESTIONS_PER_MEMORY))
    bulk.result(60)
    questions.result(60)
    order = [text for run in office.model.runs[1:] for text in run]
    assert (order.index(100), order.index(101)) == (QUESTIONS_PER_MEMORY - 1, 2 * QUESTIONS_PER_MEMORY)


def test_no_more_runs_at_once_than_cores() -> None:
    at_once, most, lock = 0, 0, threading.Lock()

    def run(inputs: Mapping[str, Any]) -> list[Any]:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        time.sleep(0.002)
        with lock:
            at_once -= 1
        return [inputs["ids"][:, 0]]

    runs, model = Runs(3), BatchedModel(run, 0)
    batches = [{"ids": np.array([[text]])} for text in range(12)]

    def ask(_: int) -> list[int]:
        return [int(output[0]) for (output,) in runs.run(model, batches, question=False)]

    with ThreadPoolExecutor(8) as callers:
        assert list(callers.map(ask, range(8))) == [list(range(12))] * 8
    assert most == 3


def test_who_is_interrupted_leaves_the_core_and_what_others_wait_for() -> None:
    office = Office(tokens=100)
    interrupted = [True]

    def run(inputs: Mapping[str, Any]) -> list[Any]:
        if interrupted and interrupted.pop():
            raise KeyboardInterrupt
        return Model.__call__(office.model, inputs)

    shared = BatchedModel(run, 100)
    with office.busy():
        asked = [
            office._callers.submit(office.runs.run, shared, [{"ids": np.array([[text]])}], question=True)
            for text in (1, 2)
        ]
        while office.waiting < 2:
            time.sleep(0.001)
    errors = [future.exception(60) for future in asked]
    assert sorted(type(error).__name__ for error in errors) == ["KeyboardInterrupt", "NoneType"]
    assert office.ask(3).result(60) == [[6, 3]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_runs_though_its_parent_was_busy() -> None:
    model = Model()
    with ThreadPoolExecutor(cores()) as callers:
        busy = [{"ids": np.array([[BUSY]])}]
        asked = [callers.submit(BatchedModel(model, 0), busy, question=True) for _ in range(cores())]
        for _ in asked:
            assert model.begun.acquire(timeout=60)
        child = os.fork()
        if child == 0:
            made = RUNS.run(BatchedModel(Model(), 0), [{"ids": np.array([[1]])}], question=True)
            os._exit(0 if made[0][0].tolist() == [2] else 1)
        model.go.set()
        assert os.waitpid(child, 0)[1] == 0


TEXTS = ["Alice moved to Stockholm.", "Bob rows.", "The garden needs water again.", "Herons nest in April."]


def asked_together(ask: Callable[[str], object], texts: Sequence[str]) -> list[object]:
    """The answers to questions that many threads ask at once."""
    gate = threading.Barrier(8)

    def run(place: int) -> list[object]:
        gate.wait(60)
        return [ask(text) for text in [*texts[place % 4 :], *texts[: place % 4]]]

    with ThreadPoolExecutor(8) as callers:
        answers = list(callers.map(run, range(8)))
    return [one[(place - shift % 4) % 4] for shift, one in enumerate(answers) for place in range(4)]


def test_the_packaged_models_answer_many_threads_as_they_answer_one() -> None:
    """Bit by bit: the runs of eight threads are put together in ways that differ each time."""
    embedder = OnnxEmbedder.from_folder(of_set("fast", "embedder"))
    reranker = CrossReranker.from_folder(of_set("fast", "reranker"))

    def ask(text: str) -> object:
        vectors = embedder.embed([text, *TEXTS], purpose="memory")
        return vectors.tobytes(), embedder.embed([text], purpose="query").tobytes(), reranker.read(text, TEXTS)

    alone = [ask(text) for text in TEXTS]
    assert asked_together(ask, TEXTS) == alone * 8
