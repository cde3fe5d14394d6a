"""The int8 graphs against the models they were written from; skipped where torch is not installed."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

import calibrate  # noqa: E402
from encoder import Encoder, EncoderConfig, PairScorer, SentenceEncoder  # noqa: E402
from graph import embedder_graph, scorer_graphs  # noqa: E402

from memorist.models.folder import onnx_runtime  # noqa: E402

pytestmark = pytest.mark.slow

TINY = EncoderConfig(30522, 32, 64, 2, 4, 256, 2, 1e-12)
LENGTH = 24


def rows(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(1000, 30000, (count, LENGTH))


def seen(model: torch.nn.Module) -> dict[str, calibrate.Span]:
    types = [0] * (LENGTH // 2) + [1] * (LENGTH // 2)
    return calibrate.spans(model, ((ids, types) for ids in rows(40, 0).tolist()))


def session(graph):
    return onnx_runtime().InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])


def test_an_embedder_in_int8_gives_nearly_the_same_vectors_and_the_same_bits_in_any_batch() -> None:
    torch.manual_seed(2)
    model = SentenceEncoder(Encoder(TINY)).eval()
    run = session(embedder_graph(model, seen(model), LENGTH))
    ids = rows(30, 1)
    with torch.inference_mode():
        exact = model(torch.from_numpy(ids), torch.ones(ids.shape), torch.zeros(ids.shape, dtype=torch.long))[0].numpy()
    found = run.run(["embedding"], {"input_ids": ids})[0]
    assert (found * exact).sum(axis=1).min() > 0.97
    for place in (0, 17):
        alone = run.run(["embedding"], {"input_ids": ids[place : place + 1]})[0][0]
        assert alone.tobytes() == found[place].tobytes()


def test_a_scorer_in_int8_scores_like_the_float_model_with_the_same_bits_in_any_batch() -> None:
    torch.manual_seed(2)
    model = PairScorer(Encoder(TINY)).eval()
    for head in (model.ranking, model.answering):
        torch.nn.init.normal_(head.out.weight)
    reading, end = map(session, scorer_graphs(model, seen(model), LENGTH))
    ids, types = rows(40, 1), (np.arange(LENGTH) >= LENGTH // 2).astype(np.int64)[None].repeat(40, axis=0)
    with torch.inference_mode():
        exact = model(torch.from_numpy(ids), torch.ones(ids.shape), torch.from_numpy(types)).numpy()
    state, mixed = reading.run(["state", "mixed"], {"input_ids": ids, "token_type_ids": types})
    found = end.run(["score", "answers"], {"state": state, "mixed": mixed})
    for place, values in enumerate(found):
        assert np.corrcoef(values, exact[:, place])[0, 1] > 0.95
    alone = reading.run(["state", "mixed"], {"input_ids": ids[7:8], "token_type_ids": types[7:8]})
    (score,), (answers,) = end.run(["score", "answers"], dict(zip(("state", "mixed"), alone, strict=True)))
    assert (score, answers) == (found[0][7], found[1][7])


def test_a_scorer_that_reads_the_mean_is_refused() -> None:
    with pytest.raises(ValueError, match="first state alone"):
        scorer_graphs(PairScorer(Encoder(TINY), mean=True), {}, LENGTH)
