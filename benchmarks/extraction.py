"""The facts that rules find in texts of four kinds, and how many are right; or the time per turn of a conversation.

    python benchmarks/extraction.py DATA              # ../shared/data: the table of rules
    python benchmarks/extraction.py DATA --judge      # the facts in DATA that nobody has judged yet, shuffled
    python benchmarks/extraction.py DATA --time CHAT  # processor time per turn of a conversation: DATA/eval/locomo

The kinds are chats (the conversations in DATA), everyday worlds (DATA/everyday and training/everyday/worlds), documents
and code (pages of this project, and the pages, descriptions and docstrings of installed packages), and messages with
traps (benchmarks/facts, without the sets that the rules were written on). A fact in DATA or in a package is judged by a
line `KEY VERDICT` in benchmarks/facts/judged.txt; the key is a hash, since those texts are not ours to publish.
"""

from __future__ import annotations

import json
import lzma
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain
from pathlib import Path

import labelled
import numpy as np
from common import options, rows

from memorist.remember.extract import Statement, entities, mentions, statements
from memorist.remember.extract.names import date_spans

ROOT = Path(__file__).parents[1]
CHATS = ("locomo", "realtalk", "beam", "realmem", "statebench")
AT = datetime(2024, 6, 3, tzinfo=UTC)
SEED = 42
_LINE = re.compile(r"\d+ (\d{4}-\d\d-\d\d)\S* ([^:]{1,30}): (.*)")
_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
_PARAGRAPH = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Turn:
    text: str
    speaker: str | None = "Me"
    at: datetime = AT


def chat(folder: Path) -> Iterator[Turn]:
    for row in rows(folder / "corpus.jsonl"):
        meta = row.get("metadata") or {}
        yield Turn(row["text"], meta.get("speaker"), datetime.fromisoformat(meta.get("at") or "2024-06-03"))


def chats(data: Path) -> Iterator[Turn]:
    for name in CHATS:
        yield from chat(data / "eval" / name)
    with lzma.open(data / "train" / "train.json.xz") as file:
        sources = json.load(file)["sources"]
    for source in sources:
        if source["kind"] in {"fp", "dialog"}:
            yield from (Turn(text, who or "Me") for text, who in zip(source["units"], source["spk"], strict=True))


def worlds(data: Path) -> Iterator[Turn]:
    for file in sorted((data / "everyday").glob("world-*.json")):
        for memory in json.loads(file.read_text(encoding="utf-8"))["memories"]:
            yield Turn(
                memory["text"], memory.get("speaker") or "Me", datetime.fromisoformat(memory.get("at") or "2024-06-03")
            )
    for file in sorted((ROOT / "training" / "everyday" / "worlds").glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if found := _LINE.match(line):
                who = "Me" if found[2] == "-" else found[2]
                yield Turn(found[3], who, datetime.fromisoformat(found[1]).replace(tzinfo=UTC))


def documents(_: Path) -> Iterator[Turn]:
    packages = Path(np.__file__).parents[1]
    pages = chain(ROOT.glob("*.md"), (ROOT / "docs").rglob("*.md"), *map(packages.rglob, ("*.md", "METADATA", "*.rst")))
    for page in sorted(pages):
        for part in _PARAGRAPH.split(page.read_text(encoding="utf-8", errors="ignore")):
            yield Turn(part[:3_000])
    for module in sorted(packages.rglob("*.py")):
        for said in _DOCSTRING.findall(module.read_text(encoding="utf-8", errors="ignore"))[:30]:
            yield Turn(said[:1_500])


KINDS: dict[str, Callable[[Path], Iterator[Turn]]] = {
    "chats": chats, "everyday worlds": worlds, "documents and code": documents,
}  # fmt: skip


def said(turn: Turn) -> list[Statement]:
    return statements(turn.text, speaker=turn.speaker, at=turn.at)


def key(one: Statement) -> str:
    fact = one.fact
    return sha256("\n".join((one.quote, fact.subject, fact.relation, fact.object)).encode()).hexdigest()[:12]


def judged() -> dict[str, str]:
    lines = (labelled.FOLDER / "judged.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split() for line in lines if line and not line.startswith("#"))


def show_rules(data: Path) -> None:
    """The table of rules: the judged facts of each by kind of text, and how many are right."""
    verdicts, counts = judged(), defaultdict[str, Counter[str]](Counter)
    for kind, texts in KINDS.items():
        for fact in {key(fact): fact for turn in texts(data) for fact in said(turn)}.values():
            counts[fact.rule].update((kind, verdicts.get(key(fact), "unjudged")))
    for name in labelled.FRESH:
        for message in labelled.messages(labelled.FOLDER / f"{name}.txt"):
            for fact, verdict in message.judged():
                counts[fact.rule].update(("messages with traps", verdict))
    kinds = (*KINDS, "messages with traps")
    print(f"| rule | {' | '.join(kinds)} | right | roughly | wrong |")
    print("|---" * (len(kinds) + 4) + "|")
    total = sum(counts.values(), Counter[str]())
    by_count = sorted(counts.items(), key=lambda item: -item[1]["right"])
    for rule, found in (*((f"*{rule}*", found) for rule, found in by_count), ("all", total)):
        of = sum(found[verdict] for verdict in ("right", "roughly", "wrong"))
        cells = [*(str(found[kind] or "") for kind in kinds), f"{found['right']} of {of}"]
        print(f"| {' | '.join((rule, *cells, str(found['roughly'] or ''), str(found['wrong'] or '')))} |")
    if total["unjudged"]:
        print(f"\n{total['unjudged']} facts are not judged: see --judge")


def show_unjudged(data: Path) -> None:
    known = judged()
    found = {key(saying): saying for texts in KINDS.values() for turn in texts(data) for saying in said(turn)}
    new = [(name, one) for name, one in found.items() if name not in known]
    random.Random(SEED).shuffle(new)
    for name, one in new:
        print(f"{name} {one.fact.subject} | {one.fact.relation} | {one.fact.object}  <- {one.quote}")


def together(turn: Turn) -> None:
    dates = date_spans(turn.text, turn.at)
    mentions(turn.text, turn.at, dates=dates)
    entities(turn.text, dates=dates)
    said(turn)


def show_times(talk: list[Turn]) -> None:
    together(talk[0])  # the first text builds the date grammars
    print(f"{len(talk)} turns")
    works: dict[str, Callable[[Turn], object]] = {
        "statements": said,
        "entities": lambda turn: entities(turn.text),
        "mentions": lambda turn: mentions(turn.text, turn.at),
        "together": together,
    }
    for name, work in works.items():
        taken: list[float] = []
        for turn in talk:
            start = time.thread_time()
            work(turn)
            taken.append(time.thread_time() - start)
        median, high = np.percentile(np.array(taken) * 1000, [50, 95])
        print(f"{name:12} median {median:.3f} ms, p95 {high:.3f} ms, mean {np.mean(taken) * 1000:.3f} ms")


def main() -> None:
    arguments = options(__doc__)
    arguments.add_argument("data", type=Path, metavar="DATA")
    arguments.add_argument("--judge", action="store_true")
    arguments.add_argument("--time", type=Path, metavar="CHAT")
    given = arguments.parse_args()
    if given.time:
        show_times(list(chat(given.time)))
    elif given.judge:
        show_unjudged(given.data)
    else:
        show_rules(given.data)


if __name__ == "__main__":
    main()
