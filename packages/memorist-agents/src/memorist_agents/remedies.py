"""What made a command succeed that had failed: another form of it, or what changed in between. Nothing if unknown.

A remedy is evidence, not a guess. A command that succeeds when it is run again shows nothing by itself: a service may
have come back, or a test may be flaky. So a change in between counts only if the error names it, or if it is the only
one and sets something up; and another form counts only if it runs the same command, and the error suggests the words
that it adds or the added words only say where or how it is run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memorist.text.patterns import lazy
from memorist_agents.transcript import AgentAction

LONGEST_REMEDY = 240
"""A longer command, or one of several lines, could not be quoted as it was run."""
MOST_STEPS = 3
_RUNNERS = lazy(
    r"(?:(?:sudo(?: -E)?|time|nice|npx|bunx|uvx|python3? -m|(?:uv|poetry|pipenv|hatch|pdm|rye|conda) run"
    r"|(?:pnpm|yarn|npm|bundle|docker compose) exec(?: --)?|env|\w{1,40}=\S{0,200}) )+"
)
_READERS = lazy(
    r"(?:ls|cat|head|tail|less|grep|rg|find|fd|tree|pwd|wc|which|type|command|whereis|file|stat|du|df|ps|env|printenv"
    r"|echo|printf|true|sleep|date|whoami|uname|history|man|diff|jq|sort|uniq|awk|sed(?! -i)|curl|ping"
    r"|git (?:status|log|diff|show|branch|blame|describe|rev-parse|ls-files|remote(?: -v)?$)"
    r"|(?:pip|uv pip) (?:list|show|freeze|check)|npm (?:ls|list|view|outdated))\b"
)
_SETS_UP = lazy(
    r"(?:cd|mkdir|touch|cp|mv|ln|chmod|chown|export|source|\.|createdb)\s"
    r"|(?:\S{1,200} ){1,4}?(?:install|i|ci|add|sync|update|upgrade|init|up|start|restart|enable|login|create|migrate"
    r"|generate|fetch|pull|checkout|switch|stash|restore|link|use|allow|unlock|clean|purge)\b"
)
_HIDES_STATUS = lazy(r"[|;&\n]")
"""What may make a line succeed although its command fails."""
_WORDS = lazy(r"[\w@][\w@./+-]{1,120}\w")
_NOT_FOUND = lazy(r"(?i)not found|no such file|not recogni[sz]ed|unknown command|cannot find")
_COMMON = lazy(
    r"the|and|for|not|with|this|that|from|was|were|you|your|are|can|use|run|errors?|fail(?:ed|ure)?|files?|line|code|exit"
    r"|command|none|null|true|false|tests?|python|node|npm|https?|info|debug|warning|src|main|install|add|update|sudo|git"
    r"|set|get|has|have|but|all|any|new|out|one|its"
)


def words_of(command: str) -> list[str]:
    """The words of a command, without the folder that it is run in, which every call may name."""
    return re.sub(r"^(?:cd [^;&|\n]{1,200}(?:&&|;)\s*)+", "", command.strip()).removesuffix("2>&1").split()


def remedy(failed: AgentAction, error: str, between: Sequence[AgentAction], then: AgentAction) -> list[str]:
    """What made a failed command succeed, as it can be quoted: successful calls in between, then another form of it.

    Empty if nothing is known to have helped.
    """
    steps = _telling([action for action in between if _changes(action)], error)
    if then.command.split() == failed.command.split():
        return _quoted(steps)
    return _quoted([*steps, then]) if is_other_form(failed.command, error, then.command) else []


def is_same(failed: str, other: str) -> bool:
    """Whether two commands are the same, wherever they are run."""
    return words_of(failed) == words_of(other)


def is_other_form(failed: str, error: str, other: str) -> bool:
    """Whether a command is another form of one that failed, as its error and its own words show."""
    if is_same(failed, other):
        return failed.split() != other.split() and not _HIDES_STATUS.search(" ".join(words_of(other)))
    before, last, after = other.rpartition(failed.strip())
    if last and not after.strip():
        return bool(_RUNNERS.fullmatch(before)) or before.rstrip().endswith(("&&", ";"))
    if _HIDES_STATUS.search(" ".join(words_of(other))):
        return False
    old, new = words_of(failed), words_of(other)
    if len(old) > 1 and new[-len(old) + 1 :] == old[1:] and new[0] != old[0]:
        return any(old[0] in line and _NOT_FOUND.search(line) for line in error.splitlines())
    told = [[word.strip("\"'`.,:;()[]<>") for word in line.split()] for line in error.splitlines()]
    suggested = [words for words in told if " ".join(old) in " ".join(words)]
    return any(word in words for word in _added(old, new) for words in (told if word.startswith("-") else suggested))


def _added(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The words that a command adds to another, if it keeps all of that one's in order; else none."""
    rest, added = list(old), list[str]()
    for word in new:
        if rest and word == rest[0]:
            rest.pop(0)
        else:
            added.append(word)
    return [] if rest else added


def _changes(call: AgentAction) -> bool:
    """Whether a call may have changed something that another command depends on."""
    return not call.shell or not _READERS.match(" ".join(words_of(call.command)))


def _telling(changes: Sequence[AgentAction], error: str) -> list[AgentAction]:
    """The changes that an error names; else the only one, if it sets something up."""
    named = _specific(error)
    found = [change for change in changes if named & _specific(change.command) or _is_suggested(change, error)]
    if found:
        return found
    return (
        [change for change in changes if change.shell and _SETS_UP.match(change.command.strip())]
        if len(changes) == 1
        else []
    )


def _is_suggested(call: AgentAction, error: str) -> bool:
    """Whether an error tells to run a command, such as `git add`."""
    start = words_of(call.command)[:2]
    return call.shell and len(start) > 1 and " ".join(start) in error


def _specific(text: str) -> set[str]:
    """The words of a text that say what it is about, and the names at the end of its paths."""
    found = {word.lower() for word in _WORDS.findall(text[:20_000])}
    return {word for word in {word.rpartition("/")[2] for word in found} | found if not _COMMON.fullmatch(word)} - {""}


def _quoted(calls: Sequence[AgentAction]) -> list[str]:
    """Calls as they can be quoted; none if one of them, or their number, is too long."""
    texts = list(dict.fromkeys(call.command.strip() for call in calls))
    if len(texts) > MOST_STEPS or any(len(text) > LONGEST_REMEDY or "\n" in text or "`" in text for text in texts):
        return []
    edits = {call.command.strip() for call in calls if not call.shell}
    return [f"a change of {text}" if text in edits else f"`{text}`" for text in texts]
