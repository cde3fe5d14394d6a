"""The docs do not lie: pages are current, everything is described, and every example runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from memorist.recall.catalogue import BUILT_IN
from memorist.stages import RECIPES
from memorist_server.rest.server import Settings
from server_tests.rest.conftest import running

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|py|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MESSAGES = [{"role": "user", "content": "We fly to Oslo in May."}, {"role": "assistant", "content": "Noted, in May."}]


def blocks(language: str) -> list[tuple[Path, str]]:
    return [
        (
            page,
            "\n".join(text for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language),
        )
        for page in PAGES
        if f"```{language}\n" in page.read_text(encoding="utf-8")
    ]


def name(value: object) -> str:
    return str(value.relative_to(ROOT)) if isinstance(value, Path) else "examples"


@pytest.mark.parametrize(("page", "code"), blocks("python"), ids=name)
def test_the_python_examples_of_a_page_run(page: Path, code: str, tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.slow
def test_a_reader_can_run_the_pages_one_after_the_other_in_one_folder(tmp_path: Path) -> None:
    for page, code in blocks("python"):
        ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        assert ran.returncode == 0, f"{page}\n{ran.stderr}"


@pytest.mark.parametrize(
    ("page", "code"), [block for block in blocks("py") if "integrations" not in block[0].parts], ids=name
)
def test_examples_that_need_files_or_a_server_run_where_they_are(page: Path, code: str, tmp_path: Path) -> None:
    """Those of docs/integrations need the frameworks, and run with them."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "boiler.md").write_text("# Boiler\n\nIt was repaired in May.\n", encoding="utf-8")
    (tmp_path / "conversations.json").write_text(json.dumps(MESSAGES), encoding="utf-8")
    with running(Settings(db=f"{tmp_path}/spaces/", embedder="none")) as server:
        environment = {**os.environ, "MEMORIST_KEY": server.key("agent", "write")}
        whole = f"import memorist\nmessages = {MESSAGES}\n{code.replace('http://127.0.0.1:8765', server.url)}"
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-c", whole],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env=environment,
        )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(("page", "session"), blocks("console"), ids=name)
def test_the_sessions_of_a_page_print_what_they_show(page: Path, session: str, tmp_path: Path) -> None:
    """Commands follow `$`; `...` stands for anything that varies, such as an id or a time."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command, shown in re.findall(r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", session + "\n", re.MULTILINE):
        if shlex.split(command)[0] != "memorist":
            continue
        ran = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": path, "COLUMNS": "100"},
        )
        assert ran.returncode == 0, ran.stderr
        wanted = re.escape(shown.strip()).replace(r"\.\.\.", ".*?")
        got = "\n".join(line.rstrip() for line in ran.stdout.strip().splitlines())
        assert re.fullmatch(wanted, got, re.DOTALL), f"{command}\nprints:\n{got}\nbut the page shows:\n{shown}"


def test_everything_generated_is_current() -> None:
    check = subprocess.run([sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True)
    assert check.returncode == 0, check.stderr


def test_every_part_and_recipe_is_in_the_reference() -> None:
    stages = (ROOT / "docs/reference/stages.md").read_text(encoding="utf-8")
    recipes = (ROOT / "docs/reference/recipes.md").read_text(encoding="utf-8")
    assert [kind for kinds in BUILT_IN.values() for kind in kinds if f"### `{kind}`" not in stages] == []
    assert [name for name in RECIPES if f"## `{name}`" not in recipes] == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"], ids=name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
