"""The list reader: its tensors, its loss and its graph; skipped where torch is not installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

import calibrate  # noqa: E402
from encoder import Encoder, EncoderConfig  # noqa: E402
from graph import lists_graph  # noqa: E402
from list_reader import ListScorer, batch, fitting, loss_of  # noqa: E402
from read_lists import ReadList  # noqa: E402
from tokens import open_tokenizer  # noqa: E402

from memorist.models.folder import onnx_runtime  # noqa: E402
from memorist.models.rerankers import lists  # noqa: E402

pytestmark = pytest.mark.slow

MODELS = Path(__file__).parents[2] / "packages/memorist-models/src/memorist_models"
TINY = EncoderConfig(30522, 32, 64, 2, 4, 512, 2, 1e-12)
TEXTS = ["[1 May 2024] In the hall.", "[2 May 2024] Now in the cellar."]
TOLD = ReadList("Where is it?", TEXTS, [False, True], [True, False])
SHORT = ReadList("Who?", ["Ann."], [False], [False])


@pytest.fixture(scope="module")
def tokenizer():
    return open_tokenizer(MODELS / "memorist-rerank-4/tokenizer.json")


def test_a_batch_has_a_row_of_weights_for_each_memory(tokenizer) -> None:
    one = batch([TOLD, SHORT], tokenizer)
    assert one.means.sum(-1).tolist() == [pytest.approx([1, 1]), pytest.approx([1, 0])]
    assert one.ends.sum(-1).tolist() == [[1, 1], [1, 0]] and one.there.tolist() == [[1, 1], [1, 0]]
    ends = one.ends[0].argmax(-1)
    assert one.ids[0, ends].tolist() == [102, 102] and ends[1] == one.mask[0].sum() - 1
    assert one.types[0, 0] == 0 and one.types[0, ends].tolist() == [1, 1]


def test_the_engine_makes_the_same_inputs(tokenizer) -> None:
    one = batch([TOLD], tokenizer, multiple=1)
    query, *texts = ([*tokenizer.encode(text, add_special_tokens=False).ids] for text in (TOLD.query, *TOLD.texts))
    made = lists.inputs(query, texts, 101, 102)
    assert made["input_ids"].tolist() == one.ids.tolist() and made["token_type_ids"].tolist() == one.types.tolist()
    assert np.array_equal(made["ends"], one.ends) and np.allclose(made["means"], one.means)


def test_the_longest_memories_are_cut_to_one_length() -> None:
    assert fitting([10, 200, 300], 400) == [10, 195, 195] == lists.fitting([10, 200, 300], 400)
    assert fitting([5, 5], 20) == [5, 5] == lists.fitting([5, 5], 20)


def test_the_loss_is_small_for_the_right_answer_and_large_for_the_outdated_one(tokenizer) -> None:
    one = batch([TOLD], tokenizer)
    right = torch.tensor([[[-8.0, -8.0, 8.0], [8.0, 8.0, -8.0]]])
    assert loss_of(right, torch.tensor([8.0]), one) < 0.01
    assert loss_of(right.flip(1), torch.tensor([8.0]), one) > 10
    assert loss_of(right, torch.tensor([-8.0]), one) == pytest.approx(4.0, abs=0.02)  # 0.5 · 8: any memory answers


def test_the_graph_gives_nearly_the_same_logits(tokenizer) -> None:
    torch.manual_seed(3)
    model = ListScorer(Encoder(TINY)).eval()
    for head in (model.ranking, model.answering, model.outdating, model.knowing):
        torch.nn.init.normal_(head.out.weight)
    numbered = [ReadList(TOLD.query, [f"{text} {n}" for text in TEXTS], TOLD.answers, TOLD.outdated) for n in range(40)]
    batches = [batch([read_list], tokenizer, 1) for read_list in numbered]
    graph = lists_graph(model, calibrate.spans_of_lists(model, batches), 512)
    session = onnx_runtime().InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    ours, theirs = [], []
    for tensors in batches:
        with torch.inference_mode():
            logits, known = model(*tensors.inputs)
        theirs.append([*logits[0].T.reshape(-1).tolist(), known.item()])
        given = {
            "input_ids": tensors.ids,
            "token_type_ids": tensors.types,
            "ends": tensors.ends,
            "means": tensors.means,
        }
        made = session.run(lists.OUTPUTS, {name: each.numpy() for name, each in given.items()})
        ours.append(np.concatenate([output.reshape(-1) for output in made]).tolist())
    assert np.corrcoef(np.ravel(ours), np.ravel(theirs))[0, 1] > 0.95
