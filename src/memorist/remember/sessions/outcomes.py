"""How well a step went, by the words of what was observed after it; English and Chinese."""

from __future__ import annotations

import re

WORKED, FAILED = 0.9, 0.1
"""Not 1 and 0: words are a hint, no proof."""
_LONGEST = 20_000

_NOTHING_WRONG = re.compile(
    r"\b(?:no|0|zero|without(?: any)?|never)\s+(?:\w+\s+)?(?:errors?|failures?|failed|failing|exceptions?|problems?"
    r"|warnings?)\b|\berror[- ]free\b|\bexit(?:ed)?(?: with)?(?: code| status)?:? 0\b|没有(?:错误|异常|失败)",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"\bnot(?: yet)?(?: been)? (?:done|ok|okay|completed?|finished|pass(?:ed|ing)|success\w*|fixed|working|merged"
    r"|deployed)\b|未(?:完成|通过|成功)",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"\b(?:\w*errors?|\w*exceptions?|traceback|fail(?:s|ed|ures?|ing)?|fatal|panic|segfault|segmentation fault"
    r"|abort(?:ed)?|denied|refused|rejected|forbidden|unauthori[sz]ed|crash(?:es|ed)?|broken|timed out|timeout expired"
    r"|not found|no such|cannot|can't|could not|couldn't|unable to|does not exist|doesn't exist|invalid|unhealthy"
    r"|did not work|didn't work|exit(?:ed)?(?: with)?(?: code| status)?:? [1-9]\d*"
    r"|(?:http|status|code)[ /:]*(?:1\.1 )?[45]\d\d)\b|错误|失败|异常|超时|拒绝|找不到|无法|崩溃",
    re.IGNORECASE,
)
_RIGHT = re.compile(
    r"\b(?:success(?:ful|fully|es)?|succeed(?:s|ed)?|pass(?:es|ed|ing)?|done|complete[ds]?|finished|ok|okay|green|healthy"
    r"|works|worked|fixed|resolved|solved|merged|deployed|saved|confirmed|approved|accepted"
    r"|(?:http|status|code)[ /:]*(?:1\.1 )?2\d\d|200)\b|成功|完成|通过|已修复|正常",
    re.IGNORECASE,
)


def outcome(observed: str) -> float | None:
    """WORKED, FAILED, or None when nothing tells; a failure outweighs any success beside it."""
    text = observed[:_LONGEST]
    clean = _NOT_YET.sub(" ", _NOTHING_WRONG.sub(" ", text))
    if _WRONG.search(clean):
        return FAILED
    return WORKED if _RIGHT.search(clean) or _NOTHING_WRONG.search(text) else None
