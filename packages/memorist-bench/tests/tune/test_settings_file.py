"""The settings file: edited in place, shown, applied, undone byte for byte, and never harmed."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest

from memorist import config, trust
from memorist.errors import Error, InvalidInput, NotFound
from memorist_bench.tune.settings_file import content, edit, file_for, undo

WEIGHTS = {"weighted_sum.weights": {"vector": 0.9, "keyword": 0.2}, "rerank_blend.weight": 1.41}


def tuned(text: str, file: Path, recipe: str = "memorist") -> str:
    """A file with this text, tuned."""
    file.write_bytes(text.encode())
    edit(file, content(file), recipe, WEIGHTS).apply()
    return file.read_bytes().decode()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memorist.toml"


def test_a_new_table_goes_to_the_end_and_everything_else_stays(file: Path) -> None:
    before = '# my settings\nspace = "home"  # not work\n'
    after = tuned(before, file)
    assert after.startswith(before)
    assert after.removeprefix(before).splitlines()[2:] == [
        "[recipes.memorist.set]",
        '"weighted_sum.weights" = { vector = 0.9, keyword = 0.2 }',
        '"rerank_blend.weight" = 1.41',
    ]
    assert tomllib.loads(after) == {"space": "home", "recipes": {"memorist": {"set": WEIGHTS}}}


FORMS = {
    "a table": "[recipes.memorist.set]\n"
    '"rrf.k" = 20 # mine\n"rerank_blend.weight" = 1.0  # tuned\n[llm_options]\nurl="x"\n',
    "a line": "[recipes.memorist]\n"
    'set = { "rrf.k" = 20, "rerank_blend.weight" = 1.0 }  # mine\n[llm_options]\nurl = "x"\n',
    "quoted": "[ recipes . 'memorist' . set ]\n'rrf.k' = 20\n'rerank_blend.weight' = 1.0\n[llm_options]\nurl = 'x'",
    "one line": "recipes = { memorist = { set = { 'rrf.k' = 20, 'rerank_blend.weight' = 1.0 } } }\n"
    "[llm_options]\nurl='x'\n",
    "windows": "[recipes.memorist.set]\r\n"
    '"rrf.k" = 20\r\n"rerank_blend.weight" = 1.0\r\n[llm_options]\r\nurl = "x"\r\n',
}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_set_already_is_changed_where_it_stands(form: str, file: Path) -> None:
    after = tuned(FORMS[form], file)
    wanted = {"recipes": {"memorist": {"set": {"rrf.k": 20, **WEIGHTS}}}, "llm_options": {"url": "x"}}
    assert tomllib.loads(after) == wanted
    assert after.count("rerank_blend.weight") == 1
    assert [comment in after for comment in ("# mine", "# tuned")] == [
        comment in FORMS[form] for comment in ("# mine", "# tuned")
    ]
    assert after.count("\r\n") == (after.count("\n") if form == "windows" else 0)


@pytest.mark.parametrize("form", FORMS)
def test_undo_restores_every_byte(form: str, file: Path) -> None:
    tuned(FORMS[form], file)
    once = file.read_bytes()
    edit(file, once, "memorist", {"rerank_blend.weight": 2.0}).apply()
    assert undo(file) == file and file.read_bytes() == once
    undo(file)
    assert file.read_bytes() == FORMS[form].encode()
    with pytest.raises(NotFound, match=r"no change of `memorist tune`"):
        undo(file)


def test_a_file_that_tune_created_is_removed_by_undo(file: Path) -> None:
    edit(file, None, "memorist", WEIGHTS).apply()
    assert config.load(file).recipes["memorist"]["set"] == WEIGHTS
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    undo(file)
    assert not file.exists()


def test_the_difference_names_the_file_and_hides_passwords(file: Path) -> None:
    file.write_text('db = "postgresql://ann:hunter2@host/memories"\n')
    lines = edit(file, content(file), "memorist", WEIGHTS).diff().splitlines()
    assert lines[:2] == [f"--- {file}", f"+++ {file}"]
    assert lines[3:5] == [' db = "postgresql://…@host/memories"', "+"]
    assert '+"rerank_blend.weight" = 1.41' in lines
    assert "hunter2" not in "".join(lines)
    assert file.read_text().count("\n") == 1, "nothing is written"


def test_a_file_edited_meanwhile_is_left_alone(file: Path) -> None:
    file.write_text('space = "a"\n')
    planned = edit(file, content(file), "memorist", WEIGHTS)
    file.write_text('space = "b"\n')
    with pytest.raises(InvalidInput, match=r"edited while it was tuned.*Tune again"):
        planned.apply()
    assert file.read_text() == 'space = "b"\n'
    with pytest.raises(NotFound):
        undo(file)


def test_a_file_edited_after_it_was_tuned_is_not_undone(file: Path) -> None:
    tuned('space = "a"\n', file)
    file.write_text(file.read_text().replace('"a"', '"b"'))
    edited = file.read_bytes()
    with pytest.raises(InvalidInput, match=r"edited after it was tuned.*by hand"):
        undo(file)
    assert file.read_bytes() == edited


@pytest.mark.parametrize(
    "text",
    [
        "[recipes]\nmemorist = { base = 'memorist' }\n",
        "recipes = { memorist = { base = 'memorist' } } # a note\n",
    ],
)
def test_a_form_that_cannot_be_edited_is_refused_with_the_lines_to_write(text: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(InvalidInput, match=r"cannot be edited; nothing was written.*\"rerank_blend.weight\" = 1.41"):
        edit(file, content(file), "memorist", WEIGHTS)
    assert file.read_text() == text


def test_a_text_that_looks_like_the_table_is_not_taken_for_it(file: Path) -> None:
    after = tuned("[recipes.memorist]\nset = { 'a' = '''\n[recipes.memorist.set]\n''' }\n", file)
    assert tomllib.loads(after)["recipes"]["memorist"]["set"] == {"a": "[recipes.memorist.set]\n", **WEIGHTS}


def test_a_broken_file_is_refused_and_kept(file: Path) -> None:
    for broken in (b"recipes = [", b"\xff\xfe"):
        file.write_bytes(broken)
        with pytest.raises(InvalidInput, match="is not TOML"):
            edit(file, content(file), "memorist", WEIGHTS)
        assert file.read_bytes() == broken


def test_a_damaged_record_stops_before_anything_is_written(file: Path) -> None:
    trust.user_folder().mkdir(parents=True)
    (trust.user_folder() / "tuned.json").write_text("[]")
    with pytest.raises(InvalidInput, match=r"tuned\.json is damaged"):
        tuned("", file)
    assert file.read_bytes() == b""


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_an_error_with_a_remedy(file: Path) -> None:
    file.write_text("")
    file.parent.chmod(0o500)
    try:
        with pytest.raises(Error, match="permission to write"):
            tuned("", file)
    finally:
        file.parent.chmod(0o700)


def test_a_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "memorist.toml"
    real.parent.mkdir()
    real.write_text('space = "home"\n')
    file.symlink_to(real)
    target = file_for("memorist", str(file))
    edit(target, content(target), "memorist", WEIGHTS).apply()
    assert file.is_symlink() and "rerank_blend.weight" in real.read_text()


class TestWhichFile:
    @pytest.fixture(autouse=True)
    def _here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "project").mkdir()
        monkeypatch.chdir(tmp_path / "project")

    def test_the_users_own_unless_a_project_has_one(self, tmp_path: Path) -> None:
        assert file_for("memorist", None) == config.own_file()
        near = tmp_path / "project" / "memorist.toml"
        near.write_text("")
        assert file_for("memorist", None) == near
        assert file_for("memorist", "other.toml") == tmp_path / "project" / "other.toml"

    def test_the_one_that_has_the_recipe(self, tmp_path: Path) -> None:
        near = tmp_path / "project" / "memorist.toml"
        near.write_text("[recipes.mine]\nbase = 'memorist'\n")
        config.own_file().parent.mkdir(parents=True)
        config.own_file().write_text("[recipes.memorist.set]\n'rerank_blend.weight' = 2.0\n")
        assert file_for("mine", None) == near
        assert file_for("memorist", None) == config.own_file()

    def test_not_one_that_every_user_may_write(self, tmp_path: Path) -> None:
        near = tmp_path / "project" / "memorist.toml"
        near.write_text("")
        near.chmod(0o666)
        assert file_for("memorist", None) == config.own_file()

    def test_a_trusted_file_stays_trusted(self, tmp_path: Path) -> None:
        near = tmp_path / "project" / "memorist.toml"
        near.write_text('embedder = "none"\n')
        trust.trust(near, near.read_bytes())
        edit(near, content(near), "memorist", WEIGHTS).apply()
        assert config.load().embedder == "none" and "memorist" in config.load().recipes
        undo(near)
        assert config.load().embedder == "none" and config.load().untrusted is None

    def test_an_untrusted_one_is_not_made_trusted(self, tmp_path: Path) -> None:
        near = tmp_path / "project" / "memorist.toml"
        near.write_text('embedder = "none"\n')
        edit(near, content(near), "memorist", WEIGHTS).apply()
        assert config.load().embedder == "local" and json.loads(json.dumps(trust.trusted_hashes())) == {}
