"""Conversations kept as trees, where an edited question starts a new branch."""

from __future__ import annotations

from collections.abc import Mapping

LEFT = "on a branch of the conversation that was left"


def branch_to(leaf: str | None, parents: Mapping[str, str | None]) -> list[str]:
    """The nodes from the root down to a leaf; a chain that runs in a circle or out of the tree ends there."""
    path: dict[str, None] = {}
    while leaf is not None and leaf in parents and leaf not in path:
        path[leaf] = None
        leaf = parents[leaf]
    return list(reversed(path))


def last_leaf(parents: Mapping[str, str | None]) -> str | None:
    """The node written last that no other follows."""
    followed = {parent for parent in parents.values() if parent}
    leaves = [node for node in parents if node not in followed]
    return leaves[-1] if leaves else None
