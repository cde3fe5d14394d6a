"""Runs of words that may name somebody or something."""

from __future__ import annotations

import re

MOST_WORDS = 4
TOKEN = re.compile(r"[^\W_]+(?:[-'’.&@_][^\W_]+)*")
HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af]+")
LONGEST_HAN = 8


def name_candidates(text: str) -> list[str]:
    """Every run of up to four words, and of two to eight CJK characters, in reading order and longest first."""
    tokens = [match.group() for match in TOKEN.finditer(text[:2000])]
    runs = [
        " ".join(tokens[start : start + size])
        for start in range(len(tokens))
        for size in range(min(MOST_WORDS, len(tokens) - start), 0, -1)
    ]
    return list(dict.fromkeys([*runs, *(_possessor(run) for run in runs), *_han_runs(text[:2000])]))


def _possessor(name: str) -> str:
    return re.sub(r"['’]s?$", "", name)


def _han_runs(text: str) -> list[str]:
    return [
        run[start : start + size]
        for run in HAN.findall(text)
        for start in range(len(run))
        for size in range(min(LONGEST_HAN, len(run) - start), 1, -1)
    ]
