"""Sets of local models: one setting chooses them, and no recall compares vectors of two of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import memorist
from memorist import Engine
from memorist.errors import EmbeddingMismatch, InvalidInput, ModelUnavailable
from memorist.models import embedders, rerankers
from memorist.models.folder import SETS, of_set, packages
from memorist.recall.prepare import Embed
from memorist.recall.recipes import RECIPES
from memorist.upkeep import maintenance
from tests.models.tiny_models import install, package_of, write_model
from tests.stores.postgres_server import space_of
from tests.upkeep.test_reembed import cosine

PACKAGES = Path(__file__).parents[2] / "packages"
LAMP = "Ann keeps a lamp."
Opening = Callable[[str], Engine]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages with the sets `fast` and `best`."""
    install(monkeypatch, tmp_path / "site", "fast", "best")
    return tmp_path / "site"


def uninstall(site: Path, name: str) -> None:
    for folder in package_of(site, name).glob("*/"):
        shutil.rmtree(folder)


@pytest.fixture(params=["sqlite", "postgres"])
def opening(request: pytest.FixtureRequest, tmp_path: Path, site: Path) -> Opening:
    """Opens one space with a set of models."""
    if request.param == "sqlite":
        return lambda models: memorist.open(tmp_path / "agent.db", models=models, background=False)
    url, space = request.getfixturevalue("postgres"), space_of(tmp_path, "agent")
    return lambda models: memorist.open(url, space=space, models=models, background=False)


def made_by(engine: Engine) -> str:
    """The model that made the vectors of a space."""
    return (engine.stats().embedding or "").partition(":")[0]


# Choosing


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize("name", ["fast", "best"])
def test_a_set_names_the_embedder_and_the_reranker(name: str) -> None:
    embedder, reranker = embedders.build("local", models=name), rerankers.build("auto", models=name)
    assert embedder is not None and embedder.generation.startswith(f"{SETS[name].embedder}:")
    assert str(getattr(reranker, "generation", "")).startswith(f"{SETS[name].reranker}:")
    assert rerankers.build("local", models=name) is reranker


@pytest.mark.usefixtures("site")
def test_one_setting_chooses_it_wherever_settings_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "own.toml"
    file.write_text('models = "best"\n', encoding="utf-8")
    seen = list[str]()
    for given in ({"config": file}, {"config": {"models": "best"}}, {"models": "best"}, {}):
        with memorist.open(":memory:", background=False, **given) as engine:
            engine.remember(LAMP)
            seen.append(made_by(engine))
    monkeypatch.setenv("MEMORIST_MODELS", "best")
    with memorist.open(":memory:", background=False) as engine:
        engine.remember(LAMP)
        seen.append(made_by(engine))
    best, fast = SETS["best"].embedder, SETS["fast"].embedder
    assert seen == [best, best, best, fast, best]


@pytest.mark.usefixtures("site")
def test_a_single_model_may_still_be_named() -> None:
    fast = SETS["fast"]
    embedder = embedders.build(f"local:{fast.embedder}", models="best")
    reranker = rerankers.build(f"local:{fast.reranker}", models="best")
    assert embedder is not None and embedder.generation.startswith(f"{fast.embedder}:")
    assert str(getattr(reranker, "generation", "")).startswith(f"{fast.reranker}:")
    assert rerankers.build("none", models="best") is None


@pytest.mark.parametrize("missing", ["best", "multilingual"])
def test_a_package_that_is_not_installed_is_named_with_its_command(site: Path, missing: str) -> None:
    uninstall(site, missing)
    package = SETS[missing].package
    with pytest.raises(ModelUnavailable, match="is not installed") as caught:
        memorist.open(":memory:", models=missing)
    assert caught.value.remedy == f"Install it from a clone of Memorist: pip install ./packages/{package}."


def test_without_any_package_the_default_one_is_named(site: Path) -> None:
    for name in SETS:
        uninstall(site, name)
    with pytest.raises(ModelUnavailable, match=r"pip install ./packages/memorist-models\."):
        memorist.open(":memory:")


def test_an_unknown_set_lists_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match="no local models 'quick'.*fast, best, multilingual"):
        memorist.open(":memory:", models="quick")


def test_the_embedder_of_one_package_goes_with_the_reranker_of_another(site: Path) -> None:
    """The multilingual set has an embedder of its own, and the reranker of `fast`."""
    chosen = SETS["multilingual"]
    package = package_of(site, "multilingual")
    write_model(package / chosen.embedder, "embedder", 7)
    assert of_set("multilingual", "embedder").parent == package
    assert of_set("multilingual", "reranker") == of_set("fast", "reranker")


def test_the_default_recipe_knows_which_models_read_only_latin_script() -> None:
    """A set whose package is installed here; that of other languages reads them all."""
    embed = next(stage for stage in RECIPES["memorist"].stages if isinstance(stage, Embed))
    english = {SETS[name].embedder for name in ("fast", "best")}
    assert english & set(packages("embedder")) <= set(embed.latin)
    assert SETS["multilingual"].embedder not in embed.latin


