"""Links in memory, found by either end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping

from memorist.model import Link

Key = tuple[str, str, str]
"""Source, relation, target: a link is one of its kind between its ends."""


class Links(MutableMapping[Key, Link]):
    """A mapping by key that also knows which links start or end somewhere."""

    def __init__(self) -> None:
        self._links: dict[Key, Link] = {}
        self._ends: dict[str, set[Key]] = {}

    def at(self, ids: Iterable[str]) -> list[Key]:
        """Keys of the links that start or end at any of these ids, in a fixed order."""
        return sorted({key for id in ids for key in self._ends.get(id, ())})

    def __getitem__(self, key: Key) -> Link:
        return self._links[key]

    def __setitem__(self, key: Key, link: Link) -> None:
        self._links[key] = link
        for end in (key[0], key[2]):
            self._ends.setdefault(end, set()).add(key)

    def __delitem__(self, key: Key) -> None:
        del self._links[key]
        for end in {key[0], key[2]}:
            self._ends[end].discard(key)
            if not self._ends[end]:
                del self._ends[end]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._links)

    def __len__(self) -> int:
        return len(self._links)
