"""The phases of a recall and how long each took, read off its steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memorist.model import Step

PHASES = {
    **dict.fromkeys(("content", "as_known", "dates", "expand", "mode", "tags", "entities", "embed"), "understand"),
    **dict.fromkeys(("search", "cascade"), "search"),
    **dict.fromkeys(("rrf", "weighted_sum", "first", "best"), "fuse"),
    "nodes": "hop_0",
    "hops": "multi_hop",
    "reason": "reasoning",
}
"""Stages by the phase they belong to; any other stage is a phase by its own name."""
INSIDE = {"refinement": "multi_hop"}
"""Phases that run inside another, whose time is theirs alone."""


def phase_timings(steps: Sequence[Step], inside: Mapping[str, float]) -> dict[str, float]:
    """Milliseconds per phase, in the order they ran; `inside` holds those of phases within a stage."""
    timings: dict[str, float] = {}
    for step in steps:
        if "." not in step.stage:  # a signal's time is part of its search
            phase = PHASES.get(step.stage, step.stage)
            timings[phase] = timings.get(phase, 0.0) + step.ms
    for phase, ms in inside.items():
        timings[phase] = timings.get(phase, 0.0) + ms
        timings[INSIDE[phase]] -= ms
    return timings
