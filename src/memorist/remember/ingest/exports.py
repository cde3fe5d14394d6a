"""What the readers of exports share: ids that survive the next export, and titles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from memorist.remember.ingest.draft import Draft, Found


def keyed(found: Iterable[Found], key: str | None) -> Iterator[Found]:
    """Drafts of one message under its id, so that a later export of the same talk adds only what is new."""
    number = 0
    for draft in found:
        if not isinstance(draft, Draft) or key is None:
            yield draft
            continue
        number += 1
        fields = draft.fields.copy()
        fields["key"] = key if number == 1 else f"{key}:{number}"
        yield replace(draft, fields=fields)


def titled(found: Iterable[Found], title: str | None) -> Iterator[Found]:
    """Drafts with the title of their conversation as topic."""
    for draft in found:
        if isinstance(draft, Draft) and title:
            fields = draft.fields.copy()
            fields.setdefault("topic", title)
            yield replace(draft, fields=fields)
        else:
            yield draft
