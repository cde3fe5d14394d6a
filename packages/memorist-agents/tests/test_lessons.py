"""What a turn of a coding agent teaches: what made a failed command succeed, as it was run, or nothing at all."""

from __future__ import annotations

import pytest

from memorist_agents.lessons import failure, is_quoted, lessons, quotes
from memorist_agents.transcript import ActionResult, AgentAction, Event, Said

NO_UPSTREAM = """Exit code 128
fatal: The current branch master has no upstream branch.
To push the current branch and set the remote as upstream, use

    git push --set-upstream origin master

To have this happen automatically, see 'push.autoSetupRemote' in 'git help config'."""
NO_MODULE = "Exit code 1\nTraceback (most recent call last):\nModuleNotFoundError: No module named 'httpx'"
REJECTED = "error: failed to push some refs\nhint: Updates were rejected; use 'git pull' before pushing again."
FLAKY = "Exit code 1\nFAILED tests/test_mill.py::test_grinding - TimeoutError: no answer in 5 s"
PEERS = "npm error code ERESOLVE\nnpm error Fix the conflict, or retry with --force or --legacy-peer-deps."
Step = tuple[str, str | None]


def turn(*steps: Step) -> list[Event]:
    """A turn of commands, each with its error, or None if it succeeded; a command that begins with @ is an edit."""
    events: list[Event] = [Said("user", "Get it done.")]
    for number, (command, error) in enumerate(steps):
        id = str(number)
        events.append(AgentAction(id, command.removeprefix("@"), shell=not command.startswith("@")))
        events.append(ActionResult(id, error is None, error or "done"))
    return events


def taught(*steps: Step) -> list[str]:
    return [lesson["text"] for lesson in lessons(turn(*steps))]


HELPED: dict[str, tuple[list[Step], str]] = {
    "the form that the error suggests": (
        [("git push", NO_UPSTREAM), ("git push --set-upstream origin master", None)],
        "`git push` failed: fatal: The current branch master has no upstream branch. "
        "What helped: `git push --set-upstream origin master`.",
    ),
    "its short form": (
        [("git push", NO_UPSTREAM), ("git status", None), ("git push -u origin HEAD", None)],
        "`git push` failed: fatal: The current branch master has no upstream branch. "
        "What helped: `git push -u origin HEAD`.",
    ),
    "an option that the error names": (
        [("npm install", PEERS), ("npm install --legacy-peer-deps", None)],
        "`npm install` failed: npm error code ERESOLVE. What helped: `npm install --legacy-peer-deps`.",
    ),
    "a package that the error names": (
        [
            ("pytest -q", NO_MODULE),
            ("ls", None),
            ("@/mill/README.md", None),
            ("uv add httpx", None),
            ("pytest -q", None),
        ],
        "`pytest -q` failed: ModuleNotFoundError: No module named 'httpx'. What helped: `uv add httpx`.",
    ),
    "a command that the error suggests": (
        [("git push", REJECTED), ("git pull --rebase", None), ("git push", None)],
        "`git push` failed: error: failed to push some refs. What helped: `git pull --rebase`.",
    ),
    "the only thing that was set up": (
        [
            ("npm test", "Error: Cannot find module 'left-pad'"),
            ("cat package.json", None),
            ("npm ci", None),
            ("npm test", None),
        ],
        "`npm test` failed: Error: Cannot find module 'left-pad'. What helped: `npm ci`.",
    ),
    "a file that the error names": (
        [("make", "config.mk:3: error: missing separator"), ("@/mill/config.mk", None), ("make", None)],
        "`make` failed: config.mk:3: error: missing separator. What helped: a change of /mill/config.mk.",
    ),
    "the same in another folder": (
        [("make mill", "make: *** No rule to make target 'mill'."), ("cd tools && make mill", None)],
        "`make mill` failed: make: *** No rule to make target 'mill'. What helped: `cd tools && make mill`.",
    ),
    "the same by a runner": (
        [("pytest -q", "bash: pytest: command not found"), ("uv run pytest -q", None)],
        "`pytest -q` failed: bash: pytest: command not found. What helped: `uv run pytest -q`.",
    ),
    "another name of the program": (
        [("python mill.py", "bash: python: command not found"), ("python3 mill.py", None)],
        "`python mill.py` failed: bash: python: command not found. What helped: `python3 mill.py`.",
    ),
}


