"""Facts: which relations have one value at a time, and how a fact reads."""

from __future__ import annotations

from memorist.model import Fact

ONE_VALUED = frozenset(
    [
        "lives_in",
        "works_at",
        "works_as",
        "job_title",
        "employer",
        "name",
        "age",
        "born_on",
        "born_in",
        "birthday",
        "married_to",
        "partner",
        "mother",
        "father",
        "current_project",
        "email",
        "phone",
    ]
)
"""Relations that have one value at a time: a new one supersedes the old."""
_ONE_OF_A_KIND = ("favourite_", "favorite_", "years_at_", "current_")
"""Beginnings of relations that are one-valued whatever follows."""


def one_valued(relation: str) -> bool:
    """Whether a relation has one value at a time."""
    return relation in ONE_VALUED or relation.startswith(_ONE_OF_A_KIND)


def sentence(fact: Fact) -> str:
    """A fact in words: `Alice lives in Stockholm.`"""
    return f"{fact.subject} {fact.relation.replace('_', ' ')} {fact.object}."
