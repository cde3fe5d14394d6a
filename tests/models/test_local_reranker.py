from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorist
import memorist_models
from memorist.engine.engine import Engine
from memorist.errors import InvalidInput, ModelUnavailable
from memorist.model import Recall, Step
from memorist.models.embedders.local import OnnxEmbedder
from memorist.models.rerankers import build
from memorist.models.rerankers.local import EVEN, SLOPE, MaxSimReranker, StatesCache, counting, max_sim
from memorist.ports import Reranker
from memorist.testing.fakes import FakeClock
from memorist.text.words import NOT_LATIN

if TYPE_CHECKING:
    from memorist.ports import Vector

QUESTION = "Where does Alice live now?"
MOVED = "Alice has moved to Stockholm with her family."
UNRELATED = "The importer failed again last night with a timeout."

# Unit vectors in the plane, so that cosines can be worked by hand.
PLANE = {"tea": (1.0, 0.0), "milk": (0.0, 1.0), "chai": (0.8, 0.6), "cream": (0.6, 0.8), "rain": (-1.0, 0.0)}


class Words:
    """One token a word, and one a sign; what it was asked is kept."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def token_states(self, texts: Sequence[str]) -> list[Vector]:
        self.asked.append(tuple(texts))
        return [self._states(text) for text in texts]

    def _states(self, text: str) -> Vector:
        tokens = text.lower().replace("?", " ? ").split()
        rows = [PLANE.get(token, (0.0, -1.0)) for token in tokens]
        return np.array(rows, dtype=np.float32).reshape(len(tokens), 2)

    @property
    def read(self) -> list[str]:
        return [text for texts in self.asked for text in texts]


def similarity(logit: float) -> float:
    return logit / SLOPE + EVEN


@pytest.fixture
def words() -> Words:
    return Words()


@pytest.fixture(scope="module")
def reranker() -> Reranker:
    built = build("local")
    assert built is not None
    return built


# The formula


def test_max_sim_is_the_mean_of_the_largest_cosines() -> None:
    query = np.array([PLANE["tea"], PLANE["milk"]], dtype=np.float32)
    text = np.array([PLANE["chai"], PLANE["rain"]], dtype=np.float32)
    # tea: max(0.8, −1) = 0.8; milk: max(0.6, 0) = 0.6
    assert max_sim(query, text) == pytest.approx(0.7)
    assert max_sim(text, query) == pytest.approx((0.8 + 0.0) / 2)
    assert max_sim(query, text[:0]) == 0.0


def test_scores_are_logits_of_the_similarity(words: Words) -> None:
    both, one, none = MaxSimReranker(words).score("tea milk", ["chai cream", "tea", "rain"])
    # 0.5 · (0.8 + 0.8); 0.5 · (1 + 0); 0.5 · (−1 + 0)
    assert [similarity(logit) for logit in (both, one, none)] == pytest.approx([0.8, 0.5, -0.5], abs=1e-3)
    assert both == pytest.approx(10.5 * (0.8 - 0.89), abs=1e-2)


@pytest.mark.slow
def test_sigmoids_add_up_to_the_number_of_answers(data: Path) -> None:
    texts, questions, answers = locomo(data / "eval" / "locomo", "conv-26")
    expected = found = 0.0
    with memorist.open(":memory:", recipe="memoria", reranker="local", clock=FakeClock()) as engine:
        engine.remember_many({"key": key, "text": text} for key, text in texts.items())
        for question, text in list(questions.items())[::2]:
            items = engine.recall(text, limit=30, track=False).items
            expected += sum(item.score for item in items)
            found += sum((question, item.memory.origin.key) in answers for item in items)
    assert 0.6 < expected / found < 1.6


def locomo(folder: Path, group: str) -> tuple[dict[str, str], dict[str, str], set[tuple[str, str]]]:
    """The texts and the questions of a conversation by key, and which text answers which question."""

    def texts(file: str) -> dict[str, str]:
        rows = map(json.loads, (folder / file).read_text(encoding="utf-8").splitlines())
        return {row["_id"]: row["text"] for row in rows if row["metadata"]["group"] == group}

    pairs = (line.split("\t") for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines())
    return texts("corpus.jsonl"), texts("queries.jsonl"), {(question, text) for question, text, _ in pairs}


# What counts


def test_signs_and_stop_words_of_the_query_do_not_count(words: Words) -> None:
    reranker = MaxSimReranker(words)
    plain, asked = (reranker.score(query, ["chai", "milk"]) for query in ("tea", "What is the tea?"))
    assert asked == plain


def test_stop_words_count_when_nothing_else_is_left(words: Words) -> None:
    (logit,) = MaxSimReranker(words).score("what is the?", ["milk"])
    assert similarity(logit) == pytest.approx(-1.0, abs=1e-3)  # an unknown word points away from milk


@pytest.mark.parametrize("query", ["", "   ", "?", "?! …"])
def test_a_query_of_which_nothing_counts_scores_zero(words: Words, reranker: Reranker, query: str) -> None:
    assert list(MaxSimReranker(words).score(query, ["tea", "milk"])) == [0.0, 0.0]
    assert list(reranker.score(query, ["tea", "milk"])) == [0.0, 0.0]


def test_pieces_count_by_their_words() -> None:
    pieces = [["what"], ["alice"], [], ["s", "home"]]
    assert counting(pieces, {"what", "s"}) == [False, True, False, True]
    assert counting([["what"], []], {"what"}) == [True, False]
    assert counting([], ()) == []


def test_possessives_and_negations_do_not_count(reranker: Reranker) -> None:
    query = "Didn't Alice's family move?"
    asked, moved = plain().token_states([query, MOVED])
    assert len(asked) == 9  # didn ' t alice ' s family move ?
    (logit,) = reranker.score(query, [MOVED])
    assert similarity(logit) == pytest.approx(max_sim(asked[[3, 6, 7]], moved), abs=1e-3)


def test_all_of_a_query_counts_when_its_tokens_are_not_those_of_its_pieces() -> None:
    class Joining(Words):
        def _states(self, text: str) -> Vector:
            return super()._states(text.replace("the ", ""))

    (logit,) = MaxSimReranker(Joining()).score("the tea is", ["tea"])
    # tea 1, is 0: with three pieces and two tokens nothing tells which is the stop word
    assert similarity(logit) == pytest.approx(0.5, abs=1e-3)


# The packaged model


def test_a_paraphrase_is_above_the_unrelated(reranker: Reranker) -> None:
    moved, unrelated, same = reranker.score(QUESTION, [MOVED, UNRELATED, QUESTION])
    assert unrelated < moved < same
    assert same == pytest.approx(SLOPE * (1 - EVEN), abs=0.05)


def test_scores_are_the_same_whatever_is_read_with_a_text_and_before_it(reranker: Reranker) -> None:
    texts = [MOVED, UNRELATED, "tea", MOVED]
    together = reranker.score(QUESTION, texts)
    fresh = MaxSimReranker(plain())
    assert [fresh.score(QUESTION, [text])[0] for text in reversed(texts)] == list(reversed(together))
    assert reranker.score(QUESTION, texts) == together


def test_threads_share_a_reranker(words: Words) -> None:
    reranker = MaxSimReranker(words, cache_bytes=700)  # room for three texts, so that they push each other out
    texts = [*PLANE, "tea milk", "chai cream rain"]
    expected = {query: MaxSimReranker(Words()).score(query, texts) for query in PLANE}
    queries = list(PLANE) * 40
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(reranker.score, queries, repeat(texts))
        assert all(scores == expected[query] for query, scores in zip(queries, found, strict=True))


def test_no_texts_no_scores(words: Words) -> None:
    assert MaxSimReranker(words).score("tea", []) == []
    assert words.asked == []


def test_a_text_without_tokens_is_below_the_others(reranker: Reranker) -> None:
    empty, blank, unrelated = reranker.score(QUESTION, ["", " \n", UNRELATED])
    assert empty == blank == pytest.approx(-SLOPE * EVEN)
    assert unrelated > empty


def test_a_text_of_megabytes_counts_by_its_beginning(reranker: Reranker) -> None:
    page = f"{MOVED} {UNRELATED * 200}"
    long, short = reranker.score(QUESTION, [page + "x" * 10_000_000, page])
    assert long == short
    assert len(reranker.score("Where is Alice? " * 600_000, [MOVED])) == 1


def plain() -> OnnxEmbedder:
    return OnnxEmbedder.from_folder(memorist_models.path(memorist_models.PLAIN))


ANY_SCRIPT = MaxSimReranker(plain())


@given(st.text(), st.lists(st.text(), max_size=3))
def test_any_text_gets_a_finite_score(query: str, texts: list[str]) -> None:
    scores = ANY_SCRIPT.score(query, texts)
    assert len(scores) == len(texts)
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("text", ["🎉", "🎉🎉 party 👩‍👩‍👧", "\ud83d", "a\u0301 b", "user_id=42"])
def test_emoji_and_odd_characters_are_scored(reranker: Reranker, text: str) -> None:
    assert np.isfinite(reranker.score(text, [text, MOVED])).all()
    assert np.isfinite(reranker.score(QUESTION, [text])).all()


@pytest.mark.parametrize(
    "query", ["爱丽丝住在哪里?", "アリスはどこに住んでいますか", "Где живёт Алиса?", "Πού μένει η Αλίκη;"]
)
def test_a_script_that_the_model_does_not_read_is_refused(reranker: Reranker, query: str) -> None:
    with pytest.raises(ModelUnavailable, match="does not read the script"):
        reranker.score(query, [MOVED])
    assert len(MaxSimReranker(plain()).score(query, [MOVED])) == 1


@pytest.mark.parametrize("query", ["Wo wohnt Alice jetzt?", "What does 東京 mean?", "42", "🎉"])
def test_what_has_latin_letters_or_none_is_read(words: Words, query: str) -> None:
    assert len(MaxSimReranker(words, unread=NOT_LATIN).score(query, ["tea"])) == 1


# What is kept


def test_texts_and_queries_are_read_once(words: Words) -> None:
    reranker = MaxSimReranker(words)
    first = reranker.score("tea?", ["chai", "rain", "chai"])
    assert reranker.score("tea?", ["rain", "chai", "cream"])[:2] == [first[1], first[0]]
    assert sorted(words.read) == ["?", "chai", "cream", "rain", "tea", "tea?"]


def test_new_texts_are_read_in_one_call(words: Words) -> None:
    reranker = MaxSimReranker(words)
    reranker.score("tea", ["chai"])
    words.asked.clear()
    reranker.score("tea", ["chai", "rain", "cream"])
    assert words.asked == [("rain", "cream")]


def test_a_full_cache_drops_what_was_unused_longest() -> None:
    rows = np.zeros((10, 10), dtype=np.float32)  # 400 bytes and 200 for the entry
    cache = StatesCache(1200)
    cache.keep({b"a": rows, b"b": rows})
    cache.known([b"a"])
    cache.keep({b"c": rows})
    assert list(cache.known([b"a", b"b", b"c"])) == [b"a", b"c"]
    cache.keep({b"a": rows, b"c": rows})  # known ones take no more room
    assert list(cache.known([b"a", b"c"])) == [b"a", b"c"]


def test_states_without_rows_fill_a_cache_too() -> None:
    cache = StatesCache(1000)
    keys = [bytes([number]) for number in range(100)]
    for key in keys:
        cache.keep({key: np.zeros((0, 2), dtype=np.float16)})
    assert list(cache.known(keys)) == keys[-5:]


def test_what_is_larger_than_the_cache_is_scored_and_not_kept(words: Words) -> None:
    reranker = MaxSimReranker(words, cache_bytes=0)
    assert reranker.score("tea", ["chai"]) == reranker.score("tea", ["chai"])
    assert words.read.count("chai") == 2


# The setting


def test_local_takes_a_packaged_reranker_and_no_options() -> None:
    with pytest.raises(InvalidInput, match="no local model 'some-model'"):
        build("local:some-model")
    with pytest.raises(InvalidInput, match="no option 'url'"):
        build("local", options={"url": "http://127.0.0.1"})


# The recipe


@pytest.fixture
def memory() -> Iterator[Engine]:
    texts = (
        "Alice asked Bo which of the two offices is nearer to the station.",
        "Bo: home is where Alice is.",
        "Alice's door code is on the fridge.",
        "Alice, Alice, Alice.",
        "Since June Alice has lived in a flat in Stockholm.",
        "Bo lives in Tokyo with two cats.",
        UNRELATED,
    )
    with memorist.open(":memory:", recipe="memoria", reranker="local", clock=FakeClock()) as engine:
        engine.remember_many(texts)
        yield engine


def step(found: Recall, stage: str) -> Step:
    return next(step for step in found.trace.steps if step.stage == stage)


def test_memoria_reads_its_candidates_again(memory: Engine) -> None:
    found = memory.recall("What city did Alice move to?")
    before, after = step(found, "rrf"), step(found, "rerank")
    assert after.skipped is None
    old, new = ([one.memory.id for one in made.candidates] for made in (before, after))
    assert old != new
    assert sorted(old) == sorted(new)
    assert found.items[0].memory.text == "Since June Alice has lived in a flat in Stockholm."
    assert all(0 < item.score < 1 for item in found.items)


def test_a_question_in_another_script_keeps_its_order(memory: Engine) -> None:
    found = memory.recall("Где живёт Alice в Стокгольме?")
    assert step(found, "rerank").skipped == "The local reranker does not read the script of this question"
    assert step(found, "rerank").candidates == step(found, "rrf").candidates != ()
