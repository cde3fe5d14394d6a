"""The demo's story: what Alice tells her assistant in the months around a move."""

from __future__ import annotations

from typing import Any

HOME = "alice.home"
WORK = "alice.work"


def _said(at: str, text: str, speaker: str = "Alice", **fields: Any) -> dict[str, Any]:
    return {"text": text, "at": at, "ingested_at": at, "speaker": speaker, **fields}


def _noted(at: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"text": text, "at": at, "ingested_at": at, "kind": "semantic", **fields}


TURNS: tuple[dict[str, Any], ...] = (
    _noted("2024-01-10", "Alice lives in Oslo.", key=HOME, importance=0.8),
    _noted("2024-01-10", "Alice takes photographs for the newspaper Nordlys.", key=WORK, importance=0.7),
    _said("2024-01-14", "My son Emil is allergic to hazelnuts, so never suggest pralines.", importance=0.9),
    _said("2024-01-22", "My sister Ingrid teaches the violin in Bergen."),
    _said("2024-02-02", "The plumber sent invoice INV-2024-0117 over 4,300 kroner."),
    _said("2024-02-09", "I have paid the plumber."),
    _said("2024-02-20", "Our cat Pixel came back through the cellar window after a night away!", emotion=4),
    _said("2024-03-03", "My passport runs out in September; remind me to renew it."),
    _said("2024-03-15", "Jonas and I run ten kilometres along the river every Sunday."),
    _said("2024-03-28", "A museum in Stockholm has asked me to photograph its collection."),
    _said("2024-04-11", "I signed with the museum; the newspaper gets my last picture in May."),
    _said("2024-04-19", "我最喜欢喝龙井茶，从来不喝咖啡。", speaker="林晓"),
    _said("2024-05-02", "The removal firm comes on the third of June at eight; Jonas has the keys."),
    _said("2024-05-17", "I left my tripod at Ingrid's."),
    _noted("2024-06-03", "Alice lives in Stockholm.", key=HOME, importance=0.8),
    _noted("2024-06-03", "Alice takes photographs for the Modern Museum.", key=WORK, importance=0.7),
    _said("2024-06-10", "The new flat is on the fourth floor, and the lift does not work."),
    _said("2024-06-21", "Emil starts school at Maria Square in August."),
    _said("2024-07-19", "I have taken up rowing on the lake."),
    _noted("2024-08-12", "To get the router going: unplug it, count to thirty, plug it in.", kind="procedural"),
    _said("2024-08-30", "The piano tuner, Mr Halvorsen, comes again in the autumn."),
)

QUESTIONS: tuple[tuple[str, str], ...] = (
    ("Is there anything my boy cannot eat?", "by meaning: no word in common"),
    ("How do I repair the internet connection?", "by meaning: no word in common"),
    ("INV-2024-0117", "by an exact number"),
    ("Where is my trippod?", "in spite of a typing error"),
    ("林晓喜欢喝什么茶？", "in Chinese"),
)

THE_QUESTION = "Where does Alice live?"
BEFORE_THE_MOVE = "2024-03-01"
