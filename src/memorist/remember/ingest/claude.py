"""Claude's export: conversations with `chat_messages`, each of blocks and perhaps attachments."""

from __future__ import annotations

from collections.abc import Iterator

from memorist.remember.ingest.branches import LEFT, branch_to
from memorist.remember.ingest.draft import Draft, Found
from memorist.remember.ingest.exports import keyed, titled
from memorist.remember.ingest.messages import turns
from memorist.remember.ingest.model import Skipped
from memorist.remember.ingest.moments import moment
from memorist.remember.ingest.parts import Calls
from memorist.remember.ingest.values import Object, as_list, as_name, as_object, as_text, first_name, numbered

NO_TEXT = "an attachment without text"


def is_claude(given: Object) -> bool:
    """Whether an object is a conversation as Claude exports it."""
    return isinstance(given.get("chat_messages"), list)


def claude_turns(given: Object, where: str, unnamed: str | None = None) -> Iterator[Found]:
    """The turns of a conversation, attachments after the message that brought them."""
    name = first_name(given, "uuid", "id")
    messages = [
        (place, as_object(one)) for place, one in numbered(as_list(given.get("chat_messages")), where, "message")
    ]
    current = _current(given, [message for _, message in messages])
    calls, seen = Calls(), set[str]()
    for place, message in messages:
        id = first_name(message, "uuid", "id")
        if current and id not in current:
            yield Skipped(place, LEFT)
            continue
        found = _message(message, place, calls, name or unnamed)
        key = f"claude:{name}:{id}" if name and id and id not in seen else None
        seen.add(id or "")
        yield from titled(keyed(found, key), as_name(given.get("name")))


def _current(given: Object, messages: list[Object]) -> set[str]:
    """The ids of the branch that was current, where the export says so."""
    parents = {id: as_name(one.get("parent_message_uuid")) for one in messages if (id := as_name(one.get("uuid")))}
    return set(branch_to(as_name(given.get("current_leaf_message_uuid")), parents))


def _message(message: Object, where: str, calls: Calls, name: str | None) -> Iterator[Found]:
    role = as_name(message.get("sender")) or "human"
    at = message.get("created_at")
    content = as_list(message.get("content")) or as_text(message.get("text"))
    yield from turns({"role": role, "content": content, "at": at}, where, calls, name)
    for one in (*as_list(message.get("attachments")), *as_list(message.get("files"))):
        attached = as_object(one)
        text = as_text(attached.get("extracted_content"))
        if not text.strip():
            yield Skipped(where, NO_TEXT)
            continue
        file = as_name(attached.get("file_name"))
        draft = Draft(text, where, {"at": moment(at), "speaker": "user"}, name)
        if file:
            draft.fields["metadata"] = {"file": file}
        yield draft