@pytest.mark.parametrize("case", HELPED)
def test_a_lesson_names_what_changed_as_it_was_run(case: str) -> None:
    steps, text = HELPED[case]
    assert taught(*steps) == [text]


NOTHING: dict[str, list[Step]] = {
    "running it again": [("pytest", FLAKY), ("pytest", None)],
    "looking around": [("pytest", FLAKY), ("git diff", None), ("cat mill.py", None), ("pytest", None)],
    "a commit": [("pytest", FLAKY), ("git commit -am wip", None), ("pytest", None)],
    "an edit of another file": [("pytest", FLAKY), ("@/mill/README.md", None), ("pytest", None)],
    "two things that were set up": [
        ("npm test", FLAKY),
        ("npm ci", None),
        ("docker compose up -d", None),
        ("npm test", None),
    ],
    "a hidden status": [("pytest", FLAKY), ("pytest 2>&1 | tail -5", None)],
    "an ignored status": [("pytest", FLAKY), ("pytest || true", None)],
    "a status of something else": [("pytest", FLAKY), ("pytest; echo done", None)],
    "other tests": [("pytest", FLAKY), ("pytest tests/test_oven.py", None)],
    "fewer tests": [("pytest", FLAKY), ("pytest -k oven", None)],
    "another script": [("npm run build", PEERS), ("npm run lint", None)],
    "another module": [("python -m pytest", FLAKY), ("python -m pip list", None)],
    "another branch": [("git push origin mill", REJECTED), ("git push origin oven", None)],
    "a mention of it": [
        ("pytest", "bash: pytest: command not found"),
        ("which -a pytest", None),
        ("echo pytest", None),
    ],
    "it still fails": [("git push", NO_UPSTREAM), ("git push -u origin master", REJECTED)],
    "another failure in between": [("pytest", NO_MODULE), ("uv add httpx", None), ("pytest", FLAKY), ("pytest", None)],
    "a step that failed": [("pytest", NO_MODULE), ("uv add httpx", "error: no network"), ("pytest", None)],
    "a script that cannot be quoted": [
        ("make", FLAKY),
        ("python - <<'E'\nprint('tests/test_mill.py')\nE", None),
        ("make", None),
    ],
}


@pytest.mark.parametrize("case", NOTHING)
def test_nothing_is_taught_if_it_is_not_known_what_helped(case: str) -> None:
    assert taught(*NOTHING[case]) == []


def test_a_result_that_tells_nothing_is_neither_a_failure_nor_a_success() -> None:
    stopped = [Said("user", "Go."), AgentAction("1", "git push"), ActionResult("1", None, NO_UPSTREAM)]
    worked = [AgentAction("2", "git push -u origin master"), ActionResult("2", True)]
    assert lessons([*stopped, *worked]) == []
    failed = [AgentAction("1", "git push"), ActionResult("1", False, NO_UPSTREAM)]
    assert lessons([*failed, AgentAction("2", "git push -u origin master"), ActionResult("2", None)]) == []
    assert len(lessons([*failed, *worked])) == 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("make  mill", "Error 2 at 0x7f31"), ("make mill", "Error 3 at 0x9a00"), True),
        (("cd /mill && make", "Error: commit 4f2a91c8 is gone"), ("make", "Error: commit 99ab01ff is gone"), True),
        (("make mill", "Error: no flour"), ("make mill", "Error: no water"), False),
        (("make mill", "Error: no flour"), ("make oven", "Error: no flour"), False),
    ],
)
def test_the_same_failure_has_the_same_key(one: tuple[str, str], other: tuple[str, str], same: bool) -> None:
    first, second = failure(*one), failure(*other)
    assert first is not None and second is not None
    assert (first["key"] == second["key"]) is same


@pytest.mark.parametrize(
    ("command", "error", "text"),
    [
        ("make mill", "Makefile:7: *** missing separator.  Stop.", "If make mill says missing separator, stop it."),
        ("uv run pytest -q", NO_MODULE, "`uv run pytest -q` with No module named httpx: uv add httpx"),
        ("pytest", "bash: pytest: command not found", "pytest: Command not found? Say uv run pytest."),
    ],
)
def test_a_fix_is_known_by_the_words_of_the_command_and_the_error(command: str, error: str, text: str) -> None:
    quoted = quotes(command, error)
    assert quoted and is_quoted(quoted, text)
    assert not is_quoted(quoted, text.replace(command, "something else"))
