"""abmind (seed 003): the cascade, its short-circuits, doubt, boosts, diversity, notes, edges and tracking."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import log, prod

import pytest

from memorist.engine.engine import up_to
from memorist.errors import InvalidInput
from memorist.model import Candidate, Fact, Filter, Kind, Memory, Recall, Tier, Usage, Worth
from memorist.model.marks import Conflicting
from memorist.ports import Store
from memorist.recall.data import to_data
from memorist.recall.diversity import MMR, distinct_words, jaccard
from memorist.recall.reason import Enrich
from memorist.recall.recipes import RECIPES
from memorist.recall.signals import Fuzzy, Signature
from memorist.stores.memory import MemoryStore
from tests.recall.worlds import NOW, draft, memory, world
from tests.recipes.worlds import ids, near, opened, scores, skipped, tuned

QUERY = "what database does the project use?"
AXIS = near(1.0)
FUZZY = (
    "The project keeps everything in a database.",
    "Our database is copied every night.",
    "The project began in May.",
    "An index makes a database fast.",
)
MEANT = ("SQLite holds all records.", "Records lie in one file.")
NOTE = "Week 23: the project migrated to SQLite."


def hits(found: Recall) -> dict[str, int]:
    return {name: len(one.hits) for name, one in found.trace.found.items()}


# The cascade


def test_the_pages_example(store: Store) -> None:
    """Four fuzzy, two by meaning, signature skipped, one note, no entity: seven candidates, five returned."""
    memories = [memory(text, text) for text in (*FUZZY, *MEANT)]
    note = memory(NOTE, NOTE, kind=Kind.NOTE)
    vectors = {
        QUERY: AXIS,
        MEANT[0]: near(0.8),
        MEANT[1]: near(0.7),
        NOTE: near(0.9),
        **dict.fromkeys(FUZZY, near(0.2)),
    }
    with opened(*memories, note, recipe="abmind", vectors=vectors, store=store) as engine:
        found = engine.recall(QUERY, limit=5)
    assert hits(found) == {"fuzzy": 4, "vector": 2, "signature": 0, "notes": 1, "edges": 0}
    assert skipped(found, "cascade.signature") == "5 found already"
    assert found.trace.candidate_count == 7
    assert len(found.items) == 5


def test_enough_words_make_meaning_and_signature_superfluous() -> None:
    memories = [memory(text, text) for text in (*FUZZY, *MEANT)]
    vectors = {QUERY: AXIS, **dict.fromkeys(MEANT, near(0.9))}
    with opened(*memories, recipe="abmind", vectors=vectors) as engine:
        found = engine.recall(QUERY, limit=4)
    assert {name: one.skipped for name, one in found.trace.found.items()} == {
        "fuzzy": None,
        "vector": "4 found already",
        "signature": "4 found already",
        "notes": None,
        "edges": None,
    }
    assert set(ids(found)) == set(FUZZY)


def test_without_an_embedder_the_signature_helps_out() -> None:
    with opened(memory("a", FUZZY[0]), recipe="abmind") as engine:
        found = engine.recall(QUERY)
    assert skipped(found, "cascade.vector") == "no embedder"
    assert skipped(found, "cascade.signature") is None


def test_meaning_counts_from_a_cosine_of_one_half() -> None:
    vectors = {"asked": AXIS, "above": near(0.51), "below": near(0.49)}
    with opened(memory("above", "above"), memory("below", "below"), recipe="abmind", vectors=vectors) as engine:
        assert scores(engine.recall("asked")) == pytest.approx({"above": 0.51}, abs=2e-3)


def test_signatures_need_no_model_and_give_at_most_five() -> None:
    alike = [memory(f"{n}", f"the red fox jumps over the lazy dog {n}") for n in range(8)]
    with opened(*alike, memory("far", "quarterly ledger"), recipe="abmind") as engine:
        only = tuned("abmind", cascade__until_enough=[{"signal": "signature"}])
        with opened(recipe=only, store=engine.store) as signing:
            found = signing.recall("the red fox jumps over the lazy dog")
    assert len(found.items) == 5
    assert all(item.score >= 0.65 for item in found.items)


@pytest.mark.parametrize(
    ("mode", "searched"),
    [
        ("hybrid", {"fuzzy", "vector", "signature", "notes", "edges"}),
        ("fts", {"fuzzy", "notes", "edges"}),
        ("signature", {"signature", "notes", "edges"}),
    ],
)
def test_the_modes_of_the_page_are_one_setting(mode: str, searched: set[str]) -> None:
    vectors = {QUERY: AXIS, FUZZY[0]: near(0.2)}
    with opened(memory("a", FUZZY[0]), recipe=tuned("abmind", cascade__mode=mode), vectors=vectors) as engine:
        found = engine.recall(QUERY)
    assert {name for name, one in found.trace.found.items() if one.skipped is None} == searched
    assert {signal.skipped for signal in found.trace.found.values()} <= {None, f"mode {mode}"}
    if mode == "fts":
        assert scores(found) == pytest.approx({"a": 1.0})  # meaning did not look, so it casts no doubt


def test_other_modes_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"cascade\.mode is 'semantic'"):
        tuned("abmind", cascade__mode="semantic")


@pytest.mark.parametrize("bits", [64, 256, 512])
def test_signatures_have_as_many_bits_as_the_setting_says(store: Store, bits: int) -> None:
    only = tuned("abmind", cascade__mode="signature", signature__bits=bits)
    texts = ("the red fox jumps over the lazy dog", "the red fox jumped over a dog", "quarterly ledger")
    with opened(*(memory(text, text) for text in texts), recipe=only, store=store) as engine:
        found = scores(engine.recall(texts[0]))
    assert texts[2] not in found and found[texts[0]] == 1.0
    assert found[texts[1]] < 1.0
    assert all((score * bits).is_integer() for score in found.values())


@pytest.mark.parametrize("bits", [0, 100, 1024, -64, True, "256", 256.5])
def test_other_numbers_of_bits_are_refused(bits: object) -> None:
    with pytest.raises(InvalidInput, match=r"signature\.bits is"):
        tuned("abmind", signature__bits=bits)


# Fuzzy search


def worked() -> Memory:
    """e 3, recalls 2, relevance above 0, trust 3, credibility 2, core, 73 days old."""
    worth = Worth(emotion=3, relevance=0.5, trust=3, credibility=2)
    at = NOW - timedelta(days=73)
    return memory("worked", "The ledger.", at, tier=Tier.CORE, worth=worth, usage=Usage(recalls=2))


def test_fuzzy_scores_follow_the_page_and_are_divided_by_the_best() -> None:
    plain = memory("plain", "A ledger.", worth=Worth(trust=1))
    with world(worked(), plain) as env:
        asked = draft(query="ledger")
        bm25 = env.view.search_text("ledger", Filter(), 2, fields=("text",))[0].score
        raw = {hit.id: hit.score for hit in Fuzzy(raw=True).search(asked, env, 30)}
        normal = {hit.id: hit.score for hit in Fuzzy().search(asked, env, 30)}
    expected = (bm25 + 0.5 * log(4)) * 1.2 * 1.2 * 1.0 * 1.25 * 1.3 * 0.8 * 1.3
    assert raw == pytest.approx({"worked": expected, "plain": bm25 * (0.5 + 0.5 / 3)})
    assert normal == pytest.approx({"worked": 1.0, "plain": raw["plain"] / expected})


def test_parts_of_words_are_found_after_stems_and_keep_their_own_score() -> None:
    with world(memory("stem", "The ledgers."), memory("part", "subledger notes")) as env:
        found = {hit.id: hit.score for hit in Fuzzy(raw=True).search(draft(query="ledger"), env, 30)}
        stems = {hit.id: hit.score for hit in env.view.search_text("ledger", Filter(), 9, fields=("text",))}
        parts = {hit.id: hit.score for hit in env.view.search_substring("ledger", Filter(), 9, fields=("text",))}
    assert stems.keys() == {"stem"}
    assert found == pytest.approx({"stem": stems["stem"], "part": parts["part"]})


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("databse", "The database is copied every night."),
        ("Postgrseql", "We run PostgreSQL at home."),
        ("geoffery", "Geoffrey called."),
        ("kardemumabullar", "Mormors kardemummabullar."),
    ],
)
def test_typos_are_found(store: Store, asked: str, meant: str) -> None:
    texts = ("The database is copied every night.", "We run PostgreSQL at home.", "Geoffrey called.")
    buns = memory("Mormors kardemummabullar.", "Buns.", original="Mormors kardemummabullar.")
    with opened(*(memory(text, text) for text in texts), buns, recipe="abmind", store=store) as engine:
        found = engine.recall(asked)
    assert [item.memory.id for item in found.items if "fuzzy" in item.signals] == [meant]


def test_a_word_that_is_known_is_no_typo() -> None:
    """Similarly spelt words would bring a question about the form the texts about the farm."""
    texts = {"form": "The form is signed.", "forms": "Two forms.", "platform": "A platform.", "farm": "Our forn farm."}
    with opened(*(memory(id, text) for id, text in texts.items()), recipe="abmind") as engine:
        by_word = {
            asked: {hit.id for hit in engine.recall(asked).trace.found["fuzzy"].hits} for asked in ("form", "forms")
        }
    assert by_word == {"form": {"form", "forms", "platform"}, "forms": {"form", "forms"}}


def test_a_typo_scores_less_than_a_part_of_a_word() -> None:
    """One word of three texts each: the same idf and length, the term frequency 1, or 7/12 for stokholm."""
    with world(memory("right", "Stockholm"), memory("other", "Ledger")) as env:
        part, typo = (Fuzzy(raw=True).search(draft(query=query), env, 9)[0].score for query in ("tockhol", "Stokholm"))
    idf = log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert part == pytest.approx(idf * 1.0 * 2.2 / (1.0 + 1.2))
    assert typo == pytest.approx(idf * (7 / 12) * 2.2 / (7 / 12 + 1.2))


def test_a_word_known_only_above_the_cap_is_still_a_typo() -> None:
    """Whether a word is taken for a typo does not tell what more secret memories contain."""
    plain = memory("plain", "The database is copied.")
    secret = memory("secret", "databse", worth=Worth(classification=3))
    for hidden in ((), (secret,)):
        with opened(plain, *hidden, recipe="abmind") as engine:
            assert ids(up_to(engine, 2).recall("databse")) == ["plain"]
            assert ids(engine.recall("databse", max_classification=2)) == ["plain"]


def test_explain_tells_the_parts_of_a_fuzzy_hit() -> None:
    plain = memory("plain", "A ledger.", worth=Worth(trust=1))
    with opened(worked(), plain, recipe="abmind") as engine:
        found = engine.recall("ledger")
        told = {item.memory.id: str(engine.explain(found, item.memory.id)) for item in found.items}
    for item in found.items:
        parts = dict(item.signals["fuzzy"].parts)
        added = parts.pop("bm25") + parts.pop("emotion_log")
        best = parts.pop("best")
        assert item.signals["fuzzy"].score == pytest.approx(added * prod(parts.values()) / best)
        assert all(f"  {name}" in told[item.memory.id] for name in (*parts, "bm25", "emotion_log", "best"))
    assert dict(found.items[0].signals["fuzzy"].parts) == pytest.approx(
        {
            "bm25": dict(found.items[0].signals["fuzzy"].parts)["bm25"],
            "emotion_log": 0.5 * log(4),
            "recall_count": 1.2,
            "relevance": 1.2,
            "trust": 1.0,
            "credibility": 1.25,
            "tier": 1.3,
            "linear_recency": 0.8,
            "emotion": 1.3,
            "best": dict(found.items[0].signals["fuzzy"].parts)["best"],
        }
    )


BUNS = memory("buns", "Cardamom buns.", original="Mormors kardemummabullar.")


@pytest.mark.parametrize(("options", "found"), [({}, ["buns"]), ({"translated": True}, []), ({"limit": 1}, ["buns"])])
def test_the_original_text_is_searched_unless_the_query_is_translated(
    options: dict[str, object], found: list[str]
) -> None:
    with opened(BUNS, recipe="abmind") as engine:
        assert ids(engine.recall("kardemummabullar", **options)) == found  # pyright: ignore[reportArgumentType]


def test_the_original_text_is_searched_only_while_there_is_too_little() -> None:
    english = memory("english", "A kardemummabullar shop.")
    with opened(BUNS, english, recipe="abmind") as engine:
        assert hits(engine.recall("kardemummabullar", limit=1))["fuzzy"] == 1
        assert hits(engine.recall("kardemummabullar", limit=2))["fuzzy"] == 2


# Doubt and boosts


def asked(vectors: dict[str, tuple[float, ...]] | None, **options: object) -> dict[str, float]:
    """What abmind makes of a memory with emotion −3 of a Tuesday morning, recalled every week, alone in its store."""
    morning = datetime(2024, 6, 4, 9, 30, tzinfo=UTC)
    weeks = tuple(morning + timedelta(days=7 * n) for n in range(3))
    fields = {"topic": "work", "worth": Worth(emotion=-3), "usage": Usage(3, weeks[-1], weeks)}
    with opened(memory("a", "The ledger.", morning, **fields), recipe="abmind", vectors=vectors) as engine:
        return scores(engine.recall("ledger", **options))  # pyright: ignore[reportArgumentType]


FAR, CLOSE = {"ledger": AXIS, "The ledger.": near(0.3)}, {"ledger": AXIS, "The ledger.": near(0.6)}
HERE = {"hour": 11, "weekday": 1, "topic": "work"}


@pytest.mark.parametrize(
    ("vectors", "options", "score"),
    [
        (CLOSE, {}, (1.0 + 0.06) * 1.3),  # confirmed
        (FAR, {}, (0.5 + 0.06) * 1.3),  # doubted first, boosted then
        (None, {}, (1.0 + 0.06) * 1.3),  # meaning did not look
        (FAR, {"limit": 1}, (1.0 + 0.06) * 1.3),  # nor here: words had filled the limit
        (FAR, {"situation": HERE}, (0.5 + 0.02 + 0.015 + 0.03 + 0.06) * 1.3),
        (FAR, {"situation": {"hour": 20, "weekday": 4}}, (0.5 + 0.0075 + 0.06) * 1.3),
    ],
)
def test_doubt_then_situation_and_emotion_then_spacing(
    vectors: dict[str, tuple[float, ...]] | None, options: dict[str, object], score: float
) -> None:
    assert asked(vectors, **options) == {"a": pytest.approx(score)}


@pytest.mark.parametrize(
    ("zone", "hour", "weekday", "boost"),
    [
        (None, 23, 0, 0.02 + 0.015),
        ("+08:00", 7, 1, 0.02 + 0.015),  # 23:30 UTC on Monday is Tuesday morning there
        ("Asia/Shanghai", 7, 1, 0.02 + 0.015),
        ("+08:00", 23, 0, 0.0075),
        ("-11:30", 12, 0, 0.02 + 0.015),
    ],
)
def test_the_part_of_the_day_is_the_callers(zone: str | None, hour: int, weekday: int, boost: float) -> None:
    late = datetime(2024, 6, 3, 23, 30, tzinfo=UTC)
    with opened(memory("a", "The ledger.", late), recipe="abmind") as engine:
        found = engine.recall("ledger", situation={"hour": hour, "weekday": weekday, "zone": zone})
    assert scores(found) == pytest.approx({"a": 1.0 + boost})


@pytest.mark.parametrize("zone", ["Mars/Base", "+99:00", "../../etc/passwd", "America", "", "+08:00\n", 8])
def test_a_zone_that_is_none_is_refused(zone: object) -> None:
    with opened(recipe="abmind") as engine, pytest.raises(InvalidInput, match="zone"):
        engine.recall("ledger", situation={"zone": zone})


def test_what_meaning_found_itself_is_not_doubted() -> None:
    vectors = {"ledger": AXIS, "The ledger.": near(0.3), "A big book.": near(0.7)}
    with opened(memory("a", "The ledger."), memory("b", "A big book."), recipe="abmind", vectors=vectors) as engine:
        found = engine.recall("ledger")
    assert scores(found) == pytest.approx({"a": 0.5, "b": 0.7}, abs=2e-3)


# Diversity and enrichment


def test_diversity_counts_shared_words() -> None:
    """After the pie: tart 0.7 · 0.9 − 0.3 · 2/4 = 0.48, pear 0.7 · 0.8 − 0 = 0.56."""
    texts = {"Red apple PIE": 1.0, "red Apple tart": 0.9, "green pear": 0.8}
    with world() as env:
        after = MMR(balance=0.7, by="words")(draft([Candidate(memory(t, t), s) for t, s in texts.items()]), env)
    assert [candidate.memory.id for candidate in after.candidates] == ["Red apple PIE", "green pear", "red Apple tart"]
    assert [candidate.score for candidate in after.candidates] == [1.0, 0.8, 0.9]


@pytest.mark.parametrize(
    ("texts", "shared"),
    [
        (("The deadline.", "the Deadline!"), 1.0),
        (("The deadline is near", "Deadline: Friday"), 1 / 5),
        (("截止日期", "截止日期。"), 1.0),
        (("截止日期", "日期"), 1 / 3),
    ],
)
def test_words_are_compared_without_punctuation(texts: tuple[str, str], shared: float) -> None:
    assert jaccard(*map(distinct_words, texts)) == pytest.approx(shared)


def test_a_timeline_follows_the_events_and_not_the_import() -> None:
    with opened(recipe="abmind") as engine:
        for day, text in (("2023-05-02", "The deadline is Monday."), ("2023-01-09", "The deadline is Friday.")):
            engine.remember(text, at=day, topic="plan")
        found = {item.memory.text: item.notes[0] for item in engine.recall("deadline").items}
    assert found == {
        "The deadline is Friday.": "timeline of plan: 1 of 2, 2023-01-09 → 2023-05-02",
        "The deadline is Monday.": "timeline of plan: 2 of 2, 2023-01-09 → 2023-05-02",
    }


def test_likely_conflicts_and_the_timeline_of_a_topic_are_noted() -> None:
    early, late = NOW - timedelta(days=30), NOW - timedelta(days=2)
    memories = (
        memory("old", "The deadline is Monday", early, topic="plan"),
        memory("new", "The deadline is Friday", late, topic="plan"),
        memory("other", "The deadline is Sunday", late, topic="garden"),
        memory("none", "The deadline is near", late),
    )
    with opened(*memories, recipe="abmind") as engine:
        found = {item.memory.id: item.notes for item in engine.recall("deadline").items}
    conflict = "⚠️ Conflicts with another result"
    assert found == {
        "old": ("timeline of plan: 1 of 2, 2024-06-01 → 2024-06-29", conflict),
        "new": ("timeline of plan: 2 of 2, 2024-06-01 → 2024-06-29", conflict),
        "other": (),
        "none": (),
    }


@pytest.mark.parametrize(
    ("other", "conflict"),
    [
        ("a b c x", True),  # 3 of 4 words
        ("a b c x y", False),  # 3 of 5 is not more than 60 %
        ("a b c d e", False),  # the same text
        ("A B C D E", True),  # the same words, another text
    ],
)
def test_a_conflict_is_more_than_sixty_per_cent_of_the_smaller_ones_words(other: str, conflict: bool) -> None:
    pair = [Candidate(memory(id, text, topic="t"), 1.0) for id, text in (("1", "a b c d e"), ("2", other))]
    with world() as env:
        after = Enrich()(draft(pair), env)
    assert [Conflicting() in candidate.marks for candidate in after.candidates] == [conflict, conflict]


# Notes and edges


def note(id: str, text: str, at: datetime = NOW) -> Memory:
    return memory(id, text, at, kind=Kind.NOTE)


def test_notes_score_one_half_and_the_same_paragraph_of_a_time_counts_once() -> None:
    long = "ledger " * 12
    notes = (note("a", long + "one"), note("b", long + "two"), note("c", long + "three", NOW - timedelta(days=40)))
    with opened(*notes, memory("m", "unrelated"), recipe="abmind") as engine:
        found = engine.recall("ledger")
        this_month = engine.recall("ledger", since=NOW - timedelta(days=7))
        memories_only = engine.recall("ledger", kinds="episodic")
    assert scores(found) in ({"a": 0.5, "c": 0.5}, {"b": 0.5, "c": 0.5})
    assert all(item.signals.keys() == {"notes"} and item.memory.kind is Kind.NOTE for item in found.items)
    assert len(this_month.items) == 1 and this_month.items[0].memory.id != "c"
    assert memories_only.abstained


def edge(id: str, subject: str, relation: str, object: str, text: str) -> Memory:
    return memory(id, text, kind=Kind.SEMANTIC, fact=Fact(subject, relation, object))


def test_the_first_known_entity_brings_its_edges(store: Store) -> None:
    facts = (
        edge("1", "alice", "works_with", "bob", "They share an office."),
        edge("2", "carol", "likes", "alice", "She likes her."),
        edge("3", "bob", "plays", "chess", "He plays well."),
        edge("4", "carol", "knows", "dan", "She met him through Alice."),  # of Alice it speaks, but is no edge of hers
    )
    with opened(*facts, memory("m", "A visit of alice."), recipe="abmind", store=store) as engine:
        found = engine.recall("has alice bob's number?")
    edges = {item.memory.id: (item.score, item.notes) for item in found.items if "edges" in item.signals}
    assert edges == {"1": (0.6, ("alice —[works_with]→ bob",)), "2": (0.6, ("carol —[likes]→ alice",))}


# Tracking


def recalls(engine_store: Store) -> dict[str, int]:
    page = engine_store.scan(Filter(), 100)
    return {memory.id: memory.usage.recalls for memory in page.items if memory.usage and memory.usage.recalls}


def test_every_hit_of_the_three_searches_is_counted_and_nothing_else() -> None:
    store = MemoryStore("test")
    memories = [memory(text, text) for text in (*FUZZY, *MEANT)]
    fact = edge("edge", "database", "made_by", "nobody", "It grew.")
    vectors = {QUERY: AXIS, **dict.fromkeys(MEANT, near(0.8)), **dict.fromkeys(FUZZY, near(0.2))}
    with opened(*memories, fact, note("note", NOTE), recipe="abmind", vectors=vectors, store=store) as engine:
        assert "edges" in engine.recall(QUERY, limit=5, track=False).trace.found
        assert recalls(store) == {}
        found = engine.recall(QUERY, limit=5)
        assert hits(found)["edges"] == hits(found)["notes"] == 1
        assert recalls(store) == dict.fromkeys((*FUZZY, *MEANT), 1)


def test_the_last_twenty_recalls_are_kept() -> None:
    with opened(memory("a", "The ledger."), recipe="abmind") as engine:
        for _ in range(22):
            engine.recall("ledger")
        usage = engine.get("a").usage  # pyright: ignore[reportOptionalMemberAccess]
    assert usage is not None and (usage.recalls, usage.last_recall, len(usage.recall_times)) == (22, NOW, 20)


def test_the_recipe_has_the_pages_numbers() -> None:
    stages = {stage["stage"]: stage for stage in to_data(RECIPES["abmind"])["stages"]}
    assert stages["cascade"]["times"] == 3
    assert stages["confirm"]["penalty"] == 0.5
    assert (stages["mmr"]["balance"], stages["mmr"]["by"]) == (0.7, "words")
    assert (Signature().least, Signature().most) == (0.65, 5)
