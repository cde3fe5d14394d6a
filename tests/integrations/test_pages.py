"""Every page about an adapter is true, and every example of one runs, wherever its framework is installed."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.integrations.upstream import QUIET

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for page in (ROOT / "docs" / "integrations").glob("*.md") if page.name != "README.md")
EXAMPLES = sorted((ROOT / "examples" / "integrations").glob("*.py"))
PINNED = [line for line in (Path(__file__).parent / "requirements.txt").read_text().splitlines() if "==" in line]
BLOCK = re.compile(r"^```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def adapter_of(file: Path) -> str:
    """The adapter of a page or an example; an example is named after it: `langgraph_agent.py`."""
    return max((page.stem for page in PAGES if file.stem.startswith(page.stem)), key=len)


def run(file: Path, folder: Path, *arguments: str) -> None:
    adapter = f"memorist.integrations.{adapter_of(file)}"
    try:
        import_module(adapter)
    except ModuleNotFoundError as missing:
        pytest.skip(f"{adapter}: {missing}")
    command = [sys.executable, "-W", "error", *arguments]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=QUIET, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    code = "\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))
    assert code, "a page shows how its adapter is used"
    run(page, tmp_path, "-c", code)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    run(example, tmp_path, str(example))


def test_every_page_has_an_example() -> None:
    assert {page.stem for page in PAGES} == {adapter_of(example) for example in EXAMPLES}


def test_no_framework_is_imported_before_its_adapter() -> None:
    code = "import sys, memorist.integrations; memorist.open; print(*{one.split('.')[0] for one in sys.modules})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    pinned = {re.split("[-=]", line)[0] for line in PINNED}  # langgraph, langchain, llama, …
    assert "langgraph" in pinned
    assert [name for name in ran.stdout.split() if re.split("[-_]", name)[0] in pinned] == []
