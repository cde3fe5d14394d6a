"""An index that is fetched page by page: whatever is searched in whatever order, it gives what the whole file gives."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memorist.errors import StoreBusy
from memorist.model import Filter
from memorist.stores.index import Index, IndexView, entry_of, paging
from memorist.stores.index.arrays import AccessPattern, Listed, map_parts, read_about, write_parts
from memorist.stores.index.paging import Layout, PagedFile, digest_of
from memorist.testing import memory
from tests.stores.test_index_file import AT, EMBEDDER, QUESTIONS, filled
from tests.stores.worlds import small_numbers

PROBES = EMBEDDER.embed(["lantern", "alice moved"], purpose="query")


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, size in (("LARGE", 256), ("SMALL", 64), ("BATCH", 1024)):
        monkeypatch.setattr(paging, name, size)
    with small_numbers():
        yield


class Elsewhere:
    """The pages of a file, on a server: it counts what it sends."""

    def __init__(self, file: Path) -> None:
        with file.open("rb") as opened:
            self.listed = {name: Listed(*one) for name, one in read_about(opened.fileno())["parts"].items()}
            layout = Layout(self.listed)
            pages = [layout.read(opened.fileno(), page) for page in range(len(layout))]
        self.size = file.stat().st_size
        self.digests = b"".join(map(digest_of, pages))
        self.pages = {digest_of(page): page for page in pages}
        self.sent: list[bytes] = []
        self.was_damaged = False

    def get(self, digests: Sequence[bytes]) -> list[tuple[bytes, bytes]]:
        self.sent += digests
        return [(digest, self.pages[digest]) for digest in digests if digest in self.pages]

    def fetched_into(self, path: Path) -> PagedFile:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.truncate(file, self.size)
        return PagedFile(path, file, self.listed, self.digests, self.get, self.note_damage)

    def note_damage(self) -> None:
        self.was_damaged = True


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """An index file of some memories, whose vectors take several pages of memory."""
    store = filled(tmp_path / "a.db", 150)
    write_parts(tmp_path / "whole", {}, store.view().parts())
    store.close()
    return tmp_path / "whole"


def view_of(file: Path) -> IndexView:
    with file.open("rb") as opened:
        return Index(kept=map_parts(opened.fileno(), read_about(opened.fileno())["parts"])).view()


def asked(view: IndexView, number: int) -> Any:
    """One of all the things that a view can be asked."""
    where = (Filter(), Filter(scopes=("work/*",)), Filter(max_classification=1))[number % 3]
    question, ids = QUESTIONS[number % len(QUESTIONS)], [f"m{number % 150}", f"m{number * 7 % 150}"]
    things = (
        lambda: view.search_text(question, where, 9),
        lambda: view.search_substring(question, where, 9),
        lambda: view.search_trigram(question, where, 9),
        lambda: view.search_signature(question, where, 9),
        lambda: view.search_vector(PROBES[number % 2 :], where, number % 9),
        lambda: view.search_time(AT, AT + timedelta(days=9), where, 9, reach=timedelta(days=5)),
        lambda: view.cosines(PROBES[0], ids),
        lambda: {id: vector.tolist() for id, vector in view.vectors(ids).items()},
        lambda: (list(view.graph(where)[0].memories), view.part(0, 1).may_hold(["lantern"])),
        lambda: view.graph(where)[0].memories[number % 7],
    )
    return things[number * 13 // 7 % len(things)]()


@pytest.mark.parametrize("seed", range(8))
def test_any_order_of_searches_gives_what_the_whole_file_gives(whole: Path, tmp_path: Path, seed: int) -> None:
    elsewhere, dice = Elsewhere(whole), random.Random(seed)
    fetching = Index(kept=elsewhere.fetched_into(tmp_path / "sparse").map()).view()
    at_hand, began = view_of(whole), len(elsewhere.sent)
    assert began < len(elsewhere.pages)  # some pages are left to fetch
    numbers = dice.sample(range(400), 40)
    for number in numbers:
        assert asked(fetching, number) == asked(at_hand, number)
    sent = len(elsewhere.sent)
    assert began < sent
    for number in numbers:
        asked(fetching, number)
    assert len(elsewhere.sent) == sent  # none twice


def test_a_vector_is_one_page(whole: Path, tmp_path: Path) -> None:
    elsewhere = Elsewhere(whole)
    view = Index(kept=elsewhere.fetched_into(tmp_path / "sparse").map()).view()
    (hit,) = view.search_text("harbour", Filter(), 1)  # its row is known from now on
    elsewhere.sent.clear()
    assert view.vectors([hit.id]).keys() <= {hit.id}
    assert len(elsewhere.sent) <= 1


def test_pages_of_rows() -> None:
    words = Listed("<i4", [100], 100, 4096, "", AccessPattern.RUNS)  # 400 bytes: pages of 256 and 144
    vectors = Listed("<f4", [5, 12], 9, 8192, "", AccessPattern.SCATTERED)  # rows of 48 bytes, one to a page of 64
    layout = Layout({"words": words, "vectors": vectors})
    assert (layout.places.tolist(), layout.sizes.tolist()) == (
        [4096, 4352, 8192, 8240, 8288, 8336, 8384],
        [256, 144, 48, 48, 48, 48, 48],
    )

    def pages(name: str, *spans: tuple[int, int]) -> list[int]:
        begins, ends = np.array(spans, np.intp).reshape(-1, 2).T
        return layout.pages_of(name, begins, ends).tolist()

    assert pages("words", (0, 64)) == [0]
    assert pages("words", (63, 65), (99, 100)) == [0, 1, 1]
    assert pages("words", (64, 64)) == pages("words") == []
    assert pages("vectors", (1, 3), (4, 9)) == [3, 4, 6]  # rows beyond the fifth are not in the file


def test_a_page_that_is_not_what_it_should_be_is_refused(whole: Path, tmp_path: Path) -> None:
    elsewhere = Elsewhere(whole)
    file = elsewhere.fetched_into(tmp_path / "sparse")
    view = Index(kept=file.map()).view()
    elsewhere.pages = dict.fromkeys(elsewhere.pages, b"something else")
    with pytest.raises(StoreBusy, match="replaced"):
        view.search_text("lantern", Filter(), 9)
    assert (elsewhere.was_damaged, file.is_gone) == (True, True)


def test_pages_that_are_gone_are_no_answer(whole: Path, tmp_path: Path) -> None:
    elsewhere = Elsewhere(whole)
    file = elsewhere.fetched_into(tmp_path / "sparse")
    view = Index(kept=file.map()).view()
    kept, elsewhere.pages = elsewhere.pages, {}
    with pytest.raises(StoreBusy, match="replaced"):
        view.search_vector(PROBES, Filter(), 5)
    assert (elsewhere.was_damaged, file.is_gone) == (False, True)
    elsewhere.pages = kept
    assert view.search_vector(PROBES, Filter(), 5) == view_of(whole).search_vector(PROBES, Filter(), 5)


def test_another_process_uses_what_is_there_and_mends_what_is_torn(whole: Path, tmp_path: Path) -> None:
    elsewhere, path = Elsewhere(whole), tmp_path / "sparse"
    list(elsewhere.fetched_into(path).fill())
    elsewhere.sent.clear()
    again = elsewhere.fetched_into(path)
    assert not again.is_complete  # it believes nobody
    list(again.fill())
    assert (again.is_complete, elsewhere.sent) == (True, [])
    torn = elsewhere.listed["vectors/text/vectors"].place
    with path.open("r+b") as file:
        file.seek(torn + 30)
        file.write(b"\0" * 50)
    view = Index(kept=elsewhere.fetched_into(path).map()).view()
    assert asked(view, 5) == asked(view_of(whole), 5)
    ids = [f"m{number}" for number in range(150)]
    ours, theirs = view.vectors(ids), view_of(whole).vectors(ids)
    assert {id: one.tolist() for id, one in ours.items()} == {id: one.tolist() for id, one in theirs.items()}
    assert 1 <= len(elsewhere.sent) <= 3


def test_rows_that_are_added_before_the_last_ones_were_fetched_hide_none(whole: Path, tmp_path: Path) -> None:
    elsewhere = Elsewhere(whole)
    fetching, at_hand = Index(kept=elsewhere.fetched_into(tmp_path / "sparse").map()), view_of(whole)
    vector = {"text": EMBEDDER.embed(["a new lamp"], purpose="memory")[0]}
    fetching.apply([entry_of(memory("a new lamp", id="new"), vector)], (), generation=2)
    ids = [f"m{number}" for number in range(150)]
    view = fetching.view()
    known = {id: one.tolist() for id, one in at_hand.vectors(ids).items()}
    assert {id: one.tolist() for id, one in view.vectors(ids).items()} == known
    assert [hit.id for hit in view.search_text("lamp", Filter(), 3)] == ["new"]
    assert view.search_vector(EMBEDDER.embed(["a new lamp"], purpose="memory"), Filter(), 1)[0].id == "new"
