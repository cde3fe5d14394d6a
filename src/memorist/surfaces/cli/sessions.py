"""Commands for the runs of an agent: session start, step, commit, discard, list, recall."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Unpack

import typer

from memorist.errors import NotFound
from memorist.model import Memory, RecallOptions
from memorist.surfaces.cli.app import Target
from memorist.surfaces.cli.find import Explain, OnlyContext, Question, answer
from memorist.surfaces.cli.options import all_memories, argument, command, option, recall_options
from memorist.surfaces.cli.output import count, one_line, print_gates, print_remembered, readable, say, say_table
from memorist.surfaces.cli.write import say_forgotten

if TYPE_CHECKING:
    from memorist.engine.engine import Engine
    from memorist.engine.vocabulary import Session


app = typer.Typer()
session_app = typer.Typer(help="Keep the steps of an agent's run, learn from them, and recall in its context.")
app.add_typer(session_app, name="session")

SessionId = Annotated[str, argument("ID", "The session's id, as `session start` and `session list` print it.")]


@command(session_app, creates=True)
def start(
    engine: Engine,
    goal: Annotated[str | None, argument("GOAL", "What the agent wants to achieve. Default: not stated.")] = None,
    id: Annotated[str | None, option("NAME", "The session's id; a known one is continued. Default: a new id.")] = None,
    scope: Annotated[str | None, option("TEXT", "The scope of its memories. Default: global.")] = None,
) -> Iterator[object]:
    """Start a session and print its id; a known id continues that session."""
    session = engine.session(goal, id, scope=scope)
    yield {"id": session.id, "goal": session.goal, "gates": session.gates}
    say((one_line(session.id), "cyan"))
    print_gates(session.gates)


@command(session_app)
def step(
    engine: Engine,
    id: SessionId,
    observation: Annotated[str, argument("OBSERVATION", "What the agent observed.")],
    action: Annotated[str | None, option("TEXT", "What the agent did then.")] = None,
    reward: Annotated[
        float | None,
        option("NUMBER", "How well that went, 0 to 1. Default: the next observation decides.", min=0, max=1),
    ] = None,
    number: Annotated[
        int | None, option("NUMBER", "The number of the step, from 1; the same step is kept once.", min=1)
    ] = None,
) -> Iterator[object]:
    """Keep what was observed and what was then done, word for word."""
    memory = _known(engine, id).step(observation, action, reward, number=number)
    yield memory
    print_remembered(memory, f"step {memory.origin.position}  ")


@command(session_app)
def commit(engine: Engine, id: SessionId) -> Iterator[object]:
    """Learn from the steps so far and close the session; another step opens it again."""
    done = _known(engine, id).commit()
    yield done
    learnt = readable(dict(done.counts)) or "nothing new"
    say(f"{count(done.steps, 'step', 'steps')} read by {one_line(done.by or 'nobody')}: {learnt} ({done.state})")
    if done.error is not None:
        say((f"It is tried again later: {one_line(done.error)}", "yellow"))


@command(session_app)
def discard(target: Target, id: SessionId) -> Iterator[object]:
    """Erase the steps that were not committed, for good, and close the session; nothing is learnt from them."""
    with target.open() as engine:
        receipt = _known(engine, id).discard()
    yield receipt
    say_forgotten(len(receipt.forgotten), receipt.pending, target)


@command(session_app, "list")
def list_(engine: Engine) -> Iterator[object]:
    """Print every session: its id, state, number of steps and goal."""
    shown = ("goal", "state", "steps", "learnt", "started", "error")
    runs = {
        memory.origin.session: {name: memory.metadata.get(name) for name in shown}
        for memory in all_memories(engine, {"kinds": ["source"]})
        if _is_run(memory)
    }
    yield [{"id": id, **run} for id, run in runs.items()]
    say_table(
        (
            (one_line(id or ""), "cyan"),
            str(run["state"]),
            count(run["steps"] or 0, "step", "steps"),
            one_line(run["goal"] or ""),
        )
        for id, run in runs.items()
    )
    if not runs:
        say("No sessions here.")


@command(session_app, "recall", recall_options)
def recall_in_context(
    target: Target,
    id: SessionId,
    query: Question,
    as_json: bool,
    explain: Explain = False,
    only_context: OnlyContext = False,
    **options: Unpack[RecallOptions],
) -> Iterator[object]:
    """Recall with the session's goal and last three steps before the question; a plain recall for an unknown one."""
    given: Any = options  # it may name another session, to which nothing is shown twice
    yield from answer(
        target, lambda engine: engine.recall_in_context(id, query, **given), as_json, explain, only_context
    )


def _is_run(memory: Memory) -> bool:
    from memorist.engine.vocabulary import session_key

    return memory.origin.key == session_key(memory.origin.session or "") and memory.version_of is None


def _known(engine: Engine, id: str) -> Session:
    """A session that was started before: a misspelt id must not start another."""
    from memorist.engine.vocabulary import run_of

    if run_of(engine.store, id) is None:
        raise NotFound(f"There is no session {id!r}", remedy="Start one with `memorist session start`.")
    return engine.session(id=id)
