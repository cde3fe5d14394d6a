"""A process that asks one question loads and compiles only what that takes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

STORY = """
import json, re, sys

at_import, real = [], re._compiler.compile

def compile(expression, flags=0):
    frame = sys._getframe(1)
    while frame.f_globals["__name__"].partition(".")[0] == "re":
        frame = frame.f_back
    if "/memorist/" in frame.f_code.co_filename and frame.f_code.co_name == "<module>":
        at_import.append(frame.f_code.co_filename)
    return real(expression, flags)

re._compiler.compile = compile
import memorist

with memorist.open(sys.argv[1]) as memory:
    memory.remember("Alice moved to Stockholm.", at="2024-06-03")
    assert memory.recall("Where does Alice live?").items

ours = [name for name in sys.modules if name.partition(".")[0] == "memorist"]
json.dump({"modules": ours, "at_import": at_import}, sys.stdout)
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    store = tmp_path_factory.mktemp("cold") / "agent.db"
    ran = subprocess.run([sys.executable, "-c", STORY, store], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


def test_one_question_loads_fewer_than_150_modules(loaded: dict[str, list[str]]) -> None:
    assert len(loaded["modules"]) < 150, sorted(loaded["modules"])


def test_no_pattern_is_compiled_by_an_import(loaded: dict[str, list[str]]) -> None:
    assert not loaded["at_import"]
