"""The comparison with other stores: the parts of it that need none of them."""

from __future__ import annotations

import json
import re
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from benchmarks.rivals import measure
from benchmarks.rivals.data import DIM, Data, Page, Vectors, best_ten, unit, varied
from benchmarks.rivals.measure import bytes_in, fill, memory, share_found, slug
from benchmarks.rivals.quality import Talk, ours, talk, texts_alone, theirs
from benchmarks.rivals.quality import table as table_of_quality
from benchmarks.rivals.report import HEADER, SEARCHED, table
from benchmarks.rivals.stores import HYBRID, STORES, VECTOR, Given, Memorist, any_word
from memorist.models.embedding_text import CONTEXT, TEXT
from memorist_bench.measures import summarise
from memorist_bench.model import Dataset, Document, Group, Question

ROOT = Path(__file__).parents[3]
TEXTS = [f"The {animal} named Number{place} sleeps under the old {tree} behind our house" for place, (animal, tree) in
         enumerate(zip(["cat", "dog", "hen", "owl"] * 8, ["oak", "elm", "yew", "fig"] * 8, strict=True))]  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Data:
    """Texts with random vectors, kept in a folder as the script keeps them; the questions are three of the texts."""
    draw = np.random.default_rng(2)
    vectors = np.array([unit(row) for row in draw.standard_normal((len(TEXTS), 384)).astype(np.float32)])
    np.savez(tmp_path / "real.npz", texts=np.array(TEXTS), vectors=vectors)
    np.save(tmp_path / "probes.npy", vectors[[3, 5, 8]])
    (tmp_path / "questions.json").write_text(json.dumps([TEXTS[3], TEXTS[5], TEXTS[8]]))
    made = Data(tmp_path)
    made.make(100, tmp_path)
    return made


def test_the_true_best_are_the_largest_cosines_over_all_pages() -> None:
    rows = np.array([[1, 0], [0.6, 0.8], [0, 1], [-1, 0], [0.8, 0.6]], np.float32)
    pages = [Page(0, ["a", "b"], rows[:2]), Page(2, ["c", "d", "e"], rows[2:])]
    probes = np.array([[1, 0], [0, 1]], np.float32)
    assert best_ten(probes, iter(pages), 3).tolist() == [[0, 4, 1], [2, 1, 4]]


def test_changed_texts_are_new_and_the_same_in_every_run() -> None:
    vectors = np.eye(len(TEXTS), dtype=np.float32)
    made = list(islice(varied(TEXTS, vectors), 300))
    assert [text for text, _ in made[: len(TEXTS)]] == TEXTS
    assert len({text for text, _ in made}) == 300
    assert all(abs(float(np.linalg.norm(vector)) - 1) < 1e-5 for _, vector in made)
    again = list(islice(varied(TEXTS, vectors), 300))
    assert [text for text, _ in again] == [text for text, _ in made]
    assert all(np.array_equal(one, other) for (_, one), (_, other) in zip(made, again, strict=True))


def test_a_smaller_size_is_the_beginning_of_a_larger_one(data: Data) -> None:
    [small] = data.pages(40)
    pages = list(data.pages(100, rows=30))
    assert [(page.start, len(page.texts), len(page.vectors)) for page in pages] == [
        (0, 30, 30), (30, 30, 30), (60, 30, 30), (90, 10, 10),
    ]  # fmt: skip
    assert small.texts == [*pages[0].texts, *pages[1].texts][:40]
    assert small.texts[: len(TEXTS)] == TEXTS


def test_the_nearest_text_to_a_text_is_itself(data: Data) -> None:
    answers = data.answers(100)
    assert [texts[0] for texts in answers] == data.questions
    assert all(len(set(texts)) == 10 for texts in answers)
    assert data.answers(100) == answers, "what was kept is read again"


def test_the_share_found_counts_the_questions_that_were_asked() -> None:
    best = [["a", "b"], ["c", "d"], ["e", "f"]]
    assert share_found([["b", "x"], ["d", "c"]], best) == 0.75
    assert share_found([[]], best) == 0


def test_memorist_finds_the_true_best_both_ways(data: Data, tmp_path: Path) -> None:
    place = tmp_path / "stores"
    spent = fill("Memorist", 100, tmp_path, place)
    assert spent["add_processor"] > 0 and spent["add_wall"] > 0
    assert bytes_in(place) >= 100 * 2 * 384
    found, recalled = (answers(place, mode, data) for mode in (VECTOR, HYBRID))
    assert share_found(found, data.answers(100)) == 1
    assert [texts[0] for texts in recalled] == data.questions


