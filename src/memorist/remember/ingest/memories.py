"""Objects that are memories already: a text with keywords of `remember`, one of ours or one of mem0's."""

from __future__ import annotations

from collections.abc import Iterator

from memorist.remember.ingest.draft import Draft, Found
from memorist.remember.ingest.fields import AT, SESSION, SPEAKER, fields_of
from memorist.remember.ingest.model import Cleaned
from memorist.remember.ingest.values import Object, as_object, as_text, first_name

TEXT = ("text", "content")


def is_memory(given: Object) -> bool:
    """Whether an object has a text and is no chat message."""
    return any(isinstance(given.get(key), str) for key in TEXT)


def memories(given: Object, where: str, conversation: str | None = None) -> Iterator[Found]:
    """The memory an object states; with a speaker it is a turn among others, without one it stands alone."""
    text = next(key for key in TEXT if isinstance(given.get(key), str))
    given = {**_said_in_metadata(given), **given}
    # Beside `content` a name is who said it; beside `text` it may be the name of anything.
    who = SPEAKER if text == "content" else SPEAKER[:1]
    fields, notes = fields_of(given, text, *who, *SESSION)
    yield from (Cleaned(where, note) for note in notes)
    speaker = first_name(given, *who)
    if speaker:
        fields["speaker"] = speaker
    session = first_name(given, *SESSION) or conversation
    turn = speaker is not None or session is not None
    yield Draft(as_text(given[text]), where, fields, session, turn=turn)


def _said_in_metadata(given: Object) -> Object:
    """Who said it, when and in which talk, as corpora and document stores keep it: among the metadata."""
    metadata = as_object(given.get("metadata"))
    return {key: metadata[key] for key in (*AT, *SESSION, "speaker") if key in metadata}
