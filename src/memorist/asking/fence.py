"""The fence: everything remembered, and the question itself, travels as data that no text can step out of."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

OPEN, CLOSE = "<data>\n", "\n</data>"
_ESCAPED = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}
_SURROGATE = re.compile("[\ud800-\udfff]")


def fenced(data: Mapping[str, Any]) -> str:
    """One JSON document between the tags; `<`, `>` and `&` are escaped, so its texts hold no tag of their own."""
    text = json.dumps(data, ensure_ascii=False).translate(_ESCAPED)
    return OPEN + _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text) + CLOSE


def clipped(text: str, longest: int) -> str:
    """A text's beginning, with an ellipsis where more follows."""
    return text if len(text) <= longest else f"{text[:longest]} …"
