"""Where spaces are found: in a folder, or in a database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import memorist
from memorist.engine.open import on_server, open_database
from memorist.errors import InvalidInput, NotFound, StoreMoved
from memorist_server.access.home import Catalogue, catalogue_of


@pytest.fixture
def catalogue(db: str) -> Iterator[Catalogue]:
    found = catalogue_of(db)
    found.prepare()
    yield found
    found.close()


def test_a_space_is_listed_once_something_opened_it(catalogue: Catalogue) -> None:
    assert catalogue.names() == [] and not catalogue.has("ann")
    for name in ("bob", "ann"):
        with memorist.open(catalogue.url, space=name, embedder="none") as memory:
            memory.remember(f"This is {name}.")
    assert catalogue.names() == ["ann", "bob"] and catalogue.has("ann") and not catalogue.has("an")
    with memorist.open(catalogue.url, space="ann", embedder="none") as memory:
        assert [row.text for row in memory.list().items] == ["This is ann."]
    catalogue.check()


def test_a_name_that_is_none_is_refused(catalogue: Catalogue) -> None:
    for odd in ("../a", "", "a/b", ".keys", "a' OR 'a' = 'a", "a\0b"):
        with pytest.raises(InvalidInput, match="is not a valid space name"):
            catalogue.has(odd)


def test_preparing_again_does_nothing(catalogue: Catalogue) -> None:
    assert catalogue.prepare() == []


def test_no_password_is_shown(db: str) -> None:
    if on_server(db):
        shown = catalogue_of(db.replace("@", ":hunter2@")).shown
        assert "hunter2" not in shown and shown.startswith("postgresql://…@")


def test_a_space_that_was_deleted_is_gone_for_those_who_have_it_open(catalogue: Catalogue, db: str) -> None:
    if not on_server(db):
        return  # there a file is deleted: see tests/attacks/test_files.py
    with (
        memorist.open(db, space="ann", embedder="none") as memory,
        memorist.open(db, space="bob", embedder="none") as other,
    ):
        memory.remember("The heron stands by the weir.")
        other.remember("The heron is gone.")
        assert memory.recall("Where is the heron?").items
        assert open_database(db).delete("ann") == 1
        assert catalogue.names() == ["bob"]
        with pytest.raises(StoreMoved):
            memory.recall("Where is the heron?")
        with pytest.raises(StoreMoved):
            memory.remember("The heron is back.")
        with memorist.open(db, space="ann", embedder="none") as anew:
            anew.remember("The barn is red.")
            assert [item.memory.text for item in memory.recall("heron or barn").items] == ["The barn is red."]
            assert memory.remember("The mill is white.").id in {row.id for row in anew.list().items}
        assert len(other.recall("Where is the heron?").items) == 1
    with pytest.raises(NotFound, match="'cid'"):
        open_database(db).delete("cid")
