"""The packaged embedder of the set `fast`, really run."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.errors import ModelUnavailable
from memorist.models.embedders.local import OnnxEmbedder, equal_length_batches
from memorist.models.folder import SETS, of_set, packages
from memorist.ports import Embedder

NAME = SETS["fast"].embedder
TEXTS = [
    "Alice moved to Stockholm.",
    "ok",
    "Please never deploy on Fridays, and always run the migration against the staging copy first.",
    "我下周三要去北京出差。",
    "The garden needs water twice a week in summer. " * 40,
    "Bob likes tea",
    "Ann likes tea",
    "",
]


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder.from_folder(of_set("fast", "embedder"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the packaged model that a test may damage."""
    return Path(shutil.copytree(of_set("fast", "embedder"), tmp_path / "my-model"))


def memories(embedder: Embedder, *texts: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    return embedder.embed(texts, purpose="memory")


def edit_manifest(folder: Path, changes: Mapping[str, object]) -> None:
    file = folder / "model.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_shipped_files_have_the_checksums_of_their_manifest() -> None:
    for name, path in {**packages("embedder"), **packages("reranker")}.items():
        manifest = json.loads((path / "model.json").read_text())
        assert manifest["name"] == name
        assert set(manifest["sha256"]) == {"tokenizer.json", *(graph.name for graph in path.glob("*.onnx"))}
        for file, expected in manifest["sha256"].items():
            assert hashlib.sha256((path / file).read_bytes()).hexdigest() == expected


def test_generation_names_model_checksum_and_dimension(embedder: OnnxEmbedder) -> None:
    model = (of_set("fast", "embedder") / "model.onnx").read_bytes()
    assert embedder.generation == f"{NAME}:{hashlib.sha256(model).hexdigest()[:8]}:384"
    assert embedder.dim == 384


def test_a_paraphrase_is_nearer_than_another_subject(embedder: OnnxEmbedder) -> None:
    query = embedder.embed(["Where does Alice live now?"], purpose="query")[0]
    near, far = memories(embedder, "Alice moved to Stockholm.", "The printer on the second floor is out of toner.")
    assert query @ near > query @ far + 0.3


def test_rows_have_length_one_and_keep_the_order(embedder: OnnxEmbedder) -> None:
    rows = memories(embedder, *TEXTS)
    assert rows.shape == (len(TEXTS), 384)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-6)
    backwards = memories(embedder, *reversed(TEXTS))
    assert np.array_equal(rows, backwards[::-1])


def test_a_vector_does_not_depend_on_its_neighbours_to_the_last_bit(embedder: OnnxEmbedder) -> None:
    alone = np.concatenate([memories(embedder, text) for text in TEXTS])
    neighbours = [f"{name} likes tea" for name in ("Eve", "Tom", "Joe", "Sue", "Max", "Kim")]
    together = memories(embedder, *neighbours, *TEXTS, *neighbours)
    assert np.array_equal(together[6:-6], alone)


def test_no_texts_give_no_rows(embedder: OnnxEmbedder) -> None:
    assert memories(embedder).shape == (0, 384)


def test_a_long_text_counts_by_its_beginning(embedder: OnnxEmbedder) -> None:
    page = "the cat sat on the mat and looked out " * 140
    huge = page + "unrelated words about tax law " * 350_000
    assert len(huge) > 10_000_000
    rows = memories(embedder, page, huge)
    assert np.array_equal(rows[0], rows[1])


@pytest.mark.parametrize("text", ["👩‍👩‍👧 🎉", "\ud83d", "a\udc00b", "\x00", "\n\t ", "é" * 300, "漢" * 6000])
def test_odd_texts_have_a_vector(embedder: OnnxEmbedder, text: str) -> None:
    row = memories(embedder, text)[0]
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-6)


def test_surrogate_halves_are_joined(embedder: OnnxEmbedder) -> None:
    # U+1D4D0, a letter outside the basic plane, whole and as the two halves that JSON may deliver.
    whole, halves = memories(embedder, "letter \U0001d4d0", "letter \ud835\udcd0")
    assert np.array_equal(whole, halves)


def test_names_of_special_tokens_in_a_text_are_text(embedder: OnnxEmbedder) -> None:
    written, spelled, none = memories(embedder, "tea [SEP]", "tea [ sep ]", "tea")
    assert np.array_equal(written, spelled)
    assert not np.array_equal(written, none)


