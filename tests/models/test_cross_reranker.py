"""The packaged cross-encoder, really run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import memorist
from memorist.engine.engine import Engine
from memorist.errors import InvalidInput, ModelUnavailable
from memorist.model import Recall, Step
from memorist.models.embedders import build as build_embedder
from memorist.models.folder import SETS, ModelFolder, of_set, packages
from memorist.models.rerankers import build
from memorist.models.rerankers.local import QUERY_TOKENS, CrossReranker
from memorist.ports import Reranker
from memorist.testing.fakes import FakeClock
from memorist.text.words import NOT_ENGLISH
from tests.models.tiny_models import write_model

NAME = SETS["fast"].reranker
MOVED = "[8 May 2023] Alice: I have moved to Stockholm with my family."
UNRELATED = "[8 May 2023] Bob: The importer failed again last night with a timeout."


@pytest.fixture(scope="module")
def reranker() -> Reranker:
    built = build(f"local:{NAME}")
    assert built is not None
    return built


@pytest.mark.parametrize("query", ["Where does Alice live?", "Alice lives in Stockholm.", "alice stockholm move"])
def test_what_answers_comes_before_what_does_not(reranker: Reranker, query: str) -> None:
    answer, other = reranker.score(query, [MOVED, UNRELATED])
    assert answer > other


def test_the_speaker_asked_for_comes_first(reranker: Reranker) -> None:
    said = "I have moved to Stockholm with my family."
    alice, bob = reranker.score("Where does Alice live?", [f"Alice: {said}", f"Bob: {said}"])
    assert alice > bob


def test_a_logit_does_not_depend_on_the_other_texts(reranker: Reranker) -> None:
    texts = [MOVED, UNRELATED, "ok", "The garden needs water. " * 200, ""]
    together = list(reranker.score("Where does Alice live?", texts))
    assert together == [reranker.score("Where does Alice live?", [text])[0] for text in texts]
    assert reranker.score("Where does Alice live?", []) == []


def test_of_a_long_query_the_end_is_read(reranker: Reranker) -> None:
    long = " word" * QUERY_TOKENS
    assert reranker.score("Stockholm" + long, [MOVED]) == reranker.score("timeout" + 20 * long, [MOVED])
    assert reranker.score("Stockholm", [MOVED]) != reranker.score("timeout", [MOVED])


def test_a_query_of_more_tokens_than_the_model_reads_is_no_error(reranker: Reranker) -> None:
    assert len(reranker.score("1,000 " * 3000, ["Herons", "Oslo"])) == 2


@pytest.mark.parametrize("question", ["爱丽丝现在住在哪里", "Wo wohnt Alice jetzt?", "¿Dónde vive Alice ahora?"])
def test_a_language_it_does_not_read_is_refused(question: str) -> None:
    reranker = CrossReranker.from_folder(of_set("fast", "reranker"), unread=NOT_ENGLISH)
    with pytest.raises(ModelUnavailable, match="language"):
        reranker.score(question, [MOVED])


def test_a_reranker_is_no_embedder_and_an_embedder_no_reranker() -> None:
    assert NAME not in packages("embedder")
    assert NAME in packages("reranker")
    with pytest.raises(InvalidInput, match="no local embedder"):
        build_embedder(f"local:{NAME}")
    with pytest.raises(InvalidInput, match="no local reranker"):
        build(f"local:{SETS['fast'].embedder}")


def test_an_embedder_opened_as_a_reranker_is_unusable() -> None:
    with pytest.raises(ModelUnavailable, match="no output score"):
        CrossReranker.from_folder(of_set("fast", "embedder")).score("a", ["b"])


def test_both_parts_of_the_model_must_be_there_and_undamaged(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(of_set("fast", "reranker"), tmp_path / "model"))
    end = folder / "end.onnx"
    end.write_bytes(end.read_bytes()[:-1] + b"?")
    with pytest.raises(ModelUnavailable, match="end.onnx differs from the checksum"):
        CrossReranker.from_folder(folder).score("a", ["b"])
    end.unlink()
    with pytest.raises(ModelUnavailable, match="no output score, only state, mixed"):
        CrossReranker.from_folder(folder).score("a", ["b"])


def test_a_second_part_that_wants_what_the_first_does_not_give_is_unusable(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    write_model(folder, "reranker", seed=1)
    shutil.copyfile(folder / "model.onnx", folder / "end.onnx")
    with pytest.raises(ModelUnavailable, match="it wants the input input_ids, we give score"):
        CrossReranker.from_folder(folder).score("ann", ["lamp"])


def test_a_model_in_one_part_gives_the_logit_of_each_text_whatever_its_length(tmp_path: Path) -> None:
    write_model(tmp_path / "model", "reranker", seed=1)
    reranker = CrossReranker.from_folder(tmp_path / "model")
    texts = ["lamp", "a fox", "ben keeps a lamp", "fox"]
    assert reranker.score("ann", texts) == [reranker.score("ann", [text])[0] for text in texts]
    assert len(set(reranker.score("ann", texts))) == 4


def test_a_manifest_with_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(of_set("fast", "reranker"), tmp_path / "model"))
    manifest = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    (folder / "model.json").write_text(json.dumps(manifest | {"kind": "poet"}))
    with pytest.raises(ModelUnavailable, match="kind is 'poet'. It must be one of embedder, reranker"):
        CrossReranker.from_folder(folder)


def test_our_embedder_is_one_setting_away() -> None:
    built = build_embedder(f"local:{SETS['fast'].embedder}")
    assert built is not None
    assert built.generation.startswith(f"{SETS['fast'].embedder}:")
    assert built.dim == 384
    rows = built.embed([MOVED, UNRELATED], purpose="memory")
    (query,) = built.embed(["Where does Alice live?"], purpose="query")
    assert rows[0] @ query > rows[1] @ query


# The setting


def test_auto_and_local_are_the_packaged_cross_encoder_loaded_once() -> None:
    assert build("auto") is build("local") is build(f"local:{NAME}")
    assert build("none") is None


def test_local_takes_a_packaged_reranker_and_no_options() -> None:
    with pytest.raises(InvalidInput, match="no local reranker 'some-model'"):
        build("local:some-model")
    with pytest.raises(InvalidInput, match="no option 'url'"):
        build("local", options={"url": "http://127.0.0.1"})


# The recipes


@pytest.fixture(scope="module")
def memory() -> Iterator[Engine]:
    texts = (
        "Alice asked Bo which of the two offices is nearer to the station.",
        "Bo: home is where Alice is.",
        "Alice's door code is on the fridge.",
        "Alice, Alice, Alice.",
        "Since June Alice has lived in a flat in Stockholm.",
        "Bo lives in Tokyo with two cats.",
        "The importer failed again last night with a timeout.",
    )
    with memorist.open(":memory:", config={}, clock=FakeClock()) as engine:
        engine.remember_many(texts)
        yield engine


def step(found: Recall, stage: str) -> Step:
    return next(step for step in found.trace.steps if step.stage == stage)


@pytest.mark.parametrize(
    ("recipe", "before", "stage"),
    [("memoria", "rrf", "rerank"), ("mnemo", "normalise", "rerank"), ("memorist", "neighbour_boost", "rerank_blend")],
)
def test_recipes_read_their_candidates_again_by_default(memory: Engine, recipe: str, before: str, stage: str) -> None:
    found = memory.recall("What city did Alice move to?", recipe=recipe, track=False)
    given, read = step(found, before), step(found, stage)
    assert read.skipped is None
    assert [candidate.score for candidate in given.candidates] != [candidate.score for candidate in read.candidates]
    assert sorted(candidate.memory.id for candidate in given.candidates) == sorted(
        candidate.memory.id for candidate in read.candidates
    )
    assert found.items[0].memory.text == "Since June Alice has lived in a flat in Stockholm."


@pytest.mark.parametrize(
    ("recipe", "stage"), [("memoria", "rerank"), ("mnemo", "rerank"), ("memorist", "rerank_blend")]
)
def test_a_question_in_another_script_keeps_its_order(memory: Engine, recipe: str, stage: str) -> None:
    found = memory.recall("Где живёт Alice в Стокгольме?", recipe=recipe, track=False)
    assert step(found, stage).skipped == "The local reranker does not read the language of this question"
    assert found.items


def test_models_with_the_same_tokenizer_share_it_unless_a_file_is_damaged(tmp_path: Path) -> None:
    embedder, reranker = ModelFolder(of_set("fast", "embedder")), ModelFolder(of_set("fast", "reranker"))
    assert embedder.open_tokenizer() is reranker.open_tokenizer()
    copy = Path(shutil.copytree(of_set("fast", "reranker"), tmp_path / "copy"))
    (copy / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelUnavailable, match="differs from the checksum"):
        ModelFolder(copy).open_tokenizer()