# Changing


def test_from_one_set_to_another_and_back(opening: Opening) -> None:
    """A space keeps the model that made its vectors until it is re-embedded, also for what is written meanwhile."""
    with opening("fast") as engine:
        engine.remember(LAMP)
    with opening("best") as engine:
        assert cosine(engine, LAMP) == pytest.approx(1, abs=2e-3)
        engine.remember("Ben keeps a fox.")
        assert made_by(engine) == SETS["fast"].embedder
        done = engine.reembed()
        assert (done.embedded, made_by(engine)) == (2, SETS["best"].embedder)
        assert cosine(engine, LAMP) == pytest.approx(1, abs=2e-3)
    with opening("fast") as engine:
        assert cosine(engine, LAMP) == pytest.approx(1, abs=2e-3)
        assert made_by(engine) == SETS["best"].embedder
        engine.reembed("local")
        assert made_by(engine) == SETS["fast"].embedder
        assert cosine(engine, "Ben keeps a fox.") == pytest.approx(1, abs=2e-3)


@pytest.mark.usefixtures("site")
def test_spaces_that_keep_their_own_model_share_it() -> None:
    """A server with many spaces that are not re-embedded yet loads the old model once."""
    embedder = embedders.build("local", models="fast")
    assert embedder is not None
    kept = embedders.packaged_embedder(embedder.generation)
    assert kept is not None and embedders.packaged_embedder(embedder.generation) is kept


def test_a_run_that_ends_halfway_mixes_nothing_and_goes_on(opening: Opening, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "BATCH", 1)

    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with opening("fast") as engine:
        engine.remember_many([LAMP, "Ben keeps a fox.", "Ben keeps a lamp."])
    with opening("best") as engine, pytest.raises(KeyboardInterrupt):
        engine.reembed(progress=stop)
    for models in ("fast", "best"):
        with opening(models) as engine:
            assert made_by(engine) == SETS["fast"].embedder
            assert cosine(engine, LAMP) == pytest.approx(1, abs=2e-3)
    with opening("best") as engine:
        assert engine.reembed().embedded == 2
        assert cosine(engine, LAMP) == pytest.approx(1, abs=2e-3)


def test_vectors_of_a_package_that_is_gone_are_never_compared(opening: Opening, site: Path) -> None:
    with opening("best") as engine:
        engine.remember(LAMP)
    uninstall(site, "best")
    with opening("fast") as engine:
        for verb in (engine.recall, engine.remember):
            with pytest.raises(EmbeddingMismatch, match=SETS["best"].embedder) as caught:
                verb("Where does Ann keep a lamp?")
            assert f"pip install ./packages/{SETS['best'].package}." in caught.value.remedy
            assert "`reembed()`" in caught.value.remedy
        assert engine.reembed().embedded == 1
        assert cosine(engine, LAMP) == pytest.approx(1, abs=2e-3)


def test_vectors_of_a_model_that_no_package_has_any_more_are_made_again(opening: Opening, site: Path) -> None:
    old = site / "old" / "all-minilm-l6-v2"
    write_model(old, "embedder", 5)
    with opening("fast") as engine:
        engine.reembed(f"onnx:{old}")
        engine.remember(LAMP)
    with opening("fast") as engine:
        with pytest.raises(EmbeddingMismatch, match="made by 'all-minilm-l6-v2") as caught:
            engine.recall("Where does Ann keep a lamp?")
        assert "`reembed()`" in caught.value.remedy and "pip" not in caught.value.remedy
        engine.reembed()
        assert made_by(engine) == SETS["fast"].embedder
    with pytest.raises(InvalidInput, match=r"no local embedder 'all-minilm-l6-v2'.*reembed"):
        memorist.open(":memory:", embedder="local:all-minilm-l6-v2")


# The packages of the repository


def test_every_source_of_a_model_is_in_the_notice_of_its_package() -> None:
    for manifest in PACKAGES.glob("*/src/*/*/model.json"):
        source = json.loads(manifest.read_text(encoding="utf-8"))["source"]
        notice = (manifest.parents[3] / "NOTICE").read_text(encoding="utf-8").splitlines()
        given = [source[name] for name in ("upstream", "teacher") if name in source]
        for record in (*given, *source.get("data", ())):
            name, _, licence = record.partition(", ")
            assert any(name.split()[0] in line and licence in line for line in notice), (manifest, record)


def test_a_package_of_models_is_no_larger_than_promised() -> None:
    sizes = {
        package.name: sum(file.stat().st_size for file in package.glob("src/**/*") if file.is_file())
        for package in PACKAGES.glob("memorist-models*")
    }
    assert sizes.keys() <= {chosen_set.package for chosen_set in SETS.values()}
    assert sizes["memorist-models-best"] <= 90_000_000
