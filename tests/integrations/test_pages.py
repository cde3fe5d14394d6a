"""Every page about an adapter is true, and every example of one runs, wherever its framework is installed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from memorist.errors import MissingExtra
from tests.integrations.upstream import QUIET

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for page in (ROOT / "docs" / "integrations").glob("*.md") if page.name != "README.md")
EXAMPLES = sorted((ROOT / "examples" / "integrations").glob("*.py"))
PINNED = [line for line in (Path(__file__).parent / "requirements.txt").read_text().splitlines() if "==" in line]
BLOCK = re.compile(r"^```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)


ASK_A_MODEL = ("adk", "agent_framework", "anthropic", "openai_agents", "pydantic_ai", "strands")
"""Pages whose code calls a vendor's model: it is compiled and takes our names; the example has a scripted model."""


def adapter_of(file: Path) -> str:
    """The adapter of a page or an example. No example has the name of a framework, which it would hide."""
    return file.stem.removeprefix("with_")


def imports_of(code: str) -> str:
    """What some code imports from Memorist; it may await at its top level."""
    tree = compile(code, "page", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    return "\n".join(ast.unparse(node) for node in ast.walk(tree) if _is_of_ours(node))


def _is_of_ours(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and str(node.module).startswith("memorist")


def run(file: Path, folder: Path, *arguments: str) -> None:
    adapter = f"memorist.integrations.{adapter_of(file)}"
    try:
        import_module(adapter)
    except MissingExtra as missing:
        pytest.skip(f"{adapter}: {missing}")
    command = [sys.executable, "-W", "error", *arguments]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=QUIET, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    code = "\n".join(BLOCK.findall(page.read_text(encoding="utf-8")))
    assert code, "a page shows how its adapter is used"
    run(page, tmp_path, "-c", imports_of(code) if page.stem in ASK_A_MODEL else code)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    run(example, tmp_path, str(example))


def test_every_page_has_an_example() -> None:
    assert {page.stem for page in PAGES} == {adapter_of(example) for example in EXAMPLES}


def test_no_framework_is_imported_before_its_adapter() -> None:
    code = "import sys, memorist.integrations; memorist.open; print(*{name.split('.')[0] for name in sys.modules})"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    pinned = {re.split("[-=]", line)[0] for line in PINNED}  # langgraph, langchain, llama, …
    assert "langgraph" in pinned
    assert [name for name in ran.stdout.split() if re.split("[-_]", name)[0] in pinned] == []
