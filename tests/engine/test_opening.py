"""Where a memory is opened, and which settings win."""

from __future__ import annotations

from pathlib import Path

import pytest

import memorist
from memorist import config
from memorist.engine.open import locate


def opened(url: str | Path | None = None, **options: str) -> tuple[str, int]:
    with memorist.open(url, embedder="none", **options) as memory:
        memory.remember(f"opened as {memory.space}")
        return memory.space, memory.stats().memories


def test_a_file_is_one_space_named_inside_it(tmp_path: Path) -> None:
    assert opened(tmp_path / "agent.db") == ("agent", 1)
    assert opened(f"sqlite:///{tmp_path}/agent.db") == ("agent", 1)
    with pytest.raises(memorist.SpaceMismatch, match="agent"):
        opened(tmp_path / "agent.db", space="other")


def test_a_folder_holds_a_file_per_space(tmp_path: Path) -> None:
    assert opened(f"{tmp_path}/spaces/", space="ann") == ("ann", 1)
    assert opened(tmp_path / "spaces", space="bob") == ("bob", 1)
    assert sorted(path.name for path in (tmp_path / "spaces").glob("*.db")) == ["ann.db", "bob.db"]


@pytest.mark.parametrize("space", ["../escape", "a/b", "", ".hidden", "x" * 101, "a\0b"])
def test_a_space_cannot_leave_its_folder(tmp_path: Path, space: str) -> None:
    with pytest.raises(memorist.InvalidInput, match="is not a valid space name"):
        locate(str(tmp_path), space)


def test_no_url_means_the_environment_then_a_file_then_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / "project" / "deep"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert opened() == ("default", 1)
    (tmp_path / "project" / "memorist.toml").write_text('db = "mine.db"\nspace = "mine"\n')
    assert opened() == ("mine", 1)
    assert (tmp_path / "project" / "mine.db").exists()
    monkeypatch.setenv("MEMORIST_DB", str(tmp_path / "env.db"))
    monkeypatch.setenv("MEMORIST_SPACE", "env")
    assert opened() == ("env", 1)
    assert opened(tmp_path / "argument.db", space="argument") == ("argument", 1)


def test_a_recipe_of_the_settings_file_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memorist.toml").write_text(
        'recipe = "plain"\n[recipes.plain]\nbase = "memorist"\n'
        '[recipes.plain.set]\n"weighted_sum.weights" = { keyword = 0.5 }\n'
    )
    monkeypatch.chdir(tmp_path)
    with memorist.open(tmp_path / "a.db", embedder="none", reranker="none") as memory:
        memory.remember("green tea")
        found = memory.recall("green tea", track=False)
    assert found.recipe == "plain"
    assert found.items[0].score == pytest.approx(0.5)  # the weight of words


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("db = 3", "db is 3"),
        ("colour = 'red'", "Unknown setting in .*: 'colour'"),
        ("db = ", "is not TOML"),
    ],
)
def test_a_bad_settings_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "memorist.toml"
    file.write_text(text)
    with pytest.raises(memorist.InvalidInput, match=message):
        config.load(file)


def test_unknown_stores_and_embedders_are_refused(tmp_path: Path) -> None:
    for url in ("mysql://ann:secret@localhost/x", "sqlite://x", "", " "):
        with pytest.raises(memorist.InvalidInput, match="not supported as a database") as refused:
            memorist.open(url, embedder="none")
        assert "secret" not in str(refused.value)
    with pytest.raises(memorist.InvalidInput, match="ollama"):
        memorist.open(tmp_path / "a.db", embedder="crystal-ball")
