"""What each event of a coding agent does with a memory: tell what fits, or keep what was learnt.

What is told is fenced data, like the context of a recall. Nothing is told if nothing fits.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memorist.errors import NotFound
from memorist.project import GLOBAL, scope_of
from memorist_agents.clients import CLIENTS, PRE_COMPACT, PROMPT, SESSION_START, STOP, TOOL_FAILURE
from memorist_agents.payload import Payload, is_noise

if TYPE_CHECKING:
    from memorist.engine.engine import Engine
    from memorist.model import Filters, Memory, Recall
    from memorist.surfaces.cli.app import Target


TOKENS = {SESSION_START: 800, PROMPT: 600, TOOL_FAILURE: 400}
"""The longest context of each event."""
PIN_TOKENS = 300
MOST_TOLD = 5
LIKELY = 0.5
"""The probability from which on a memory is told without being asked for."""
LONGEST_QUESTION = 4000
MOST_READ = 200
"""The most memories that are read for a fix that somebody wrote down."""
FENCE = "<memories>\n{}\n</memories>"
"""Around what is told; no text of a memory can end it."""


@dataclass(frozen=True, slots=True)
class HookCall:
    """An event, the client it comes from, and what it says."""

    event: str
    client: str
    payload: Payload
    project: Path | None

    @property
    def scope(self) -> str:
        """The scope of the project's memories."""
        return scope_of(self.project)

    @property
    def session(self) -> str | None:
        """The name of the session in the store."""
        return f"{self.client}:{self.payload.session}" if self.payload.session else None


def handled(call: HookCall, target: Target) -> str | None:
    """Handle an event; returns what the client shall read, or None."""
    if call.payload.ignored:
        return None
    handle = {
        SESSION_START: _start_session,
        PROMPT: _answer_prompt,
        TOOL_FAILURE: _keep_failure,
        STOP: _keep_lessons,
        PRE_COMPACT: _keep_conversation,
    }[call.event]
    try:
        told = handle(call, target)
    except NotFound:  # there is no memory yet, and telling creates none
        return None
    return None if not told else _answered(call, FENCE.format(told))


def _answered(call: HookCall, context: str) -> str | None:
    """The answer in the shape that the client reads; None if it reads none for this event."""
    if call.client == "cursor":
        return json.dumps({"additional_context": context}) if call.event == SESSION_START else None
    hooks = CLIENTS[call.client].hooks if call.client in CLIENTS else None
    name = next((event.native for event in hooks.events if event.event == call.event), None) if hooks else None
    if name is None or call.client == "windsurf":
        return None
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}})


def _opened(target: Target, *, create: bool = False, ahead: bool = True) -> Engine:
    """The memory, without the threads that work on pending jobs: a hook has no time for them."""
    return target.open(create=create, ahead=ahead, background=False)


# Telling


def _start_session(call: HookCall, target: Target) -> str:
    """The pinned memories of all projects, and what an agent of this one should know; no question is asked yet."""
    from memorist_agents.lessons import FAILED

    most = TOKENS[SESSION_START]
    with _opened(target, ahead=False) as engine:
        pins = engine.wake_up(PIN_TOKENS, scope=GLOBAL, tier="pinned")
        if call.project is None:
            return pins.context
        known = engine.wake_up(most - pins.tokens, scope=call.scope, where={"not": FAILED})
    return "\n".join(filter(None, (pins.context, known.context)))


def _answer_prompt(call: HookCall, target: Target) -> str:
    """The memories that probably matter for a prompt."""
    if is_noise(call.payload.prompt):
        return ""
    with _opened(target) as engine:
        return _fitting(engine, call, call.payload.prompt)


