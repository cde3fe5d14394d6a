"""Text searches of the index against plain Python, after any sequence of writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memorist.model import Fact, Filter, Hit
from memorist.ports import TextField
from memorist.stores.index import Index, IndexView, entry_of
from memorist.testing.world import memory
from tests.stores import naive
from tests.stores.worlds import QUERIES, Step, played, small_numbers, steps

ALL = Filter()
FIELDS: tuple[tuple[TextField, ...], ...] = (("text", "original"), ("text",), ("original",))
SEARCHES = {
    "text": (IndexView.search_text, naive.text_scores),
    "substring": (IndexView.search_substring, naive.substring_scores),
    "trigram": (IndexView.search_trigram, naive.trigram_scores),
}


@pytest.fixture(autouse=True, scope="module")
def _small_numbers() -> Iterator[None]:
    with small_numbers():
        yield


def index_of(*texts: str) -> Index:
    made = Index()
    made.apply([entry_of(memory(text, id=text), {}) for text in texts], (), generation=1)
    return made


def ranked(scores: naive.Scores) -> list[str]:
    return sorted(scores, key=lambda id: (-round(scores[id], 9), id))


def agree(hits: Sequence[Hit], scores: naive.Scores) -> None:
    assert {hit.id: hit.score for hit in hits} == pytest.approx(scores, rel=1e-9)
    assert [hit.id for hit in hits] == ranked(scores)


@pytest.mark.parametrize("name", SEARCHES)
@settings(max_examples=40, deadline=None)
@given(story=steps, query=st.sampled_from(QUERIES), fields=st.sampled_from(FIELDS))
def test_every_view_scores_like_plain_python(
    name: str, story: list[Step], query: str, fields: tuple[TextField, ...]
) -> None:
    search, expected = SEARCHES[name]
    taken = list(played(story))  # all views are searched after the last write
    for view, world in reversed(taken):
        agree(search(view, query, ALL, 100, fields=fields), expected(world, query, fields))
        assert view.size == len(world)


@given(story=steps, query=st.sampled_from(QUERIES), seed=st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_the_order_of_writing_makes_no_difference(story: list[Step], query: str, seed: object) -> None:
    view, world = list(played(story))[-1]
    shuffled = list(world.values())
    seed.shuffle(shuffled)  # type: ignore[attr-defined]
    fresh = Index()
    fresh.apply(shuffled, (), generation=1)
    for search, _ in SEARCHES.values():
        assert search(fresh.view(), query, ALL, 100) == search(view, query, ALL, 100)


@given(story=steps, query=st.sampled_from(QUERIES), limit=st.integers(-1, 12))
@settings(max_examples=50, deadline=None)
def test_a_limit_gives_the_best(story: list[Step], query: str, limit: int) -> None:
    view, _ = list(played(story))[-1]
    for search, _ in SEARCHES.values():
        assert search(view, query, ALL, limit) == search(view, query, ALL, 1000)[: max(0, limit)]


def test_bm25_by_hand() -> None:
    view = index_of("red lamp", "blue lamp lamp", "blue door", "blue").view()
    # N 4, mean length 2; lamp in two of four: idf ln 2
    (twice, once) = view.search_text("lamps", ALL, 5)
    assert twice.id == "blue lamp lamp"
    assert twice.score == pytest.approx(0.693147 * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2)))
    assert once.score == pytest.approx(0.693147 * 1)


def test_statistics_come_from_all_memories_and_not_from_those_admitted() -> None:
    made = index_of("red lamp", "blue lamp lamp", "blue door", "blue")
    far = [entry_of(memory("red lamp", id="mine", scope="user:a"), {})]
    made.apply(far, (), generation=2)
    everyone = {hit.id: hit.score for hit in made.view().search_text("lamp", ALL, 9)}
    assert made.view().search_text("lamp", Filter(scopes=("user:a",)), 9) == [Hit("mine", everyone["mine"])]


def test_a_word_is_stemmed_in_the_language_of_its_memory() -> None:
    view = index_of("Die Katzen und der Hund sind nicht in dem Haus", "the cats are in the house").view()
    assert [hit.id for hit in view.search_text("Katze", ALL, 5)] == ["Die Katzen und der Hund sind nicht in dem Haus"]
    assert [hit.id for hit in view.search_text("cat", ALL, 5)] == ["the cats are in the house"]


def test_words_of_one_stem_count_once_in_a_query() -> None:
    view = index_of("she moved", "he stayed").view()
    assert view.search_text("move moving moved", ALL, 5) == view.search_text("moved", ALL, 5)


@pytest.mark.parametrize("typo", ["Stokholm", "Aliec", "recieve", "Kubernets", "restaraunt"])
def test_typical_typos_are_found(typo: str) -> None:
    right = {"Stokholm": "Stockholm", "Aliec": "Alice", "recieve": "receive", "Kubernets": "Kubernetes"}
    wanted = right.get(typo, "restaurant")
    view = index_of(wanted, "something else entirely", "a lamp").view()
    (hit,) = view.search_trigram(typo, ALL, 5)
    assert (hit.id, 0.3 <= hit.score < 1) == (wanted, True)


def test_likeness_by_hand() -> None:
    # stokholm has 9 trigrams, stockholm 10, and they share 7
    view = index_of("Stockholm").view()
    assert view.search_trigram("Stokholm", ALL, 1)[0].score == pytest.approx(7 / 12)
    assert view.search_trigram("Stockholm", ALL, 1)[0].score == pytest.approx(1)


def test_short_words_are_only_alike_when_equal() -> None:
    view = index_of("the cat sat", "the car").view()
    assert [hit.id for hit in view.search_trigram("cat", ALL, 5)] == ["the cat sat"]


def test_a_part_counts_as_often_as_it_occurs() -> None:
    view = index_of("banana", "ananas an", "pear").view()
    found = {hit.id: hit.score for hit in view.search_substring("ana", ALL, 5)}
    # both have "ana" twice, the second text is longer
    assert found["banana"] > found["ananas an"] > 0
    assert view.search_substring("an", ALL, 5) == []


def test_entries_win_over_removals() -> None:
    made = index_of("a lamp")
    made.apply([entry_of(memory("a lamp", id="a lamp"), {})], ["a lamp", "nothing"], generation=2)
    assert (made.view().size, len(made.view().search_text("lamp", ALL, 5))) == (1, 1)


def test_the_last_of_two_entries_with_one_id_counts() -> None:
    made = Index()
    made.apply([entry_of(memory(text, id="x"), {}) for text in ("a lamp", "a book")], (), generation=7)
    view = made.view()
    assert (view.size, view.generation) == (1, 7)
    assert view.search_text("lamp", ALL, 5) == []
    assert [hit.id for hit in view.search_text("book", ALL, 5)] == ["x"]


def test_a_fact_is_found_by_its_relation_and_keywords() -> None:
    made = Index()
    fact = memory("Alice and Stockholm", id="x", fact=Fact("Alice", "lives_in", "Stockholm"), keywords=("home town",))
    made.apply([entry_of(fact, {})], (), generation=1)
    for query in ("lives_in", "live", "homes"):
        assert [hit.id for hit in made.view().search_text(query, ALL, 5)] == ["x"]


def test_an_empty_index_has_a_view() -> None:
    view = Index().view()
    assert (view.size, view.generation) == (0, 0)
    for search, _ in SEARCHES.values():
        assert search(view, "alice", ALL, 5) == []


def test_threads_read_while_one_writes() -> None:
    made = Index()
    with ThreadPoolExecutor(4) as pool:
        seen = []
        for number in range(200):
            changed = [entry_of(memory(f"lamp {number} {number % 7}", id=f"{number % 150:03}"), {})]
            made.apply(changed, [f"{number % 11:03}"] if number % 5 == 0 else (), generation=number)
            seen.append(pool.submit(_counts, made.view()))
        for counts in seen:
            text, trigram, substring, size = counts.result()
            assert text == trigram == substring == size


def _counts(view: IndexView) -> tuple[int, ...]:
    searches = (view.search_text, view.search_trigram, view.search_substring)
    return (*(len(search("lamp", ALL, 1000)) for search in searches), view.size)
