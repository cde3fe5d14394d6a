"""What /metrics tells about load, spaces, waiting and models."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

import memorist
from memorist.engine.engine import Engine
from memorist.models.batched import BatchedModel, Runs
from memorist.ports import Batch, Job
from memorist_server.access.home import catalogue_of
from memorist_server.rest.limits import ConcurrencyLimit
from memorist_server.rest.metrics import Metrics
from memorist_server.rest.spaces import Spaces
from memorist_server.rest.threads import VerbThreads
from server_tests.rest.conftest import Serve

LINE = re.compile(r"(?:# (?:HELP|TYPE) [a-z_]+ .+|[a-z_]+(?:\{.*\})? [0-9.e+-]+)")


def test_every_line_has_the_form_that_prometheus_reads(serve: Serve) -> None:
    server = serve()
    for space in ("one", "two"):
        server.client(space).remember("The lamp is red.")
    with server.http() as http:
        text = http.get("/metrics").text
    assert [line for line in text.splitlines() if not LINE.fullmatch(line)] == []
    assert "memorist_space_opening_seconds_count 2\n" in text
    assert "memorist_verb_waiting_seconds_count 2\n" in text
    assert "memorist_verbs_waiting 0\n" in text and "memorist_model_batches_waiting 0\n" in text
    assert "one" not in re.findall(r'"(.*?)"', text)


def test_seconds_are_summed() -> None:
    metrics = Metrics()
    metrics.opened(0.5)
    metrics.opened(0.25)
    text = metrics.text({}, {}, {"embedder": (3, 1.5)})
    assert "memorist_space_opening_seconds_sum 0.750000\nmemorist_space_opening_seconds_count 2\n" in text
    assert 'memorist_model_run_seconds_sum{kind="embedder"} 1.500000\n' in text
    assert 'memorist_model_run_seconds_count{kind="embedder"} 3\n' in text


def test_runs_of_a_model_are_counted_by_its_kind_and_what_waits() -> None:
    begun, end = threading.Event(), threading.Event()
    runs = Runs(1)
    batch = {"ids": np.zeros((1, 4), np.int64)}

    def slow(inputs: object) -> list[np.ndarray]:
        begun.set()
        end.wait(20)
        return [np.zeros((1, 1), np.float32)]

    first, second = (
        BatchedModel(slow, 0, "embedder"),
        BatchedModel(lambda _: [np.zeros((1, 1), np.float32)], 0, "reranker"),
    )
    callers = [threading.Thread(target=runs.run, args=(first, [batch]), kwargs={"question": True})]
    callers[0].start()
    assert begun.wait(20)
    callers.append(threading.Thread(target=runs.run, args=(second, [batch, batch]), kwargs={"question": True}))
    callers[1].start()
    while runs.waiting < 2:
        time.sleep(0.001)
    end.set()
    for caller in callers:
        caller.join()
    assert runs.waiting == 0
    assert {kind: number for kind, (number, _) in runs.spent().items()} == {"embedder": 1, "reranker": 2}


def test_a_verb_that_waits_for_a_thread_is_counted() -> None:
    async def story() -> None:
        threads, end = VerbThreads(1, ConcurrencyLimit(0)), threading.Event()
        tasks = [asyncio.ensure_future(threads.run(None, lambda: end.wait(20), 30)) for _ in range(3)]
        while threads.waiting < 2:
            await asyncio.sleep(0)
        end.set()
        await asyncio.gather(*tasks)
        assert (threads.waiting, threads.waited[0]) == (0, 3)

    asyncio.run(story())


def test_jobs_that_are_due_or_failed_are_counted_without_a_look_at_the_store(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "spaces").mkdir()
    url, past, future = f"{tmp_path}/spaces/", datetime(2024, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)
    jobs = [Job("facts", "one", past), Job("facts", "two", past, attempts=2), Job("facts", "three", future, attempts=1)]

    def open_(name: str) -> Engine:
        return memorist.open(url, space=name, embedder="none", background=False)

    with open_("agent") as memory:
        memory.store.put(Batch(jobs=jobs[2:]))
    server = serve()
    with server.http() as http:
        assert http.get("/v1/spaces/agent/stats").status_code == 200
        text = http.get("/metrics").text
    assert "\nmemorist_jobs_due 0\n" in text and "\nmemorist_jobs_failed 1\n" in text
    spaces = Spaces(catalogue_of(url), open_, open_, 2)
    with spaces.use("agent", create=False) as engine:
        engine.store.put(Batch(jobs=jobs))
        assert spaces.jobs() == (0, 0) and len(engine.jobs()) == 3
        assert spaces.jobs() == (2, 2)
    spaces.close()
