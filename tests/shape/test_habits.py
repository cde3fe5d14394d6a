"""Workflows, hooks, templates and the release check: they name what exists, and the check finds what it is for."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools import release_check
from tools.release_check import STEPS, Failed, NotHere, Step, outcome
from tools.wheels import PYTHONS

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
RULES = re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE)


def loaded(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def jobs() -> list[tuple[str, dict[str, Any]]]:
    return [(f"{file.stem}.{name}", job) for file in WORKFLOWS for name, job in loaded(file)["jobs"].items()]


def test_the_makefile_defines_each_target_once() -> None:
    assert sorted(RULES) == sorted(set(RULES))
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert sorted(phony.split()) == sorted(RULES)


@pytest.mark.parametrize(("name", "job"), jobs(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_job_calls_targets_that_exist_with_pinned_actions(name: str, job: dict[str, Any]) -> None:
    commands = [step["run"] for step in job["steps"] if "run" in step]
    targets = {word for command in commands for word in re.findall(r"^make ([a-z-]+)$", command)}
    if any("matrix.target" in command for command in commands):
        targets |= set(job["strategy"]["matrix"]["target"])
    assert targets and targets <= set(RULES)
    for step in job["steps"]:
        assert re.fullmatch(r"actions/[a-z-]+@v\d+\.\d+\.\d+", step.get("uses", "actions/a@v1.0.0"))
    assert job["timeout-minutes"]


def test_the_tests_run_on_every_python_that_we_name() -> None:
    (job,) = [job for name, job in jobs() if name == "ci.test"]
    assert tuple(job["strategy"]["matrix"]["python"]) == PYTHONS


def test_workflows_may_only_read() -> None:
    for file in WORKFLOWS:
        assert loaded(file)["permissions"] == {"contents": "read"}, file.name


def test_the_hooks_are_ours_alone() -> None:
    repos = loaded(ROOT / ".pre-commit-config.yaml")["repos"]
    assert [repo["repo"] for repo in repos] == ["local"]
    for hook in repos[0]["hooks"]:
        program, *words = hook["entry"].split()
        assert hook["language"] == "system" and program.startswith(".venv/bin/")
        assert all((ROOT / word).exists() for word in words if word.endswith(".py"))


def test_the_templates_have_what_github_wants() -> None:
    for file in (GITHUB / "ISSUE_TEMPLATE").glob("*.yml"):
        form = loaded(file)
        if file.name != "config.yml":
            assert form["name"] and form["description"] and form["body"], file.name
    page = (GITHUB / "PULL_REQUEST_TEMPLATE.md").read_text(encoding="utf-8")
    assert all((GITHUB / target).exists() for target in re.findall(r"\]\(([^)]+)\)", page))


def test_a_loop_names_what_it_runs_over() -> None:
    files = [name for name in release_check.tracked() if name.endswith(".py")]
    assert [name for name in files if re.search(r"\bfor one\s+in\b", (ROOT / name).read_text("utf-8"))] == []


def test_every_step_of_the_release_check_has_a_name_and_a_remedy() -> None:
    assert len({step.name for step in STEPS}) == len(STEPS)
    assert all(step.remedy.endswith(".") for step in STEPS)
    shown = subprocess.run(
        [sys.executable, ROOT / "tools" / "release_check.py", "--list"], capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == [step.name for step in STEPS]


def test_a_step_says_what_came_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    def raising(error: Exception) -> Step:
        def run() -> None:
            raise error

        return Step("a-step", run, "Do this.")

    assert outcome(Step("a-step", lambda: None, "Do this.")) and "✓ a-step" in capsys.readouterr().out
    assert outcome(raising(NotHere("no data"))) and "not run: no data" in capsys.readouterr().out
    assert not outcome(raising(Failed("two words"))) and "two words\n  → Do this." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("+lamp.added.md", "Lamps.", None),
        ("lamp.added.md", "Lamps.", "the name"),
        ("+lamp.new.md", "Lamps.", "the name"),
        ("+lamp.added.md", "  \n", "empty"),
        ("+lamp.added.md", "- Lamps.", "dash"),
    ],
)
def test_a_fragment_that_the_changelog_cannot_use_is_named(
    name: str, text: str, fault: str | None, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = release_check.fragment_fault(tmp_path / name, {"added", "fixed"})
    assert found == fault if fault is None else fault in (found or "")


def test_names_of_registries_and_machines_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_check, "ROOT", tmp_path)
    monkeypatch.setattr(release_check, "tracked", lambda: ["page.md"])
    page = tmp_path / "page.md"
    for harmless in ("pip install memorist", "GET /v1/work/1", "src/work/a.py", "~/work/notes", "npm install"):
        page.write_text(harmless, encoding="utf-8")
        release_check.private()
    for name in ("npmjs", "pypi", "pythonhosted"):
        page.write_text(f"fine\nsee https://files.{name}.org/x", encoding="utf-8")
        with pytest.raises(Failed, match="page.md:2"):
            release_check.private()
    for folder in ("work", "root", "Users"):
        page.write_text(f"cd /{folder}/memorist", encoding="utf-8")
        with pytest.raises(Failed, match="page.md:1"):
            release_check.private()
