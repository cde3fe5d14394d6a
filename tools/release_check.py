"""What must hold before a release, step by step: `make release-check`, or `python tools/release_check.py`.

Every step runs, also after one that fails; each says whether it passed, and if not what to do. `--only` and `--skip`
choose steps by name, `--list` names them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
SHOWN = 30
"""The last lines of a failed command that are shown."""


class Failed(Exception):
    """Why a step failed."""


class NotHere(Exception):
    """Why a step cannot run on this machine."""


@dataclass(frozen=True)
class Step:
    """A named check, and what to do if it fails."""

    name: str
    run: Callable[[], object]
    remedy: str


def command(*words: str) -> None:
    """Run a command; if it fails, its last lines say why."""
    ran = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode:
        raise Failed("\n".join(["$ " + " ".join(words), *ran.stdout.splitlines()[-SHOWN:]]))


def target(name: str) -> Callable[[], None]:
    """A target of the Makefile."""

    def make() -> None:
        if not re.search(rf"^{name}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE):
            raise NotHere(f"the Makefile has no target {name}")
        command("make", name)

    return make


def tests(*names: str) -> Callable[[], None]:
    """Some tests by file or name."""
    return lambda: command(sys.executable, "-m", "pytest", "-q", *names)


def tracked() -> list[str]:
    """The files in git."""
    return subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def committed() -> None:
    """Whether the tree is what git has."""
    changed = subprocess.run(["git", "status", "--short"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    if changed:
        raise Failed(changed.rstrip())


def version() -> None:
    """Whether the version is a release, not tagged yet, and the same everywhere."""
    words = (ROOT / "src/memorist/__init__.py").read_text(encoding="utf-8")
    (number,) = re.findall(r'^__version__ = "(.*)"$', words, re.MULTILINE)
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", number):
        raise Failed(f"{number} is not a version of a release")
    tags = subprocess.run(["git", "tag", "--list", f"v{number}"], cwd=ROOT, capture_output=True, text=True, check=True)
    at_head = subprocess.run(["git", "tag", "--points-at"], cwd=ROOT, capture_output=True, text=True, check=True)
    if tags.stdout.strip() and f"v{number}" not in at_head.stdout.split():
        raise Failed(f"v{number} is tagged already, on another commit")
    tests("tests/shape/test_packaging.py", "-k", "version or pins or pythons")()


FRAGMENT = re.compile(r"\+[a-z0-9-]+\.([a-z]+)\.md")
LONGEST_FRAGMENT = 600


def changelog() -> None:
    """Whether each news fragment has a name and a text that the changelog can use."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
    kinds = {kind["directory"] for kind in settings["type"]}
    faults = [
        f"{file.name}: {fault}"
        for file in sorted((ROOT / settings["directory"]).iterdir())
        if file.name != "README.md" and (fault := fragment_fault(file, kinds))
    ]
    if faults:
        raise Failed("\n".join(faults))
    command(sys.executable, "-m", "towncrier", "build", "--draft", "--version", "0.0.0")


def fragment_fault(file: Path, kinds: set[str]) -> str | None:
    """What is wrong with a news fragment."""
    named = FRAGMENT.fullmatch(file.name)
    text = file.read_text(encoding="utf-8").strip()
    if named is None or named[1] not in kinds:
        return f"the name is not +SUBJECT.KIND.md with a KIND of {', '.join(sorted(kinds))}"
    if not text or len(text) > LONGEST_FRAGMENT:
        return f"it is empty or longer than {LONGEST_FRAGMENT} characters"
    return "it begins with a dash" if text.startswith("-") else None


HOSTS = re.compile(r"\b(?:pypi|pythonhosted|npmjs|ghcr|quay|docker|archive\.ubuntu|deb\.debian)\.(?:org|io|com)\b")
PATHS = re.compile(r"(?<![\w.~/-])/(?:work|root|Users|opt/(?:pypi|wheels)[\w-]*)/")
MEANT = {
    "tests/attacks/texts/": "samples of secrets and of harmless texts",
    "training/multilingual/fetch.py": "fetches the dictionaries that the multilingual model was trained on",
}
"""Where such names are meant, and why."""


def private() -> None:
    """Whether no file names a package registry, or a folder of the machine it was written on."""
    faults = [
        f"{name}:{number}: {found[0]}"
        for name in tracked()
        if not name.startswith(tuple(MEANT))
        for number, line in enumerate(_lines(ROOT / name), 1)
        if (found := HOSTS.search(line) or PATHS.search(line))
    ]
    if faults:
        raise Failed("\n".join(faults[:SHOWN]))


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines() if file.stat().st_size < 1_000_000 else []
    except (UnicodeDecodeError, FileNotFoundError):  # a model, or a file that was deleted
        return []


def bench() -> None:
    """Whether recall is as good as its figures say."""
    if not DATA.is_dir():
        raise NotHere(f"no evaluation data in {DATA}")
    target("bench-check")()


STEPS = (
    Step("committed", committed, "Commit or discard these changes."),
    Step(
        "version",
        version,
        "Set the version in src/memorist/__init__.py, and in deploy/ and packages/ what depends on it.",
    ),
    Step("changelog", changelog, "Mend the fragment as changelog.d/README.md says."),
    Step("private", private, "Remove the name; a registry is chosen by the settings of pip or npm."),
    Step(
        "licences",
        tests("tests/shape/test_packaging.py", "-k", "licence"),
        "Put the licence beside the file, or into NOTICE.",
    ),
    Step("check", target("check"), "Run `make check` and mend what it says."),
    Step("tests", target("test-all"), "Run the failed test alone: .venv/bin/python -m pytest NAME."),
    Step("browser", target("test-browser"), "Run `make test-browser` and mend the inspector."),
    Step("integrations", target("test-integrations"), "Run `make test-integrations`; a framework may have changed."),
    Step("docs", target("docs"), "Run `make docs` and mend the page or link that it names."),
    Step("wheels", target("test-wheels"), "Run `python tools/wheels.py --python VERSION` and mend what is missing."),
    Step("size", target("size"), "Find the package that grew in the table of `make size`."),
    Step(
        "mutants",
        target("mutants"),
        "Write a test for each fault that `make mutants` names, or its reason in EQUIVALENT.",
    ),
    Step("bench", bench, "Compare `make bench-check` with the last release; a drop needs a reason, or a fix."),
)


def outcome(step: Step) -> bool:
    """Run a step, say what came of it, and return whether it may be released with that."""
    began = time.monotonic()
    try:
        step.run()
    except NotHere as why:
        print(f"- {step.name}: not run: {why}", flush=True)
        return True
    except Failed as why:
        print(f"✗ {step.name}: failed after {time.monotonic() - began:.0f} s\n{why}\n  → {step.remedy}", flush=True)
        return False
    print(f"✓ {step.name}: passed in {time.monotonic() - began:.0f} s", flush=True)
    return True


def main() -> int:
    names = [step.name for step in STEPS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=names, metavar="STEP", default=names)
    parser.add_argument("--skip", nargs="+", choices=names, metavar="STEP", default=[])
    parser.add_argument("--list", action="store_true", help="name the steps")
    given = parser.parse_args()
    if given.list:
        print("\n".join(names))
        return 0
    chosen = [step for step in STEPS if step.name in given.only and step.name not in given.skip]
    failed = [step.name for step in chosen if not outcome(step)]
    left = [name for name in names if name not in {step.name for step in chosen}]
    print(f"Failed: {', '.join(failed)}." if failed else f"{len(chosen)} of {len(STEPS)} steps are fine.")
    if left:
        print(f"Left out: {', '.join(left)}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
