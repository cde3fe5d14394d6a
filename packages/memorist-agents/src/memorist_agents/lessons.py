"""What a session taught: commands that failed and what helped, wishes of the user, and what was said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from memorist.model.identity import fingerprint
from memorist.text.patterns import lazy
from memorist.text.wishes import standing_wish
from memorist_agents.payload import is_noise
from memorist_agents.remedies import is_other_form, is_same, remedy, words_of
from memorist_agents.transcript import ActionResult, AgentAction, Event, Said

LONGEST_COMMAND, LONGEST_ERROR, LONGEST_SAID = 300, 600, 2000
LONGEST_SHOWN = 160
"""Characters of the command and of the error in a lesson, which must leave room for what helped."""
MOST_LESSONS, MOST_SAID = 5, 16
SHORTEST_QUOTE = 3
"""Plain words of an error that can be recognised in a text of somebody."""
FAILURE = "failure:"
"""Precedes the key of a failure, and of what helped."""
FAILED = {"metadata.failed": True}
"""Matches failures without a known fix."""
DAYS_OF_FAILURE = 30
"""How long a failure is remembered of which nobody knows what helped."""
UNTRUSTED, AGENT = 0, 2
"""The trust in the output of a command, which may print anything, and in what was said in a session."""
_STATUS = lazy(r"(?i)^\s*+(?:(?:command )?(?:exit(?:ed with)?|failed with)(?: status)?(?: code)?[: ]*+)?\d*+\s*+$")
_TELLING = lazy(
    r"(?i)error|exception|fail|fatal|cannot|can't|could not|unable|not found|no such|denied|refused|rejected|unknown"
    r"|undefined|invalid|missing"
)
_VARYING = lazy(r"0x[0-9a-f]+|\b(?=[a-f]{0,40}\d)[0-9a-f]{7,40}\b|\d+")
_LABELS = lazy(r"(?:[^\s:]{1,200}+:(?:\d++:){0,3}+\s++)*+")
"""What precedes an error and is seldom quoted with it, such as `fatal: ` or `Makefile:7: `."""
Fields = dict[str, Any]


def failure(command: str, error: str, helped: Sequence[str] = ()) -> Fields | None:
    """The memory of a command that failed, as keywords of `remember`; None if the error says nothing.

    The same failure has the same key, so what helped becomes its new version, and no failure is kept twice.
    """
    lines, told = _telling(error)
    if not lines or not command.strip():
        return None
    mark = fingerprint("failure", " ".join(words_of(command)), _VARYING.sub("0", told))
    common = {"key": f"{FAILURE}{mark}", "trust": UNTRUSTED}
    if not helped:
        shown = _clipped(command.strip(), LONGEST_COMMAND)
        text = f"The command `{shown}` failed:\n{_excerpt(lines, told)}"
        return {"text": text, "importance": 0.3, "metadata": {"failed": True}, **common}
    shown, why = (_clipped(" ".join(text.split()), LONGEST_SHOWN) for text in (command, told))
    text = f"`{shown}` failed: {why.rstrip('.')}. What helped: {', then '.join(helped)}."
    return {"text": text, "kind": "procedural", "importance": 0.6, **common}


def quotes(command: str, error: str) -> list[str]:
    """What the text of a fix quotes that somebody wrote down for this very failure; nothing if that is too little."""
    found = [_plain(" ".join(words_of(command))), _plain(_LABELS.sub("", _telling(error)[1], count=1))]
    plain = [word for word in found[1].split() if word.isalpha()]
    return found if found[0] and len(plain) >= SHORTEST_QUOTE else []


def is_quoted(quoted: Sequence[str], text: str) -> bool:
    """Whether a text quotes all of them, whatever its spaces, numbers, punctuation and upper-case letters."""
    plain = f" {_plain(text)} "
    return all(f" {words} " in plain for words in quoted)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", _VARYING.sub("0", text.casefold())))


def _telling(error: str) -> tuple[list[str], str]:
    """The lines of an error that say something, and the one that tells most."""
    lines = [line.rstrip() for line in error[-20_000:].splitlines() if line.strip() and not _STATUS.match(line)]
    return lines, next((line for line in lines if _TELLING.search(line)), lines[-1] if lines else "").strip()


def _clipped(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest].rstrip()} …"


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
    """The failures of the last turn of which the turn shows what made the command succeed."""
    turn = _last_turn(events)
    ended = {event.id: event for event in turn if isinstance(event, ActionResult)}
    calls = [event for event in turn if isinstance(event, AgentAction) and event.id in ended]
    found: dict[str, Fields] = {}
    for place, call in enumerate(calls):
        if not call.shell or ended[call.id].ok is not False:
            continue
        error = ended[call.id].output
        later = next((n for n, one in enumerate(calls[place + 1 :], place + 1) if _ends(one, call, error, ended)), None)
        if later is not None and ended[calls[later].id].ok:
            between = [action for action in calls[place + 1 : later] if ended[action.id].ok]
            helped = remedy(call, error, between, calls[later])
            kept = failure(call.command, error, helped) if helped else None
            if kept is not None:
                found[kept["key"]] = kept
    return list(found.values())[-MOST_LESSONS:]


def _ends(one: AgentAction, failed: AgentAction, error: str, ended: dict[str, ActionResult]) -> bool:
    """Whether a call decides how a failure ended: the same command again, or another form of it that succeeded."""
    if not one.shell:
        return False
    again = is_same(failed.command, one.command)
    return again or (ended[one.id].ok is True and is_other_form(failed.command, error, one.command))


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
    return [event.text for event in _last_turn(events)[:1] if isinstance(event, Said) and event.role == "user"]


def conversation(events: Sequence[Event]) -> list[Fields]:
    """The newest prompts of the user, and the last words of the agent before each further prompt."""
    kept = list(_exchanges([event for event in events if isinstance(event, Said)]))[-MOST_SAID:]
    return [
        {
            "text": saying.text[:LONGEST_SAID],
            "speaker": saying.role,
            "position": saying.place,
            "trust": AGENT,
            "importance": 0.2,
            **({} if saying.at is None else {"at": saying.at}),
        }
        for saying in kept
    ]


def _exchanges(said: Sequence[Said]) -> Iterator[Said]:
    for number, one in enumerate(said):
        last = number + 1 == len(said) or said[number + 1].role == "user"
        if (one.role == "user" and not is_noise(one.text)) or (one.role == "assistant" and last):
            yield one
