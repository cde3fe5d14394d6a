"""The chat loops that people copy, asked the questions of the tutorial twice: no answer is worse the second time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from memorist.testing.llm_server import LLMRequest, OpenAIServer

ROOT = Path(__file__).parents[2]
TOLD = (
    "I left my tripod at Ingrid's.",
    "The plumber sent invoice INV-2024-0117 over 4,300 kroner.",
    "Alice prefers window seats.",
    "Alice lives in Stockholm.",
    "My son is allergic to nuts.",
)
ASKED = {
    "Where is my tripod?": "Ingrid",
    "Where is my trippod?": "Ingrid",
    "tripod": "Ingrid",
    "Who has my tripod?": "Ingrid",
    "invoice": "INV-2024-0117",
    "How much was the plumber's invoice?": "4,300 kroner",
    "Where does Alice live?": "Stockholm",
    "Which seat does Alice like?": "window seats",
    "Is there anything my boy cannot eat?": "allergic to nuts",
    "Which cake can my boy eat?": "allergic to nuts",
    "Who is the president of France?": "",
    "How high is the Eiffel Tower?": "",
}
"""The twelve questions, and what the line that answers each says; the last two have no answer."""
HEADERS = ("Memories, as data", "Memories that may not answer this", "Nothing is known about this")
"""The first lines of a context, the surest first."""

Model = Callable[[str, str], str]
Talk = Callable[[Iterable[str], Model], list[str]]
"""A session of a loop in a process of its own: the contexts that the model was given, one for each message."""


@dataclass(frozen=True)
class Told:
    """How well a context answers: the place of its first line that does, and how sure its header is."""

    place: int
    header: int


def lines(context: str) -> list[str]:
    """The items of a context, the best first; they are listed by date."""
    numbered = re.findall(r"^\[(\d+)\] (.*)$", context, re.MULTILINE)
    return [line for _, line in sorted(numbered, key=lambda one: int(one[0]))]


def told(context: str, answer: str) -> Told:
    right = [place for place, line in enumerate(lines(context)) if answer and answer in line]
    header = next(place for place, head in enumerate(HEADERS) if head in context)
    return Told(right[0] if right else 99, header if answer else -header)


def repeating(context: str, question: str) -> str:
    """A model that says what it read first."""
    read = lines(context)
    return (
        f"You told me: {read[0].split(': ', 1)[-1]}" if read else f"I don't have any information about {question[:-1]}."
    )


def short(context: str, _: str) -> str:
    """A model of few words, from which a later recall can learn nothing."""
    return "Let me help you with that. " + ("I found something in my notes." if lines(context) else "I do not know.")


PAGE_LOOP = """
import json, pathlib, re, sys
page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
block = re.search(r"```python\\n(.*?)```", page, re.DOTALL).group(1)
loop = {"__name__": "loop"}
exec(block.partition("with memorist.open")[0], loop)
def ask_model(prompt):
    print(json.dumps(prompt), flush=True)
    return json.loads(sys.stdin.readline())
loop["ask_model"] = ask_model
with loop["memorist"].open("agent.db") as memory:
    for line in sys.stdin:
        loop["chat"](memory, json.loads(line))
"""


def the_page(folder: Path) -> Talk:
    """The block of docs/first-memory.md, with another `ask_model`."""

    def talk(messages: Iterable[str], model: Model) -> list[str]:
        command = [sys.executable, "-W", "error", "-c", PAGE_LOOP, str(ROOT / "docs/first-memory.md")]
        read: list[str] = []
        with subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        ) as running:
            assert running.stdin is not None and running.stdout is not None
            for message in messages:
                print(json.dumps(message), file=running.stdin, flush=True)
                read.append(json.loads(running.stdout.readline()).rpartition("\n\nUser: ")[0])
                print(json.dumps(model(read[-1], message)), file=running.stdin, flush=True)
            running.stdin.close()
            assert running.wait() == 0
        return read

    return talk


def the_example(folder: Path) -> Talk:
    """examples/chat_agent.py, with a server of a model."""

    def talk(messages: Iterable[str], model: Model) -> list[str]:
        read: list[str] = []

        def answer(request: LLMRequest) -> str:
            read.append(request.messages[0]["content"])
            return model(read[-1], request.messages[1]["content"])

        with OpenAIServer(answer) as server:
            command = [sys.executable, "-W", "error", str(ROOT / "examples/chat_agent.py"), "--url", server.url]
            said = "".join(f"{message}\n" for message in (*messages, ""))
            subprocess.run(command, cwd=folder, input=said, text=True, check=True, capture_output=True)
        return read

    return talk


@pytest.mark.parametrize("model", [repeating, short])
@pytest.mark.parametrize("loop", [the_page, the_example])
def test_no_answer_is_worse_in_a_new_session(tmp_path: Path, loop: Callable[[Path], Talk], model: Model) -> None:
    talk = loop(tmp_path)
    talk(TOLD, lambda *_: "Noted.")
    first = dict(zip(ASKED, talk(ASKED, model), strict=True))
    again = dict(zip(ASKED, talk(ASKED, model), strict=True))
    worse = {
        question: (told(first[question], answer), told(again[question], answer))
        for question, answer in ASKED.items()
        if told(again[question], answer).place > told(first[question], answer).place
        or told(again[question], answer).header > told(first[question], answer).header
    }
    assert worse == {}
    assert all(told(first[question], answer).place == 0 for question, answer in ASKED.items() if answer)
