"""A context that comes back is recognised, whichever recipe wrote it, and ordinary texts are not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memorist.engine.engine import Engine
from memorist.model import Outcome
from memorist.recall.assemble import FACTS_HEADER
from memorist.recall.recipes import RECIPES
from memorist.remember.gates.checks import form_of
from memorist.testing import FakeEmbedder
from memorist.text.labels import ALREADY_SHOWN, AS_DATA, FACT, HEADER, ITEM, NOTHING, framed_lines, unframe
from tests.recipes.worlds import opened

TALK = (
    ("Ann", "We moved to the yellow house on Elm Street in June."),
    ("Ben", "Which room of the yellow house is yours?"),
    ("Ann", "The one under the roof."),
    ("Ben", "The neighbours of the yellow house keep eleven noisy geese."),
)
LONG = "The yellow house has a long history. " + "Every owner changed something about it. " * 20
QUESTION = "What about the yellow house?"
SHAPES: dict[str, Callable[[list[str]], list[str]]] = {
    "whole": lambda lines: lines,
    "its beginning": lambda lines: lines[:3],
    "without its header": lambda lines: lines[1:],
    "its end": lambda lines: lines[-3:],
    "indented": lambda lines: [f"    {line}" for line in lines],
    "quoted": lambda lines: [f"> {line}" for line in lines],
    "a list in a quotation": lambda lines: [f"> - {line}" for line in lines],
    "by another system": lambda lines: [f"{line}\r" for line in lines],
    "inside an answer": lambda lines: ["Let me look.", "", *lines, "", "So it is yellow."],
}


def told(engine: Engine) -> None:
    for place, (speaker, text) in enumerate(TALK):
        engine.remember(text, speaker=speaker, session="s", position=place)
    engine.remember(LONG, source="house.md", at="2024-06-01")


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_recognises_its_context_when_it_comes_back(recipe: str) -> None:
    with opened(embedder=FakeEmbedder()) as engine:
        told(engine)
        lines = engine.recall(QUESTION, recipe=recipe, track=False).context.split("\n")
        kept = {name: engine.remember("\n".join(shape(lines))) for name, shape in SHAPES.items()}
        assert len(lines) >= 5 and engine.stats().kinds["episodic"] == len(TALK) + 1
    assert {name: one.outcome for name, one in kept.items()} == dict.fromkeys(SHAPES, Outcome.WITHHELD)


@pytest.mark.parametrize("recipe", RECIPES)
def test_one_line_of_a_context_is_not_kept_again_unless_it_says_more(recipe: str) -> None:
    with opened(embedder=FakeEmbedder()) as engine:
        told(engine)
        found = engine.recall(QUESTION, recipe=recipe, track=False).context
        line = next(part for part in found.split("\n") if "geese" in part)
        assert engine.remember(line).outcome is Outcome.WITHHELD
        assert engine.remember(f"{line}\nThey were sold at the market last Sunday.").outcome is Outcome.KEPT


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_an_empty_recall_says_is_not_kept(recipe: str) -> None:
    with opened(embedder=FakeEmbedder()) as engine:
        nothing = engine.recall(QUESTION, recipe=recipe).context
        assert nothing == NOTHING and engine.remember(f"> {nothing}").outcome is Outcome.WITHHELD


@pytest.mark.parametrize(
    "text",
    [
        "[1] 2024-05-01 12:03:11 started\n[2] 2024-05-01 12:03:12 ready\n[3] 2024-05-01 12:03:15 stopped",
        "[1] Smith, J. (2024). Geese.\n[2] Lee, K. (2023). Houses.\n[3] Ito, M. (2022). Roofs.",
        "2024-06-01: moved in\n2024-06-02: painted the door\n2024-06-03: met the geese",
        "- 2024-06-01 move in\n- 2024-06-02 paint the door\n- 2024-06-03 meet the geese (ask Ben)",
        "1. 2024-06-01 Ann: agenda\n2. 2024-06-02 Ben: minutes\n3. 2024-06-03 Ann: budget",
        "Nothing is known about this. We asked the owner, who remembered the year it was built.",
        "Already shown in this session: the first two slides.",
        f"The page begins with {HEADER}",
    ],
)
def test_ordinary_dates_lists_and_citations_pass(text: str) -> None:
    assert form_of(text) is None
    with opened(embedder=FakeEmbedder()) as engine:
        told(engine)
        assert engine.remember(text).outcome is Outcome.KEPT


def test_a_frame_reads_what_it_writes() -> None:
    fact = {"relation": "lives_in", "validity": "2024-06-03 to now", "places": "[1], ", "id": "5c1f0d2e"}
    lines = (
        ITEM.around("Ann: Hi. (chat.md)", number=1, days="2024-06-03 to 2024-07-01"),
        ITEM.around("(earlier; now Oslo since 2024-07-01) (now) Ann: Hi.", number=12, days="2024-06-03"),
        FACT.around("Ann lives in Oslo.", **fact),
        ALREADY_SHOWN.around("2024-06-03 Ann", id="5c1f0d2e"),
    )
    assert lines[2] == "- Ann lives in Oslo. (lives_in; 2024-06-03 to now; [1], id 5c1f0d2e)"
    assert [unframe(line) for line in lines] == [
        "Ann: Hi. (chat.md)",
        "Ann: Hi.",
        "Ann lives in Oslo.",
        "2024-06-03 Ann",
    ]
    assert framed_lines("\n".join(lines)) == 4 and FACTS_HEADER.endswith(AS_DATA)


@pytest.mark.parametrize(
    "piece", ["- ", "> ", "[1] 2024-06-03 (a) ", "- x (a; 2024-06-03 to now; ", "id 5c1f0d2", "(", f"{HEADER}x"]
)
def test_a_hostile_text_is_read_in_linear_time(piece: str) -> None:
    assert framed_lines(piece * 20_000) <= 1
