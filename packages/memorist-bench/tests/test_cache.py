"""The caches of vectors and scores: ask a model once, survive whatever happens to their files."""

from __future__ import annotations

from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.errors import InvalidInput, ModelUnavailable
from memorist.ports import Purpose, Reading
from memorist.testing.fakes import FakeEmbedder
from memorist_bench.cache import BATCH, StoredEmbedder, StoredReranker

TEXTS = ["The cat sleeps.", "Bread is baked.", "The cat sleeps.", "Lisbon in October."]


class Counting(FakeEmbedder):
    """A model that remembers what it was asked."""

    def __init__(self, name: str = "counting", dim: int = 64) -> None:
        super().__init__(dim)
        self.asked: list[str] = []
        self._name = name

    @property
    def generation(self) -> str:
        return self._name

    def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Any = None) -> Any:
        self.asked += texts
        return super().embed(texts, purpose=purpose, progress=progress)


def file_in(folder: Path) -> Path:
    (file,) = (folder / "embeddings").iterdir()
    return file


def fill(folder: Path, texts: Sequence[str] = TEXTS) -> Any:
    return StoredEmbedder(Counting(), folder).embed(texts, purpose="memory")


def test_a_model_is_asked_once_for_each_text_ever(tmp_path: Path) -> None:
    model = Counting()
    first = StoredEmbedder(model, tmp_path).embed(TEXTS, purpose="memory")
    assert model.asked == [TEXTS[0], TEXTS[1], TEXTS[3]]
    model.asked.clear()
    second = StoredEmbedder(model, tmp_path).embed([*TEXTS, "New."], purpose="memory")
    assert model.asked == ["New."]
    assert np.array_equal(first, second[:4])  # to the last bit, though one came from the model and one from disk


def test_vectors_stay_near_those_of_the_model_and_of_length_one(tmp_path: Path) -> None:
    rows = fill(tmp_path)
    assert rows.dtype == np.float32
    assert np.abs(rows - FakeEmbedder().embed(TEXTS, purpose="memory")).max() < 1e-3
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


def test_models_and_purposes_are_kept_apart(tmp_path: Path) -> None:
    fill(tmp_path)
    other = Counting("other")
    StoredEmbedder(other, tmp_path).embed(TEXTS, purpose="memory")
    assert len(other.asked) == 3
    model = Counting()
    stored = StoredEmbedder(model, tmp_path, queries=True)
    stored.embed(TEXTS[:1], purpose="query")
    assert model.asked == TEXTS[:1]
    stored.embed(TEXTS[:1], purpose="query")
    assert model.asked == TEXTS[:1]


def test_queries_are_embedded_live_unless_wanted_otherwise(tmp_path: Path) -> None:
    model = Counting()
    stored = StoredEmbedder(model, tmp_path)
    for _ in range(2):
        stored.embed(["Where?"], purpose="query")
    assert model.asked == ["Where?"] * 2
    assert not (tmp_path / "embeddings").exists()


def test_it_passes_for_its_embedder_and_tells_its_progress(tmp_path: Path) -> None:
    stored, told = StoredEmbedder(Counting(dim=8), tmp_path), list[int]()
    assert (stored.generation, stored.dim) == ("counting", 8)
    stored.embed(TEXTS, purpose="memory", progress=told.append)
    assert told == [4]
    assert stored.embed([], purpose="memory").shape == (0, 8)


def test_a_killed_process_loses_a_batch_at_most(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(BATCH + 5)]

    class Dying(Counting):
        def embed(self, texts: Sequence[str], *, purpose: Purpose, progress: Any = None) -> Any:
            if self.asked:
                raise KeyboardInterrupt
            return super().embed(texts, purpose=purpose, progress=progress)

    with pytest.raises(KeyboardInterrupt):
        StoredEmbedder(Dying(), tmp_path).embed(texts, purpose="memory")
    model = Counting()
    StoredEmbedder(model, tmp_path).embed(texts, purpose="memory")
    assert model.asked == texts[BATCH:]


def test_what_follows_a_half_written_row_is_read_again(tmp_path: Path) -> None:
    fill(tmp_path, TEXTS[:2])
    file = file_in(tmp_path)
    file.write_bytes(file.read_bytes()[:-9])
    fill(tmp_path, TEXTS)
    model = Counting()
    StoredEmbedder(model, tmp_path).embed(TEXTS, purpose="memory")
    assert model.asked == []