def _fitting(engine: Engine, call: HookCall, question: str, **filters: Any) -> str:
    """The context for a question, if a memory that was not told before probably answers it."""
    found: Recall = engine.recall(
        question[:LONGEST_QUESTION],
        scope=sorted({call.scope, GLOBAL}),
        limit=MOST_TOLD,
        min_confidence=LIKELY,
        session=call.session,
        fresh=True,
        speaker="user",
        max_tokens=TOKENS[call.event],
        **filters,
    )
    standing = {memory.id for memory in found.standing}
    fits = not found.abstained and any(item.memory.id not in standing for item in found.items)
    return found.context if fits else ""


# Keeping


def _keep_failure(call: HookCall, target: Target) -> str:
    """Keep a command that failed for a while; tell what helped when it failed before."""
    from memorist_agents import lessons

    kept = lessons.failure(call.payload.command, call.payload.error)
    if kept is None:
        return ""
    with _opened(target, create=True) as engine:
        known = _known(engine, kept["key"], call.scope)
        fixes = [memory for memory in known if memory.kind == "procedural"] or _written_down(engine, call)
        told = _listed(fixes) if fixes else _fitting(engine, call, kept["text"], kinds="procedural")
        if not known:
            expires = datetime.now(UTC) + timedelta(days=lessons.DAYS_OF_FAILURE)
            _keep(engine, call, [{**kept, "expires_at": expires}])
    return told


def _listed(fixes: Sequence[Memory]) -> str:
    """What helped when this failed before, as far as there is room."""
    from memorist.engine.waking import listing

    return listing(fixes, TOKENS[TOOL_FAILURE], datetime.now(UTC))[0]


def _known(engine: Engine, key: str, scope: str) -> list[Memory]:
    """The current memory with a key: what helped when this failed before, or else the mere failure."""
    from memorist.model.request import listing_filter

    where = listing_filter({"scope": scope}, datetime.now(UTC))
    return [memory for memory in engine.store.by_key([key]) if where.admits(memory)]


def _written_down(engine: Engine, call: HookCall) -> list[Memory]:
    """The newest memories that quote this very command and error: a fix that the user or the agent wrote down."""
    from memorist.engine.waking import KINDS
    from memorist.model.request import listing_filter
    from memorist.recall.standing import newest_memories
    from memorist_agents import lessons

    quoted = lessons.quotes(call.payload.command, call.payload.error)
    if not quoted:
        return []
    words = " ".join(word for word in " ".join(quoted).split() if word.isalpha())  # numbers vary
    told = {"text": {"contains": words}, "not": lessons.FAILED}
    options: Filters = {"scope": sorted({call.scope, GLOBAL}), "kinds": KINDS, "where": told}
    found = newest_memories(engine.store, engine.store.view(), listing_filter(options, datetime.now(UTC)), MOST_READ)
    own = [memory for memory in found if memory.origin.position is None]  # no turns of a conversation
    return [memory for memory in own if lessons.is_quoted(quoted, memory.text)][:MOST_TOLD]


def _keep_lessons(call: HookCall, target: Target) -> str:
    """Keep what helped when commands failed, and standing wishes of the user."""
    from memorist_agents import lessons, transcript

    events = transcript.read(call.payload.transcript)
    said = [call.payload.prompt] if call.payload.prompt else lessons.prompts(events)
    learnt = [*lessons.lessons(events), *lessons.wishes(said)]
    if learnt:
        with _opened(target, create=True) as engine:
            _keep(engine, call, learnt)
    return ""


def _keep_conversation(call: HookCall, target: Target) -> str:
    """Keep what was said and learnt before the client summarises it."""
    from memorist_agents import lessons, transcript

    events = transcript.read(call.payload.transcript)
    learnt = [*lessons.lessons(events), *lessons.conversation(events)]
    if learnt:
        with _opened(target, create=True) as engine:
            _keep(engine, call, learnt)
    return ""


def _keep(engine: Engine, call: HookCall, memories: Sequence[dict[str, Any]]) -> None:
    """Keep memories in the scope of the project, in one transaction."""
    common = {"scope": call.scope, "source": call.client, "session": call.session}
    engine.remember_many([{**common, **memory} for memory in memories])
