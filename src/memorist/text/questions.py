"""What a question asks for besides its words: something that was true before, or a list."""

from __future__ import annotations

import re

from memorist.text.patterns import lazy

_PAST = lazy(
    r"\b(?:before|until|used to|was|were|did|had|ever|once|old|older|earlier|previous|previously|former|formerly|first"
    r"|original|originally|initially|back then|back in|at the time|in the past|so far|over time|history)\b"
    r"|以前|之前|原来|原先|当时|当初|曾经|那时|上次|第一次|[过過](?![程敏滤濾期时時度])",
    re.IGNORECASE,
)
_SEVERAL = lazy(
    r"\b(?:list|all|every|everything|everyone|everybody|each|both|any of|several|whole|overview|summari[sz]e|compare"
    r"|story|timeline|(?:which|what) (?:two|three|four|five|\w{3,}(?<!ss)s) (?:are|were|have|had|do|did)"
    r"|how have|how did .{1,80} (?:change|develop|go))\b|\band (?:what|where|when|how|who|which|why)\b"
    r"|所有|全部|哪些|都有|列出|一共|分别|总结|每个|各",
    re.IGNORECASE,
)


def asks_about_the_past(question: str) -> bool:
    """Whether a question is about what was or happened rather than about what is true now."""
    return _PAST.search(question) is not None


def asks_for_several(question: str) -> bool:
    """Whether a question asks for a list, a comparison or several things, so that one memory is not its answer."""
    return _SEVERAL.search(question) is not None
