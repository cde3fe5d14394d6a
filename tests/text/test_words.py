from __future__ import annotations

import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorist.text.words import LONGEST, STOP_WORDS, analyse, fold, language, query_words, stem, stem_all, words

EXAMPLES = {
    "Alice moved to Stockholm.": "alice moved to stockholm",
    "": "",
    " \t\u3000\n": "",
    # identifiers: the parts, then the whole
    "order-ABC-1234": "order abc 1234 order-abc-1234",
    "user_id": "user id user_id",
    "__init__": "init",
    "_": "",
    "v1.2.3": "v1 2 3 v1.2.3",
    "foo@bar.com": "foo bar com foo@bar.com",
    "10:30": "10 30 10:30",
    "2024-06-03": "2024 06 03 2024-06-03",
    "AT&T": "at t at&t",
    "C++ and C#": "c c++ and c c#",
    "#tag": "tag",
    # but plain hyphenated words only in parts
    "well-known and/or": "well known and or",
    # numbers
    "3.14": "3 14 3.14",
    "1,234,567 people, 12,34": "1234567 people 12 34",
    # apostrophes
    "don't can’t": "dont cant",
    "Alice's, it's, I'm, we'll, they've": "alice it i we they",
    "l'homme, O'Brien": "l homme o brien",
    "students' 'quoted'": "students quoted",
    # acronyms
    "U.S.A. at 3 p.m.": "usa at 3 pm",
    # case, width and accents
    "Ångström STRASSE Straße Łódź Søren Ærø": "angstrom strasse strasse lodz soren aero",
    "Ｆｕｌｌ ﬁne Acme™ co\u00adoperate": "full fine acme cooperate",
    "Йод ёлка": "йод елка",
    "مُحَمَّد שָׁלוֹם": "محمد שלום",
    # scripts without spaces: overlapping pairs
    "東京タワー": "東京 京タ タワ ワー",
    "我 第1章": "我 第 1 章",
    "iPhone手机": "iphone 手机",
    "한국어": "한국 국어",
    "สวัสดี": "สว วั ัส สด ดี",
    "ガ": "ガ",
    # vowel signs belong to their word
    "हिन्दी में": "हिन्दी में",
    # emoji
    "😂😂 👍🏽 👨\u200d👩\u200d👧 🇸🇪 ❤️": "😂 😂 👍 👨 👩 👧 🇸🇪 ❤",
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_a_text_has_these_words(text: str) -> None:
    assert words(text) == EXAMPLES[text].split()


@given(st.text(st.characters(codec=None), max_size=300))
def test_any_text_gives_clean_words(text: str) -> None:
    for word in words(text):
        assert 0 < len(word) <= LONGEST
        assert word.encode("utf-8").decode("utf-8") == word
        assert len(word.split()) == 1
        assert word == word.casefold()


@given(st.text(max_size=100), st.text(max_size=100))
def test_texts_are_analysed_one_after_the_other(first: str, second: str) -> None:
    code, *found = analyse(first, second).split(" ")
    assert found == words(first) + words(second)
    assert code == language(found)


@given(st.text(st.sampled_from("ab é_'’.-@/:&,+#1東ー🙂\u0301\u0323"), max_size=40))
def test_composed_and_decomposed_texts_have_the_same_words(text: str) -> None:
    assert words(unicodedata.normalize("NFD", text)) == words(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize("word", ["order-abc-1234", "user_id", "v1.2.3", "foo@bar.com", "c++", "3.14"])
def test_an_identifier_is_found_by_its_parts_and_whole(word: str) -> None:
    kept = set(words(f"see {word}, please"))
    assert word in kept
    assert set(words(word)) <= kept


@pytest.mark.parametrize(
    "unit", ["a'", "a.", "a_", "'t", "_", "\0", "1,000", "x", "😂", "\u0300\u0323", "क\u094d\u093c"]
)
def test_long_hostile_texts_are_read_in_linear_time(unit: str) -> None:
    # Quadratic steps would take minutes at this length.
    assert all(len(word) <= LONGEST for word in words("a" + unit * 100_000))


def test_a_long_run_of_letters_is_cut() -> None:
    assert words("x" * 150) == ["x" * 64, "x" * 64, "x" * 22]
    assert set(words("x" * 150)) <= set(words(f"see {'x' * 150}"))


LANGUAGES = {
    "Alice moved to Stockholm": "en",
    "pizza": "en",
    "": "en",
    "12 34": "en",
    "Die Hard": "en",
    "Ich wohne nicht mehr in Berlin": "de",
    "Je ne mange pas de viande": "fr",
    "Mi perro está en la casa": "es",
    "Il gatto è sul tavolo e non si muove": "it",
    "O cachorro está em casa e não sai": "pt",
    "Ik woon niet meer in Amsterdam": "nl",
    "Jag bor inte längre i Stockholm": "sv",
    "Jeg bor ikke længere i København, hvad med dig?": "da",
    "Jeg bor ikke lenger i Oslo, hva med deg?": "no",
    "En asu enää Helsingissä, mutta olen siellä": "fi",
    "Я живу в Москве": "ru",
    "Ζω στην Αθήνα": "el",
    "أعيش في القاهرة": "ar",
    "אני גר בתל אביב": "he",
    "मैं दिल्ली में रहता हूँ": "hi",
    "我住在东京, NFL": "cjk",
    "ฉันอยู่ที่กรุงเทพ": "th",
}


@pytest.mark.parametrize("text", LANGUAGES)
def test_languages_are_recognised(text: str) -> None:
    assert language(words(text)) == LANGUAGES[text]


STEMS = {
    ("moving", "en"): "move",
    ("häuser", "de"): "haus",
    ("москве", "ru"): "москв",
    ("東京", "cjk"): "東京",
    ("שלום", "he"): "שלום",
}


@pytest.mark.parametrize(("word", "code"), STEMS)
def test_stems(word: str, code: str) -> None:
    assert stem(word, code) == STEMS[word, code]


@pytest.mark.parametrize("code", [*STOP_WORDS, "he", "xx"])
def test_stemming_many_words_equals_stemming_each(code: str) -> None:
    found = ["moving", "häuser", "москве", "東京", "", "user_id", "🙂"]
    assert stem_all(found, code) == [stem(word, code) for word in found]


def test_threads_may_stem_at_once() -> None:
    found = [f"running{number}s" for number in range(2000)]
    expected = stem_all(found, "en")
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: stem_all(found, "en"), range(16))) == [expected] * 16


@pytest.mark.parametrize("code", STOP_WORDS)
def test_stop_words_are_words_as_they_are_found(code: str) -> None:
    for word in STOP_WORDS[code]:
        assert fold(word) == word
        assert words(word) == [word]


QUERIES = {
    "Where does Alice live?": ["alice", "live"],
    "Don't they have a cat, a CAT?": ["cat"],
    "Who are you?": ["who", "are", "you"],
    "What happened in May in the US?": ["happened", "may", "us"],
    "Wo wohnt der Alice?": ["wohnt", "alice"],
    "什么 是 东京": ["东京"],
    "?!": [],
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_is_searched_without_its_stop_words(query: str) -> None:
    assert query_words(query) == QUERIES[query]


def test_stop_words_are_listed_in_folded_form() -> None:
    for listed in STOP_WORDS.values():
        assert all(fold(word) == word for word in listed)