def answers(place: Path, mode: str, data: Data) -> list[list[str]]:
    with closing(Memorist(place, mode)) as store:
        return [store.search(*asked) for asked in zip(data.questions, data.probes, strict=True)]


@pytest.mark.slow  # five processes
def test_every_process_reports(data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "COLD_STARTS", 2)
    found = measure.measured("Memorist", 100, tmp_path, 60)
    assert found["searches"].keys() == {VECTOR, HYBRID}
    assert found["searches"][VECTOR]["best_ten"] == 1
    for search in found["searches"].values():
        assert search.keys() >= SEARCHED.keys()
        assert search["questions"] == len(data.questions) - 1
    assert not any((tmp_path / "stores").iterdir()), "it is deleted afterwards"


def test_a_store_that_takes_too_long_is_said_to(data: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "PATIENCE", 0.001)
    found = measure.measured("Memorist", 100, tmp_path, 60)
    assert found == {"store": "Memorist", "memories": 100, "failed": "did not finish in 1 minutes of processor time"}


@pytest.mark.parametrize(("verb", "seconds"), [("fill", 60), ("ask", resource.RLIM_INFINITY)])
def test_short_times_are_measured_without_a_limit_which_makes_the_clock_coarse(verb: str, seconds: int) -> None:
    """With a limit of processor time, Linux updates the clock of a process only every few milliseconds."""
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_CPU)[0])"
    limited = partial(measure._bound, verb, 60)
    assert int(subprocess.check_output([sys.executable, "-c", code], preexec_fn=limited)) == seconds


def test_given_vectors_are_those_of_the_texts() -> None:
    given, rows = Given(), np.eye(3, DIM, dtype=np.float32)
    given.know(["a"], rows[:1])
    given.know(["b", "c"], rows[1:])
    assert np.array_equal(given.embed(["c", "a", "b"]), rows[[2, 0, 1]])
    given.know(["d"], rows[:1])
    strange = given.embed(["a", "a fact that was read in a text", "b"])
    assert np.linalg.norm(strange, axis=1) == pytest.approx(1, abs=1e-5)
    assert abs(float(strange[0] @ rows[0])) < 0.3, "forgotten, and near nothing"
    assert np.array_equal(strange[2], rows[1])


def test_every_question_is_a_query_that_sqlite_takes() -> None:
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE VIRTUAL TABLE words USING fts5 (text)")
        db.execute("INSERT INTO words VALUES ('Ann AND her cat, 75% asleep')")
        for question in ("Is Ann's cat asleep?", 'What "AND" (NEAR) 75%*', "cat - NOT cat^"):
            found = db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (any_word(question),)).fetchone()
            assert found == (1,)


def test_the_memory_of_a_process_is_read_from_the_system() -> None:
    used = memory()
    assert 0 < used["private"] < used["resident"]


def test_names_of_files_are_plain() -> None:
    assert [slug(name) for name in STORES] == [
        "memorist", "memorist-extract-off", "chroma", "lancedb", "txtai", "sqlite-vec-fts5",
    ]  # fmt: skip


def result(store: str, factor: float, *modes: str) -> dict[str, object]:
    search = {
        "cold_wall": 2.0 * factor, "cold_processor": 1.0 * factor, "p50": 0.01 * factor, "p95": 0.02 * factor,
        "processor": 0.005 * factor, "resident": 2**30 * factor, "private": 2**27 * factor,
    }  # fmt: skip
    searches = {mode: search | ({"best_ten": 0.987} if mode == VECTOR else {}) for mode in modes}
    spent = {"add_wall": 100.0 * factor, "add_processor": 50.0 * factor, "bytes": 4_000_000 * factor}
    return {"store": store, "memories": 1000, **spent, "searches": searches}


def test_the_table_divides_by_memorist() -> None:
    failed = {"store": "Slow", "memories": 1000, "failed": "did not finish in 25 minutes"}
    results = [failed, result("Other", 2.5, VECTOR), result("Memorist", 1, VECTOR, HYBRID)]
    shown = table(results, ["Memorist", "Other", "Slow"]).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in shown]
    assert {len(row) for row in cells} == {len(HEADER)}
    _, _, vector, hybrid, other, slow = cells
    assert vector == [
        "1,000", "Memorist", "vector", "10", "50.00 ms", "4,000", "2.00 s", "1.00 s", "10.0 ms", "20.0 ms", "5.0 ms",
        "1,024 MB", "128 MB", "0.987",
    ]  # fmt: skip
    assert hybrid[2:6] == ["hybrid", "", "", ""]
    assert other == [
        "1,000", "Other", "vector", "4", "125.00 ms (2.5×)", "10,000 (2.5×)", "5.00 s", "2.50 s (2.5×)",
        "25.0 ms", "50.0 ms", "12.5 ms (2.5×)", "2,560 MB (2.5×)", "320 MB (2.5×)", "0.987",
    ]  # fmt: skip
    assert slow[:3] == ["1,000", "Slow", "did not finish in 25 minutes"]


