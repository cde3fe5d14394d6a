"""The whole of the training with a model of two narrow layers; skipped where torch is not installed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")
pytest.importorskip("safetensors")

import base  # noqa: E402
import choose  # noqa: E402
import corpus  # noqa: E402
import fit  # noqa: E402
import numpy as np  # noqa: E402
import recipe  # noqa: E402
import soup  # noqa: E402
import tokens  # noqa: E402
import validation  # noqa: E402
from encoder import Encoder, EncoderConfig, PairScorer, SentenceEncoder  # noqa: E402
from feed import Plan  # noqa: E402
from fit import Settings  # noqa: E402
from lists import ANSWER, MISLEADING, OUTDATED, PART, WRONG  # noqa: E402

pytestmark = pytest.mark.slow

torch.set_num_threads(1)  # small products: threads would only wait for one another

MODELS = Path(__file__).parents[2] / "packages/memorist-models/src/memorist_models"
TINY = EncoderConfig(30522, 32, 64, 2, 4, 256, 2, 1e-12)
CPU = torch.device("cpu")
WORDS = ("kayak", "lantern", "violin", "orchard", "glacier", "compass", "saffron", "tunnel")


def corpus_data() -> dict:
    units = [f"I keep a {word} near the {other}. It was a gift." for word in WORDS for other in WORDS]
    queries = [
        [f"What does @A keep near the {other}?", [place * len(WORDS) + column], [f"a {word}"], [], []]
        for place, word in enumerate(WORDS)
        for column, other in enumerate(WORDS)
    ]
    sources = [
        {"name": name, "kind": kind, "units": units, "grp": [place // 6 for place in range(len(units))],
         "spk": [None] * len(units), "queries": queries}
        for name, kind in (("reddit", "fp"), ("wiki", "chunk"), ("nq", "passage"))
    ]  # fmt: skip
    return {"sources": sources}


class TinyWorkshop(recipe.Workshop):
    """Every base model is the same narrow encoder."""

    def _encoder(self, name: str) -> Encoder:
        torch.manual_seed(0)
        return Encoder(TINY)

    def reranker(self, name: str) -> PairScorer:
        return PairScorer(self._encoder(name)).eval()


@pytest.fixture
def shop(tmp_path: Path) -> TinyWorkshop:
    import lzma

    (tmp_path / "train.json.xz").write_bytes(lzma.compress(json.dumps(corpus_data()).encode()))
    tokenizer = next(MODELS.glob("memorist-embed-*/tokenizer.json"))
    (tmp_path / "tokenizer.json").write_bytes(tokenizer.read_bytes())
    one = Settings(epochs=1, rate=1e-3, negatives=2)
    lengths = recipe.Lengths(one, one, replace(one, distilled=0.5), replace(one, distilled=0.5))
    plan = Plan(block=16, negatives=2, turns=5, most_blocks=2, everyday=4, worlds=1)
    return TinyWorkshop(tmp_path, tmp_path / "made", CPU, plan, lengths)


def test_the_recipe_runs_and_goes_on_where_it_was(shop: TinyWorkshop) -> None:
    recipe.learn(shop)
    made = {file.stem for file in shop.made.glob("*.safetensors")}
    assert made == {"teacher", "finder", "embedder", "reranker", "reranker-best"}
    kept = (shop.made / "teacher.safetensors").stat().st_mtime_ns
    (shop.made / "reranker.safetensors").unlink()
    recipe.learn(shop)
    assert (shop.made / "reranker.safetensors").is_file()
    assert (shop.made / "teacher.safetensors").stat().st_mtime_ns == kept
    choose.choose(shop)
    figures = json.loads((shop.made / "choice.json").read_text(encoding="utf-8"))
    assert {"embedder, α 0.8", "finder, α 1.0", "no reranker", "reranker-best, weight 1.0"} <= set(figures)


def test_a_finished_model_is_read_back_nearly_as_it_was(tmp_path: Path) -> None:
    folder = next(MODELS.glob("memorist-rerank-*"))
    state = base.read_back(folder)
    model = PairScorer(Encoder(recipe.config(recipe.LAYERS["reranker"])))
    model.load_state_dict(state)
    from memorist.models.rerankers.local import CrossReranker

    query, texts = "Where does Alice live?", ["Alice moved to Stockholm.", "The invoice was paid twice."]
    shipped = CrossReranker.from_folder(folder).score(query, texts)
    rows = tokens.joined(
        *(tokens.tokenise(tokens.open_tokenizer(folder / "tokenizer.json"), side) for side in ([query] * 2, texts))
    )
    with torch.inference_mode():
        ours = tokens.run_rows(model.eval(), rows, CPU)[:, 0].tolist()
    assert ours == pytest.approx(shipped, abs=0.3)


def test_contrast_prefers_the_own_positive_and_spares_those_alike() -> None:
    logits = torch.tensor([[9.0, 0.0, 9.0, 0.0], [9.0, 0.0, 9.0, 0.0]])  # two lists of two texts
    truth = torch.tensor([[ANSWER, WRONG]] * 2)
    apart, alike = (fit.info_nce(logits, torch.tensor(same), truth).item() for same in ([0, 1], [0, 0]))
    assert apart == pytest.approx(np.log(2 + 2 * np.exp(-9)), abs=1e-4)
    assert alike == pytest.approx(np.log(1 + 2 * np.exp(-9)), abs=1e-4)


def test_contrast_spares_what_was_true_once_and_skips_lists_without_an_answer() -> None:
    logits = torch.tensor([[9.0, 9.0, 0.0, 0.0], [0.0, 0.0, 9.0, 9.0]])
    same = torch.tensor([0, 1])
    outdated = fit.info_nce(logits, same, torch.tensor([[ANSWER, OUTDATED], [WRONG, WRONG]])).item()
    assert outdated == pytest.approx(
        np.log(1 + 2 * np.exp(-9)), abs=1e-4
    )  # the first list alone, its second text hidden


def test_the_rate_rises_and_falls() -> None:
    rates = [fit.warmed(step, 100) for step in range(100)]
    assert max(rates) == pytest.approx(1.0)
    assert rates.index(max(rates)) in (5, 6)
    assert rates[-1] < 0.02


def test_a_mixture_lies_between() -> None:
    left, right = SentenceEncoder(Encoder(TINY)), SentenceEncoder(Encoder(TINY))
    middle = soup.between(left, right, 0.25).state_dict()
    for name, weight in middle.items():
        torch.testing.assert_close(weight, 0.75 * left.state_dict()[name] + 0.25 * right.state_dict()[name])


def test_rows_come_back_in_their_order_whatever_their_lengths() -> None:
    torch.manual_seed(1)
    scorer = PairScorer(Encoder(TINY)).eval()
    torch.nn.init.normal_(scorer.ranking.out.weight)
    queries, texts = (
        [[2000, 2001]] * 9,
        [list(range(3000, 3000 + length)) for length in (5, 40, 3, 17, 60, 2, 33, 9, 1)],
    )
    with torch.inference_mode():
        together = tokens.run_rows(scorer, tokens.joined(queries, texts), CPU)
        alone = [
            tokens.run_rows(scorer, tokens.joined([query], [text]), CPU)[0, 0].item()
            for query, text in zip(queries, texts, strict=True)
        ]
    assert together[:, 0].tolist() == pytest.approx(alone, abs=1e-5)


def test_a_last_layer_that_reads_for_the_first_token_gives_what_the_whole_layer_gives_it() -> None:
    torch.manual_seed(1)
    encoder = Encoder(TINY).eval()
    ids = torch.randint(1000, 30000, (5, 20))
    mask = torch.arange(20)[None] < torch.tensor([20, 1, 7, 19, 12])[:, None]
    with torch.inference_mode():
        whole = encoder(ids, mask, torch.zeros_like(ids))
        first = encoder(ids, mask, torch.zeros_like(ids), first_only=True)
    torch.testing.assert_close(first, whole[:, :1])


def test_a_reranker_learns_which_text_repeats_the_query() -> None:
    draw = np.random.default_rng(0)
    queries = [draw.integers(1000, 1050, 5).tolist() for _ in range(64)]
    noise = lambda low: draw.integers(low, low + 50, 3).tolist()  # noqa: E731
    texts = [noise(2000) + (query[:3] if place == 0 else noise(1000)) for query in queries for place in range(4)]
    pairs = tokens.joined([query for query in queries for _ in range(4)], texts)
    truth = np.tile(np.array([ANSWER, WRONG, WRONG, WRONG], dtype=np.int8), (64, 1))
    torch.manual_seed(0)
    scorer = PairScorer(Encoder(TINY))

    class Same:
        lists = 64

        def blocks(self, epochs: int, seed: int) -> int:
            return epochs

        def __call__(self, epochs: int, seed: int):
            from feed import Block

            for _ in range(epochs):
                yield Block(tokens.singles(queries), tokens.singles(texts), pairs, 4, np.arange(64), truth)

    fit.fit_rerankers([scorer], Same(), Settings(60, 1e-2), CPU)
    with torch.inference_mode():
        ranking, answering = tokens.run_rows(scorer, pairs, CPU).view(64, 4, 2).unbind(-1)
    assert (ranking.argmax(1) == 0).float().mean() > 0.9
    assert (answering[:, 0] > answering[:, 1:].max(1).values).float().mean() > 0.9


def test_each_kind_of_text_teaches_order_and_judgement_what_it_can() -> None:
    logits = torch.zeros(1, 2, 2)
    settings = Settings(1, 1e-4)
    log2 = float(np.log(2))

    def loss(*truth: int) -> float:
        return fit.list_loss(logits, torch.tensor([truth]), settings).item()

    # Order: −log ½ where something comes first. Judgement, mean of both texts: −log ½, three times where it answers.
    assert loss(ANSWER, WRONG) == pytest.approx(log2 + (3 * log2 + log2) / 2)
    assert loss(WRONG, WRONG) == pytest.approx(log2)
    assert loss(ANSWER, OUTDATED) == pytest.approx(log2 + 3 * log2 / 2)
    assert loss(MISLEADING, WRONG) == pytest.approx(log2 + log2)
    assert loss(PART, WRONG) == pytest.approx(log2 + log2 / 2)


def test_places_are_counted_within_what_is_searched() -> None:
    task = validation.HeldOut(
        "t", "f", {"alone": ["a"] * 4}, ["q", "q"], [frozenset((1,)), frozenset((0, 3))], [range(4)] * 2
    )
    found = validation.outcome(torch.tensor([[0.9, 0.5, 0.1, 0.7], [0.2, 0.9, 0.8, 0.1]]), task)
    assert found.rank.tolist() == [1 / 3, 1 / 3]
    assert found.recall.tolist() == [1.0, 1.0]


def test_small_cuts_of_sources_keep_their_questions_answerable() -> None:
    sources = [corpus._source(cited) for cited in corpus_data()["sources"]]
    for source in corpus.small(sources, units=10, questions=4):
        assert len(source.units) == 10
        assert all(unit < 10 for question in source.questions for unit in question.positives)
