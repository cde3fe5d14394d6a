"""Schemas as they travel."""

from __future__ import annotations

from memorist.models.llms.remote import unbounded


def test_bounds_stay_here_and_members_of_such_names_travel() -> None:
    schema = {
        "type": "object",
        "properties": {
            "maxLength": {"type": "string", "maxLength": 600},
            "tags": {"type": "array", "minItems": 2, "maxItems": 5, "items": {"type": "string", "minLength": 1}},
            "reward": {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "null"}]},
        },
        "required": ["maxLength", "tags", "reward"],
    }
    assert unbounded(schema) == {
        "type": "object",
        "properties": {
            "maxLength": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "reward": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        },
        "required": ["maxLength", "tags", "reward"],
    }