class Exact:
    """A store that compares every vector."""

    modes: tuple[str, ...] = (VECTOR,)

    def __init__(self, folder: Path, mode: str | None) -> None:
        self._kept = folder.with_suffix(".npz")

    def fill(self, pages: Iterable[Page]) -> None:
        [page] = pages
        np.savez(self._kept, texts=np.array(page.texts), vectors=page.vectors)

    def search(self, text: str, vector: Vectors, best: int = 10) -> list[str]:
        with np.load(self._kept) as kept:
            return kept["texts"][np.argsort(-kept["vectors"] @ vector, kind="stable")[:best]].tolist()

    def close(self) -> None:
        pass


def test_another_store_is_judged_by_the_documents_that_its_texts_are() -> None:
    """The second question finds both of two equal texts, and one of them answers it; the third finds its answer last.

    recall@10 is 1 for all; any@5 is 1, 1 and 0. By session, the third has its answer at rank 2 of the two sessions.
    """
    said = ["yes", "a", "b", "c", "d", "e", "yes"]
    documents = tuple(
        Document(str(place), text, session="first" if place < 5 else "second") for place, text in enumerate(said)
    )
    questions = (
        Question("a?", "a?", {"1": 1.0}),
        Question("yes?", "yes?", {"6": 1.0}),
        Question("e?", "e?", {"5": 1.0}),
    )
    group = Group("talk", documents, questions)
    scores = [[1, 9, 5], [9, 1, 6], [2, 2, 4], [3, 3, 3], [4, 4, 2], [5, 5, 0], [1, 9, 5]]
    [run] = theirs(Exact, [Talk(group, documents, np.array(scores, np.float32), np.eye(3, dtype=np.float32))])
    assert ["".join(answer.ranked) for answer in run.answers] == ["1543206", "0654321", "1062345"]
    overall = summarise(Dataset("talks", (group,), ""), run).overall
    assert table_of_quality({"Exact, vector": overall}).splitlines()[2] == "| Exact, vector | 100.0 | 66.7 | 100.0 |"


def conversation() -> Dataset:
    began = datetime(2024, 5, 1, tzinfo=UTC)
    documents = tuple(
        Document(f"t{place}", text, began + timedelta(hours=place), "Ann", "monday")
        for place, text in enumerate(["so it goes", "what a day", "how odd", "as ever", "", "oh well"])
    )
    questions = tuple(Question(f"q{place}", f"what was {place}", {"t0": 1.0}) for place in range(5))
    return Dataset("talks", (Group("talk", documents, questions),), "")


def test_with_texts_alone_an_exact_store_ranks_as_our_vector_search() -> None:
    dataset, given = texts_alone(conversation()), Given()
    [theirs_found] = theirs(Exact, [talk(group, given) for group in dataset.groups])
    vector, hybrid = ours(dataset, given)
    assert (vector.recipe, hybrid.recipe) == (VECTOR, HYBRID)
    assert [answer.ranked for answer in theirs_found.answers] == [answer.ranked for answer in vector.answers]
    assert len(vector.answers[0].ranked) == 5, "the one without text is not kept"


def test_other_stores_get_a_vector_that_memorist_keeps() -> None:
    [group], given = conversation().groups, Given()
    alone, after = talk(group, given, TEXT), talk(group, given, CONTEXT)
    assert [document.id for document in alone.documents] == ["t0", "t1", "t2", "t3", "t5"]
    assert np.array_equal(alone.vectors[0], after.vectors[0]), "nothing was said before"
    assert not any(np.array_equal(*pair) for pair in zip(alone.vectors[1:], after.vectors[1:], strict=True))


def test_the_page_names_the_versions_that_are_pinned() -> None:
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    pins = (ROOT / "benchmarks" / "rivals" / "requirements.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([\w-]+)==([\d.]+)", pins, re.MULTILINE))
    assert {"chromadb", "lancedb", "txtai", "sqlite-vec"} <= pinned.keys()
    for name in ("chromadb", "lancedb", "txtai", "sqlite-vec"):
        assert f"{name} `{pinned[name]}`" in page
    assert "| `python -m benchmarks.rivals` |" in page
