"""The packages fit together: one version, pins that match, extras that exist and are described, licences that ship."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import memorist
from tools.wheels import CLIENT, PROJECTS, PYTHONS, packed

ROOT = Path(__file__).parents[2]
PACKAGES = PROJECTS[1:]
MODELS = [package for package in PACKAGES if "-models" in package.name]
SATELLITES = [package for package in PACKAGES if package not in (*MODELS, CLIENT)]
"""The distributions over memorist; they and memorist-client share its version."""
OURS_ALONE = {"dev"}
"""The extra for those who work on Memorist."""
OTHER_MODELS = {"best", "multilingual"}
DOCUMENTS = [
    ROOT / "README.md",
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "examples").rglob("*.py"),
    *(ROOT / "deploy").iterdir(),
]
FOLDERS = [ROOT / "src", *ROOT.glob("packages/*/src")]
SOURCES = [file for folder in FOLDERS for file in folder.rglob("*") if file.suffix in (".py", ".md")]
FOREIGN = {"bip39.txt"}
"""Files by others that lie among ours; all others are in folders named `vendor`."""


def project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def extras() -> dict[str, list[str]]:
    return project(ROOT)["optional-dependencies"]


def test_the_version_is_written_in_one_place() -> None:
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert whole["project"]["dynamic"] == ["version"] and "version" not in whole["project"]
    assert whole["tool"]["hatch"]["version"]["path"] == "src/memorist/__init__.py"
    for file in (ROOT / "deploy").iterdir():
        for version in re.findall(r"memorist:(\d[\w.]*)", file.read_text(encoding="utf-8")):
            assert version == memorist.__version__, file.name
    assert project(CLIENT)["version"] == memorist.__version__
    for satellite in SATELLITES:
        assert project(satellite)["version"] == memorist.__version__
        assert f"memorist=={memorist.__version__}" in project(satellite)["dependencies"]


def test_the_pins_are_the_versions_of_the_packages() -> None:
    pinned = [*project(ROOT)["dependencies"], *(name for wanted in extras().values() for name in wanted)]
    pins = {
        requirement.partition("==")[0].partition("[")[0]: requirement.partition("==")[2]
        for requirement in pinned
        if "memorist-" in requirement
    }
    assert pins == {project(package)["name"]: project(package)["version"] for package in PACKAGES}


def test_all_packages_support_the_same_pythons() -> None:
    assert {project(path)["requires-python"] for path in PROJECTS} == {f">={PYTHONS[0]}"}
    named = {
        classifier.rpartition(" ")[2] for classifier in project(ROOT)["classifiers"] if "Python :: 3." in classifier
    }
    assert named <= set(PYTHONS), "`make test-wheels` does not try all of them"


def named_extras(file: Path) -> set[str]:
    """The extras that a file asks to install, and those that code passes on to such a message."""
    text = file.read_text(encoding="utf-8")
    asked = re.findall(r"(?:memorist|'\.|\"\.)\[([a-z0-9,_-]+)\]", text)
    passed = re.findall(r"\bextra=\"([a-z0-9_-]+)\"", text) if "ConfigDict" not in text else []
    return {name for names in (*asked, *passed) for name in names.split(",")}


def test_an_extra_that_is_named_exists() -> None:
    named = {str(file): named_extras(file) for file in (*DOCUMENTS, *SOURCES)}
    assert {"server", "bench", "spacy", "postgres"} <= set[str]().union(*named.values())
    assert {file: names - extras().keys() for file, names in named.items() if names - extras().keys()} == {}


def test_every_extra_is_described_where_one_installs() -> None:
    page = (ROOT / "docs/how-to/install.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    assert {name for cell in cells for name in re.findall("`(.*?)`", cell)} == extras().keys() - OURS_ALONE


def test_all_means_every_extra_but_other_models_and_frameworks() -> None:
    (everything,) = extras()["all"]
    named = set(re.findall(r"\[(.*)\]", everything)[0].split(","))
    pages = {page.stem for page in (ROOT / "docs/integrations").glob("*.md")} - {"README", "anthropic"}
    frameworks = {name.replace("_", "-") for name in pages} | {"anthropic-memory"}
    assert named == extras().keys() - OURS_ALONE - OTHER_MODELS - frameworks - {"all"}


FRAMEWORKS = ("agent_framework", "agents", "anthropic", "google", "langchain_core", "langgraph", "llama_index")
BLOCKED = f"sys.modules.update(dict.fromkeys({(*FRAMEWORKS, 'pydantic_ai', 'strands')!r}))"


def test_an_adapter_without_its_framework_names_its_extra() -> None:
    names = sorted(page.stem for page in (ROOT / "docs/integrations").glob("*.md") if page.stem != "README")
    code = f"""
import sys, memorist
from importlib import import_module
{BLOCKED}
for name in {names!r}:
    try:
        import_module(f"memorist.integrations.{{name}}")
    except memorist.MissingExtra as error:
        print(error.remedy)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    wanted = ["anthropic-memory" if name == "anthropic" else name.replace("_", "-") for name in names]
    assert ran.stdout.splitlines() == [f"Install it with: pip install 'memorist[{name}]'" for name in wanted]


def test_no_extra_has_an_underscore_which_an_old_pip_would_not_find() -> None:
    """A wheel names its extras with hyphens; pip before 23.3, as in Debian 12, compares them letter by letter."""
    assert [name for name in extras() if "_" in name] == []


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda folder: folder.name)
def test_a_package_is_typed_and_has_its_licences(folder: Path) -> None:
    for pattern in project(folder)["license-files"]:
        assert list(folder.glob(pattern)), pattern
    assert list(folder.glob("src/*/py.typed")) or "memorist/py.typed" in packed(folder)


@pytest.mark.parametrize("folder", MODELS, ids=lambda folder: folder.name)
def test_each_bundled_model_has_its_origin_and_licence_in_the_notice(folder: Path) -> None:
    notice = (folder / "NOTICE").read_text(encoding="utf-8")
    models = [path.parent for path in folder.glob("src/*/*/model.json")]
    assert models and "NOTICE" in project(folder)["license-files"]
    for model in models:
        assert model.name in notice, f"{model.name} is not in NOTICE"
        assert "licen" in (model / "README.md").read_text(encoding="utf-8").lower()


def test_each_file_by_others_has_its_licence_beside_it() -> None:
    files = [file for folder in FOLDERS for file in folder.rglob("*")]
    vendored = [path for path in files if path.parent.name == "vendor" and path.suffix not in (".LICENSE", ".md")]
    foreign = [*vendored, *(file for file in files if file.name in FOREIGN)]
    assert {path.name for path in foreign} >= {*FOREIGN, "htmx.min.js"}
    for file in foreign:
        assert (file.parent / f"{file.name.partition('.')[0]}.LICENSE").exists(), file.name