def test_progress_adds_up(embedder: OnnxEmbedder) -> None:
    done: list[int] = []
    embedder.embed(TEXTS, purpose="memory", progress=done.append)
    assert sum(done) == len(TEXTS)
    assert len(done) > 1


def test_many_threads_get_the_same_vectors() -> None:
    fresh = OnnxEmbedder.from_folder(of_set("fast", "embedder"))  # so that the threads meet at the loading too
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: memories(fresh, *TEXTS), range(8)))
    assert all(np.array_equal(results[0], other) for other in results[1:])


def test_construction_reads_the_manifest_only() -> None:
    code = (
        "import sys; from memorist.models.embedders import build; e = build('local');"
        "print(e.generation, e.dim); assert not {'onnxruntime', 'tokenizers'} & set(sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_a_folder_without_manifest_works_the_same(folder: Path, embedder: OnnxEmbedder) -> None:
    (folder / "model.json").unlink()
    bare = OnnxEmbedder.from_folder(folder)
    assert bare.generation == embedder.generation.replace(NAME, "my-model")
    assert np.array_equal(memories(bare, *TEXTS), memories(embedder, *TEXTS))


def test_without_a_sentence_output_the_token_states_are_averaged(folder: Path, embedder: OnnxEmbedder) -> None:
    edit_manifest(folder, {"outputs": {"tokens": "tokens"}})
    pooled = OnnxEmbedder.from_folder(folder)
    assert memories(pooled, *TEXTS) == pytest.approx(memories(embedder, *TEXTS), abs=1e-6)


def test_an_output_that_the_graph_lacks_is_named(folder: Path) -> None:
    edit_manifest(folder, {"outputs": {"embedding": "pooler_output"}})
    with pytest.raises(ModelUnavailable, match="no output pooler_output"):
        memories(OnnxEmbedder.from_folder(folder), "tea")


def test_a_family_with_prefixes_reads_them(folder: Path) -> None:
    edit_manifest(folder, {"name": "e5-small"})
    prefixed = OnnxEmbedder.from_folder(folder)
    assert prefixed.generation.endswith(":384:e5")
    query, memory = (prefixed.embed(["tea"], purpose=purpose)[0] for purpose in ("query", "memory"))
    assert not np.array_equal(query, memory)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_refused(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(ModelUnavailable, match=f"{name} differs.*reinstall memorist-models"):
        memories(OnnxEmbedder.from_folder(folder), "tea")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelUnavailable, match=f"no {name}"):
        OnnxEmbedder.from_folder(folder)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="nowhere"):
        OnnxEmbedder.from_folder(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_file_of_another_kind_is_refused(folder: Path, name: str) -> None:
    (folder / "model.json").unlink()
    (folder / name).write_text("this is neither")
    with pytest.raises(ModelUnavailable, match=name):
        memories(OnnxEmbedder.from_folder(folder), "tea")


@pytest.mark.parametrize("text", ["[]", "{", '{"dim": "384"}', '{"max_tokens": 0}', '{"sha256": {"model.onnx": 1}}'])
def test_a_broken_manifest_is_refused(folder: Path, text: str) -> None:
    (folder / "model.json").write_text(text)
    with pytest.raises(ModelUnavailable, match="not a valid model manifest"):
        OnnxEmbedder.from_folder(folder)


def test_a_manifest_with_another_dimension_is_refused(folder: Path) -> None:
    edit_manifest(folder, {"dim": 512})
    with pytest.raises(ModelUnavailable, match="384 numbers, its manifest says 512"):
        memories(OnnxEmbedder.from_folder(folder), "tea")


def test_batches_hold_one_length_and_few_tokens() -> None:
    assert equal_length_batches([3, 5, 3, 3, 9], tokens=6) == [[4], [1], [0, 2], [3]]
    assert equal_length_batches([3, 3], tokens=0) == [[0], [1]]


@given(st.lists(st.integers(0, 256), max_size=80), st.integers(0, 512))
def test_batches_hold_every_text_once(lengths: Sequence[int], tokens: int) -> None:
    batches = equal_length_batches(lengths, tokens)
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len({lengths[place] for place in batch}) == 1
        assert len(batch) == 1 or sum(lengths[place] for place in batch) <= tokens or lengths[batch[0]] == 0
