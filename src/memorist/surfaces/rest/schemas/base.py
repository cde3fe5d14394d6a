"""What all schemas share."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

LONGEST = 2**53
"""Whole numbers beyond this are not the same in every language."""


class RequestModel(BaseModel):
    """A body that comes in; what it leaves out has the verb's own default."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    def given(self, *without: str) -> Any:
        """The keywords of the verb, as far as they were given."""
        return self.model_dump(exclude_unset=True, exclude=set(without))


class ResponseModel(BaseModel):
    """JSON that goes out."""

    model_config = ConfigDict(extra="forbid")


Share = Annotated[float, Field(ge=0, le=1)]
Whole = Annotated[int, Field(ge=-LONGEST, le=LONGEST)]
Moment = Annotated[
    str,
    WithJsonSchema(
        {
            "type": "string",
            "anyOf": [{"format": "date-time"}, {"format": "date"}],
            "description": "ISO 8601; a date alone means its start, without a zone it is UTC.",
            "examples": ["2024-06-03T14:30:00Z", "2024-06-03"],
        }
    ),
]
Text = Annotated[str, Field(min_length=1)]
Classification = Annotated[int, Field(ge=0, le=3)]
