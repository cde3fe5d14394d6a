"""Statements as short triples, with `not` before negated ones."""

from __future__ import annotations

from datetime import UTC, datetime

from memorist.remember.extract import Statement, statements

AT = datetime(2024, 6, 3, 12, tzinfo=UTC)  # a Monday


def said(text: str, speaker: str | None = "Me", addressee: str | None = None) -> list[str]:
    return [short(statement) for statement in statements(text, speaker=speaker, at=AT, addressee=addressee)]


def short(one: Statement) -> str:
    triple = " ".join((one.fact.subject, one.fact.relation, one.fact.object))
    return f"not {triple}" if one.negated else triple


def only(text: str) -> Statement:
    (found,) = statements(text, speaker="Me", at=AT)
    return found
