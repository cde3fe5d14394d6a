"""The packaged embedder for many languages, really run, alone and through the engine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import memorist
from memorist import Engine
from memorist.models.embedders.local import OnnxEmbedder
from memorist.models.folder import SETS, TOKENIZER, of_set
from memorist.testing.fakes import FakeClock

PACKAGE = Path(__file__).parents[2] / "packages" / SETS["multilingual"].package
SISTER = {
    "en": "My sister lives in Berlin.",
    "de": "Meine Schwester wohnt in Berlin.",
    "fr": "Ma sœur habite à Berlin.",
    "es": "Mi hermana vive en Berlín.",
    "it": "Mia sorella vive a Berlino.",
    "pt": "Minha irmã mora em Berlim.",
    "nl": "Mijn zus woont in Berlijn.",
    "pl": "Moja siostra mieszka w Berlinie.",
    "ru": "Моя сестра живёт в Берлине.",
    "tr": "Kız kardeşim Berlin'de yaşıyor.",
    "ar": "تعيش أختي في برلين.",
    "zh": "我姐姐住在柏林。",
    "zh-tw": "我姊姊住在柏林。",
    "ja": "私の姉はベルリンに住んでいます。",
    "ko": "내 누나는 베를린에 살아요.",
    "th": "พี่สาวของฉันอาศัยอยู่ในเบอร์ลิน",
}
OTHERS = ("My brother sells bicycles.", "The train to Berlin was late.", "My sister is allergic to nuts.", "It rained.")
ENGLISH = (
    "Since June Alice has lived in a flat in Stockholm.",
    "Bo is allergic to peanuts.",
    "The red bicycle stands in the cellar.",
    "The dentist can see us on Tuesday at nine.",
)
GERMAN = (
    "Seit Juni wohnt Alice in einer Wohnung in Stockholm.",
    "Bo ist allergisch gegen Erdnüsse.",
    "Das rote Fahrrad steht im Keller.",
    "Der Zahnarzt hat am Dienstag um neun Zeit für uns.",
)
CHINESE = (
    "爱丽丝六月起住在斯德哥尔摩的一套公寓里。",
    "阿波对花生过敏。",
    "红色自行车在地下室里。",
    "牙医星期二九点有空。",
)
ASKED = {
    "en": ("Where does she live?", "What must Bo not eat?", "Where is the bike?", "When is our dental appointment?"),
    "de": ("Wo wohnt sie?", "Was darf Bo nicht essen?", "Wo ist das Rad?", "Wann ist unser Zahnarzttermin?"),
    "zh": ("她住在哪里？", "阿波不能吃什么？", "单车在哪儿？", "我们什么时候看牙？"),
}
MEMORIES = {"en": ENGLISH, "de": GERMAN, "zh": CHINESE}


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PACKAGE / "src")


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder.from_folder(next((PACKAGE / "src").glob("*/*/model.onnx")).parent)


@pytest.fixture
def space(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with memorist.open(":memory:", models="multilingual", config={}, clock=FakeClock()) as engine:
        engine.remember_many(MEMORIES[request.param])
        yield engine


def test_shipped_files_have_the_checksums_of_their_manifest() -> None:
    folder = of_set("multilingual", "embedder")
    manifest = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    assert (manifest["name"], manifest["dim"]) == (folder.name, 512)
    assert set(manifest["sha256"]) == {"model.onnx", TOKENIZER}
    for file, expected in manifest["sha256"].items():
        assert hashlib.sha256((folder / file).read_bytes()).hexdigest() == expected


@pytest.mark.parametrize("language", [name for name in SISTER if name != "en"])
def test_a_translation_is_nearer_than_another_subject(embedder: OnnxEmbedder, language: str) -> None:
    texts = [SISTER["en"], *OTHERS]
    said, *told = embedder.embed([SISTER[language], *texts], purpose="memory")
    assert int(np.argmax(told @ said)) == 0


def test_a_text_has_the_same_vector_alone_and_beside_others(embedder: OnnxEmbedder) -> None:
    texts = [*SISTER.values(), *GERMAN, *CHINESE, "ok", "", "🙂", "Der Zug kam zu spät. " * 60]
    together = embedder.embed(texts, purpose="memory")
    alone = [embedder.embed([text], purpose="memory")[0] for text in texts]
    assert np.array_equal(together, np.array(alone))
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


def test_words_are_cut_as_the_upstream_model_cuts_them(embedder: OnnxEmbedder) -> None:
    tokenizer = embedder._load().tokenizer
    assert tokenizer.encode("Wo wohnt meine Schwester?").tokens == [
        "<s>",
        "▁Wo",
        "▁wohnt",
        "▁meine",
        "▁Schwester",
        "?",
        "</s>",
    ]
    assert tokenizer.encode("  Ｗｏ\n wohnt ").tokens == ["<s>", "▁Wo", "▁wohnt", "</s>"]
    assert "<s>" not in tokenizer.encode("a </s> b", add_special_tokens=False).tokens


@pytest.mark.parametrize(
    ("space", "asked"),
    [("en", "de"), ("en", "zh"), ("de", "en"), ("zh", "en"), ("de", "zh"), ("de", "de"), ("zh", "zh")],
    indirect=["space"],
)
def test_a_question_finds_a_memory_in_another_language(space: Engine, asked: str) -> None:
    found = [space.recall(question, track=False).items[0].memory.text for question in ASKED[asked]]
    told = next(texts for texts in MEMORIES.values() if found[0] in texts)
    assert sum(text == wanted for text, wanted in zip(found, told, strict=True)) >= 3


@pytest.mark.parametrize("space", ["en"], indirect=True)
def test_the_english_reranker_leaves_questions_in_other_languages_alone(space: Engine) -> None:
    def skipped(question: str) -> str | None:
        steps = space.recall(question, track=False).trace.steps
        return next(step.skipped for step in steps if step.stage == "rerank_blend")

    assert skipped("Where does Alice live?") is None
    assert skipped("Wo wohnt Alice jetzt?") == "The local reranker does not read the language of this question"
