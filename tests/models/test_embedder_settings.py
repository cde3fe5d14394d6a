from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memorist.errors import InvalidInput, ModelUnavailable
from memorist.models import folder
from memorist.models.embedders import build
from memorist.models.embedders.vendors import PRESETS
from memorist.models.folder import SETS, of_set
from tests.models.scripted_server import Answer, Request, ScriptedServer


def service(request: Request) -> Answer:
    if request.path == "/api/tags":
        return Answer({"models": [{"name": "nomic-embed-text:latest", "digest": "0a109f422b47e3"}]})
    rows = [[1.0, float(len(text))] for text in request.json["input"]]
    return Answer({"data": [{"index": i, "embedding": row} for i, row in enumerate(rows)], "embeddings": rows})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ScriptedServer() as server:
        server.default = service
        yield server


@pytest.mark.parametrize("setting", [None, "none", " None "])
def test_some_settings_mean_no_embedder(setting: str | None) -> None:
    assert build(setting) is None


def test_an_object_passes_through() -> None:
    class Own:
        generation, dim = "own:1:2", 2

        def embed(self) -> None: ...

    own = Own()
    assert build(own) is own  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sends_its_own_key_to_the_address_given(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for preset in PRESETS.values():
        if preset.service.key_env:
            monkeypatch.setenv(preset.service.key_env, f"key of {preset.service.key_env}")
    built = build(f"{name}:BAAI/bge-m3:q8", options={"url": server.url + "/v1"})
    assert built is not None
    assert built.generation == "BAAI/bge-m3:q8:remote:2"
    expected = PRESETS[name].service.key_env
    assert server.requests[0].path == "/v1/embeddings"
    assert server.requests[0].headers.get("authorization") == (f"Bearer key of {expected}" if expected else None)


def test_siliconflow_gets_no_more_texts_at_once_than_it_takes(server: ScriptedServer) -> None:
    built = build("siliconflow:BAAI/bge-m3", options={"url": server.url, "key_env": "UNSET_KEY"})
    assert built is not None
    built.embed([f"text {n}" for n in range(40)], purpose="memory")
    assert [len(body["input"]) for body in server.bodies] == [32, 8]


def test_options_reach_the_embedder(server: ScriptedServer) -> None:
    built = build("openai:m", options={"url": server.url, "dim": 2, "batch": 1, "timeout": 5, "key_env": "UNSET_KEY"})
    assert built is not None
    assert built.dim == 2
    assert server.requests == []
    built.embed(["a", "b"], purpose="memory")
    assert [body["input"] for body in server.bodies] == [["a"], ["b"]]
    assert server.bodies[0]["dimensions"] == 2


@pytest.mark.parametrize("setting", ["ollama", "ollama:nomic-embed-text", "OLLAMA:nomic-embed-text:latest"])
def test_ollama_has_a_default_model(server: ScriptedServer, setting: str) -> None:
    built = build(setting, options={"url": server.url})
    assert built is not None
    assert built.generation == "nomic-embed-text:0a109f422b47:2:nomic"


def test_a_query_asked_again_is_not_sent_again(server: ScriptedServer) -> None:
    built = build("openai:m", options={"url": server.url})
    assert built is not None
    first = built.embed(["who?"], purpose="query")
    assert (built.embed(["who?"], purpose="query") == first).all()
    assert len(server.requests) == 1


@pytest.mark.parametrize("setting", ["", "gpt", "cohere:embed-v4", "onnx", "onnx:"])
def test_an_unknown_setting_lists_the_choices(setting: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        build(setting)
    for choice in ("none", "local", "onnx:FOLDER", "ollama:MODEL", "openai:MODEL", "siliconflow:MODEL", "vllm:MODEL"):
        assert choice in caught.value.remedy


def test_a_service_without_a_model_gives_an_example() -> None:
    with pytest.raises(InvalidInput, match="openai:text-embedding-3-small"):
        build("openai")


@pytest.mark.parametrize(
    ("setting", "options", "says"),
    [
        ("openai:m", {"colour": 1}, "no option 'colour'"),
        ("openai:m", {"dim": 0}, "whole number"),
        ("openai:m", {"dim": "3"}, "whole number"),
        ("openai:m", {"batch": True}, "whole number"),
        ("ollama", {"timeout": -1}, "seconds"),
        ("ollama", {"url": ""}, "non-empty string"),
        ("local", {"dim": 3}, "has no options"),
    ],
)
def test_options_that_do_not_fit_are_refused(setting: str, options: dict[str, object], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        build(setting, options=options)


@pytest.fixture
def packaged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An installed `memorist_models` with two models, whatever is really installed."""
    package = tmp_path / "site" / "memorist_models"
    for name in ("small", "large"):
        (package / name).mkdir(parents=True)
        (package / name / "model.onnx").write_bytes(b"not a model")
    (package / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "memorist_models", raising=False)
    monkeypatch.setattr(folder, "SETS", {folder.DEFAULT_SET: folder.SETS[folder.DEFAULT_SET]})
    monkeypatch.syspath_prepend(package.parent)
    return package


@pytest.mark.usefixtures("packaged")
def test_an_unknown_local_model_lists_those_installed() -> None:
    with pytest.raises(InvalidInput, match="Choose one of large, small"):
        build("local:medium")


def test_a_local_model_is_looked_for_in_its_folder(packaged: Path) -> None:
    (packaged / "small" / "model.onnx").unlink()
    with pytest.raises(InvalidInput, match="Choose one of large"):
        build("local:small")
    (packaged / "large" / "model.onnx").unlink()
    with pytest.raises(ModelUnavailable, match=r"pip install ./packages/memorist-models\."):
        build("local:large")


def test_the_packaged_model_may_be_named_in_three_ways() -> None:
    name = SETS["fast"].embedder
    settings = ("local", f"local:{name}", f"onnx:{of_set('fast', 'embedder')}")
    generations = {built.generation for setting in settings if (built := build(setting)) is not None}
    assert len(generations) == 1
    assert generations.pop().startswith(f"{name}:")


def test_a_folder_without_a_model_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable):
        build(f"onnx:{tmp_path}")


def test_importing_the_vendors_loads_no_heavy_package() -> None:
    modules = "embedders, embedders.vendors, rerankers, rerankers.http"
    names = ", ".join(f"memorist.models.{name}" for name in modules.split(", "))
    check = f"import sys, {names}; print(sorted({{'httpx', 'numpy', 'onnxruntime'}} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