@given(data=st.data())
def test_no_damage_leads_to_a_wrong_vector(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("cache")
    whole = fill(folder)
    file = file_in(folder)
    content = bytearray(file.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    file.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    for _ in range(2):
        assert np.array_equal(fill(folder), whole)


def test_a_file_that_is_something_else_is_no_harm(tmp_path: Path) -> None:
    whole = fill(tmp_path)
    file_in(tmp_path).write_text("not vectors at all\n" * 50)
    assert np.array_equal(fill(tmp_path), whole)
    model = Counting()
    StoredEmbedder(model, tmp_path).embed(TEXTS, purpose="memory")
    assert model.asked == []


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "embeddings").write_text("a file where a folder should be")
    with pytest.raises(InvalidInput, match="embeddings.*cannot be used.*--cache"):
        fill(tmp_path)


# Scores of a reranker

ASKED = "Where does the cat sleep?"


class Reader:
    """A reranker that remembers what it was asked; its scores are no float32 numbers."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked += [(query, text) for text in texts]
        return [len(query) + len(text) / 3 for text in texts]


def scores(folder: Path, query: str = ASKED, texts: Sequence[str] = TEXTS, reader: Reader | None = None) -> list[float]:
    return StoredReranker(reader or Reader(), folder, "reader:1").score(query, texts)


def scores_in(folder: Path) -> Path:
    (file,) = (folder / "rerankings").iterdir()
    return file


def test_a_reranker_reads_each_pair_once_ever(tmp_path: Path) -> None:
    reader = Reader()
    first = scores(tmp_path, reader=reader)
    assert reader.asked == [(ASKED, TEXTS[0]), (ASKED, TEXTS[1]), (ASKED, TEXTS[3])]
    reader.asked.clear()
    assert scores(tmp_path, texts=[*TEXTS, "New."], reader=reader)[:4] == first  # to the last bit
    scores(tmp_path, query="Who?", texts=TEXTS[:1], reader=reader)
    assert reader.asked == [(ASKED, "New."), ("Who?", TEXTS[0])]
    assert first == [float(np.float32(score)) for score in Reader().score(ASKED, TEXTS)]


def test_rerankers_are_kept_apart(tmp_path: Path) -> None:
    scores(tmp_path)
    other = Reader()
    StoredReranker(other, tmp_path, "reader:2").score(ASKED, TEXTS)
    assert len(other.asked) == 3


def test_a_reading_takes_twenty_four_bytes(tmp_path: Path) -> None:
    scores(tmp_path)
    assert scores_in(tmp_path).stat().st_size == 3 * 24


def test_what_a_reranker_judges_is_kept_too(tmp_path: Path) -> None:
    class Judging(Reader):
        def read(self, query: str, texts: Sequence[str]) -> list[Reading]:
            return [Reading(score, score / 2) for score in self.score(query, texts)]

    def readings(reader: Reader) -> list[Reading]:
        return StoredReranker(reader, tmp_path, "judging:1").read(ASKED, ["one", "three"])

    first = readings(Judging())
    assert all(reading.answers == reading.score / 2 for reading in first)
    assert readings(Reader()) == first  # from the file


def test_a_reranker_that_refuses_leaves_nothing_behind(tmp_path: Path) -> None:
    class Refusing(Reader):
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            raise ModelUnavailable("It does not read this.", remedy="Ask another.")

    with pytest.raises(ModelUnavailable):
        scores(tmp_path, reader=Refusing())
    assert not (tmp_path / "rerankings").exists()
    assert scores(tmp_path, texts=[]) == []


@given(data=st.data())
def test_no_damage_leads_to_a_wrong_score(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("cache")
    whole = scores(folder)
    content = bytearray(scores_in(folder).read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    scores_in(folder).write_bytes(content[: data.draw(st.integers(0, len(content)))])
    for _ in range(2):
        assert scores(folder) == whole


# Both


def _fill_many(folder: Path, start: int) -> None:
    embedder, reranker = StoredEmbedder(Counting(), folder), StoredReranker(Reader(), folder, "reader:1")
    for number in range(start, start + 40):
        embedder.embed([f"text {number}"], purpose="memory")
        reranker.score(ASKED, [f"text {number}", f"text {number + 1}"])


@pytest.mark.slow
def test_processes_can_share_the_files(tmp_path: Path) -> None:
    context = get_context("spawn")
    workers = [context.Process(target=_fill_many, args=(tmp_path, start)) for start in (0, 20)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    model, reader, texts = Counting(), Reader(), [f"text {number}" for number in range(60)]
    rows = StoredEmbedder(model, tmp_path).embed(texts, purpose="memory")
    assert scores(tmp_path, texts=texts, reader=reader) == scores(tmp_path / "fresh", texts=texts)
    assert model.asked == reader.asked == []
    assert np.array_equal(rows, StoredEmbedder(Counting(), tmp_path / "fresh").embed(texts, purpose="memory"))
