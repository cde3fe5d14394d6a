"""What a session taught: commands that failed and what helped, wishes of the user, and what was said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from memorist.model.identity import fingerprint
from memorist.surfaces.agents.payload import is_noise
from memorist.surfaces.agents.transcript import Call, Event, Result, Said
from memorist.text.patterns import lazy
from memorist.text.wishes import standing_wish

LONGEST_COMMAND, LONGEST_ERROR, LONGEST_SAID = 300, 600, 2000
MOST_LESSONS, MOST_STEPS, MOST_SAID = 5, 6, 16
DAYS_OF_FAILURE = 30
"""How long a failure is remembered of which nobody knows what helped."""
UNTRUSTED, AGENT = 0, 2
"""The trust in the output of a command, which may print anything, and in what was said in a session."""
_STATUS = lazy(r"(?i)^\s*+(?:(?:command )?(?:exit(?:ed with)?|failed with)(?: status)?(?: code)?[: ]*+)?\d*+\s*+$")
_TELLING = lazy(r"(?i)error|exception|fail|cannot|can't|not found|no such|denied|unknown|undefined|invalid|missing")
_VARYING = lazy(r"0x[0-9a-f]+|\d+")
Fields = dict[str, Any]


def failure(command: str, error: str, helped: Sequence[str] = ()) -> Fields | None:
    """The memory of a command that failed, as keywords of `remember`; None if the error says nothing.

    The same failure has the same key, so what helped becomes its new version, and no failure is kept twice.
    """
    lines = [line.rstrip() for line in error[-20_000:].splitlines() if line.strip() and not _STATUS.match(line)]
    if not lines or not command.strip():
        return None
    told = next((line for line in lines if _TELLING.search(line)), lines[-1]).strip()
    shown = command.strip()[:LONGEST_COMMAND]
    excerpt = _excerpt(lines, told)
    text = f"The command `{shown}` failed:\n{excerpt}"
    if helped:
        text += f"\nWhat helped: {'; '.join(helped)}; then it succeeded."
    mark = fingerprint("failure", " ".join(shown.split()), _VARYING.sub("0", told))
    return {
        **{"text": text, "key": f"failure:{mark}", "trust": UNTRUSTED},
        **({"kind": "procedural", "importance": 0.6} if helped else {"importance": 0.3}),
    }


def _excerpt(lines: Sequence[str], told: str) -> str:
    """The lines from the one that tells most, as far as there is room; else the last ones."""
    first = next((place for place, line in enumerate(lines) if line.strip() == told), 0)
    kept = ""
    for line in lines[first:]:
        if len(kept) + len(line) > LONGEST_ERROR:
            break
        kept += f"{line}\n"
    return kept.strip() or told[:LONGEST_ERROR]


def lessons(events: Sequence[Event]) -> list[Fields]:
    """The failures of the last turn that were followed by a success of the same command, with what lies between."""
    turn = _last_turn(events)
    ended = {one.id: one for one in turn if isinstance(one, Result)}
    calls = [one for one in turn if isinstance(one, Call) and one.id in ended]
    found: dict[str, Fields] = {}
    for place, call in enumerate(calls):
        if not call.shell or ended[call.id].ok:
            continue
        later = next((n for n, one in enumerate(calls[place + 1 :], place + 1) if _repeats(one, call, ended)), None)
        if later is not None:
            steps = [_step(one) for one in calls[place + 1 : later] if ended[one.id].ok][-MOST_STEPS:]
            kept = failure(call.command, ended[call.id].output, steps or ["running it again"])
            if kept is not None:
                found[kept["key"]] = kept
    return list(found.values())[-MOST_LESSONS:]


def _repeats(one: Call, failed: Call, ended: dict[str, Result]) -> bool:
    """Whether a command that failed was run again, perhaps with other options, and succeeded."""
    return one.shell and ended[one.id].ok and _program(one.command) == _program(failed.command)


def _program(command: str) -> tuple[str, ...]:
    """What a command runs: its first two words, without variables set before it and the folder it is run in."""
    bare = re.sub(r"^(?:cd [^;&|]{0,200}(?:&&|;)\s*|\w{1,40}=\S{0,200}\s+)+", "", command.strip())
    return tuple(bare.split()[:2])


def _step(call: Call) -> str:
    return f"`{call.command.strip()[:LONGEST_COMMAND]}`" if call.shell else f"a change of {call.command}"


def _last_turn(events: Sequence[Event]) -> Sequence[Event]:
    """The events after the last prompt of the user."""
    places = [n for n, one in enumerate(events) if isinstance(one, Said) and one.role == "user"]
    return events[places[-1] :] if places else events


def wishes(said: Sequence[str]) -> list[Fields]:
    """The standing wishes in what the user said, such as "always run the tests with uv"."""
    found = (standing_wish(text) for text in said if not is_noise(text))
    common = {"kind": "semantic", "speaker": "user", "trust": AGENT, "importance": 0.7}
    return [{"text": wish.text, **common} for wish in found if wish]


def prompts(events: Sequence[Event]) -> list[str]:
    """What the user said in the last turn."""
    return [one.text for one in _last_turn(events)[:1] if isinstance(one, Said) and one.role == "user"]


def conversation(events: Sequence[Event]) -> list[Fields]:
    """The newest prompts of the user, and the last words of the agent before each further prompt."""
    kept = list(_exchanges([one for one in events if isinstance(one, Said)]))[-MOST_SAID:]
    return [
        {
            "text": one.text[:LONGEST_SAID],
            "speaker": one.role,
            "position": one.place,
            "trust": AGENT,
            "importance": 0.2,
            **({} if one.at is None else {"at": one.at}),
        }
        for one in kept
    ]


def _exchanges(said: Sequence[Said]) -> Iterator[Said]:
    for number, one in enumerate(said):
        last = number + 1 == len(said) or said[number + 1].role == "user"
        if (one.role == "user" and not is_noise(one.text)) or (one.role == "assistant" and last):
            yield one
