"""A dictionary: English words of the training data in other languages, from FreeDict and, for small words, by hand."""

from __future__ import annotations

import gzip
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from corpus import Source
from fetch import DICTIONARIES

Words = dict[str, list[str]]
MOST_WORDS, LEAST_COUNT, MOST_SENSES = 30_000, 4, 8
LEAST_COSINE, NEAR = 0.4, 0.1
OWN_SCRIPT = ("ru", "ar", "ja", "zh")
STRESS = "\u0301"  # in Russian entries

# Function words in the order of the first line; "-" for a language that leaves the word out.
_ENGLISH = """
    who what when where why how which i my you your he his she her we our they their is are was were did do does have
    has had not and or the a in on of for with to from at by about"""
_OTHERS = {
    "de": """
        wer was wann wo warum wie welche ich mein du dein er sein sie ihr wir unser sie ihr ist sind war waren - - -
        haben hat hatte nicht und oder die eine in auf von für mit zu von bei durch über""",
    "fr": """
        qui que quand où pourquoi comment quel je mon tu ton il son elle sa nous notre ils leur est sont était étaient
        - - - avoir a avait pas et ou le un dans sur de pour avec à de à par sur""",
    "es": """
        quién qué cuándo dónde por_qué cómo cuál yo mi tú tu él su ella su nosotros nuestro ellos su es son era eran -
        - - tener tiene tenía no y o el un en sobre de para con a desde en por sobre""",
    "it": """
        chi cosa quando dove perché come quale io mio tu tuo lui suo lei sua noi nostro loro loro è sono era erano - -
        - avere ha aveva non e o il un in su di per con a da a da su""",
    "pt": """
        quem o_que quando onde por_que como qual eu meu você seu ele dele ela dela nós nosso eles deles é são era eram
        - - - ter tem tinha não e ou o um em sobre de para com a de em por sobre""",
    "nl": """
        wie wat wanneer waar waarom hoe welke ik mijn jij jouw hij zijn zij haar wij onze zij hun is zijn was waren -
        - - hebben heeft had niet en of de een in op van voor met naar van bij door over""",
    "pl": """
        kto co kiedy gdzie dlaczego jak który ja mój ty twój on jego ona jej my nasz oni ich jest są był byli - - -
        mieć ma miał nie i lub - - w na z dla z do od przy przez o""",
    "ru": """
        кто что когда где почему как который я мой ты твой он его она её мы наш они их - - был были - - - иметь имеет
        имел не и или - - в на из для с к от у - о""",
    "tr": """
        kim ne ne_zaman nerede neden nasıl hangi ben benim sen senin o onun o onun biz bizim onlar onların - - idi idi
        - - - var var vardı değil ve veya - bir içinde üzerinde - için ile - -den -de - hakkında""",
    "ar": """
        من ماذا متى أين لماذا كيف أي أنا لي أنت لك هو له هي لها نحن لنا هم لهم - - كان كانوا - - - لديه لديه كان ليس و
        أو - - في على من ل مع إلى من عند - عن""",
    "ja": """
        誰 何 いつ どこ なぜ どうやって どの 私 私の あなた あなたの 彼 彼の 彼女 彼女の 私たち 私たちの 彼ら
        彼らの です です でした でした - - - ある ある あった ない と または - - で に の のために と へ から で
        - について""",
    "zh": """
        谁 什么 什么时候 哪里 为什么 怎么 哪个 我 我的 你 你的 他 他的 她 她的 我们 我们的 他们 他们的 是 是 是
        是 - - - 有 有 有 不 和 或者 - 一个 在 在 的 为 和 到 从 在 - 关于""",
}
_HEAD = re.compile(r"^([A-Za-z][A-Za-z' -]{1,30}?) ?/+[^/]+/")
_ASIDE = re.compile(r'\([^)]*\)|\[[^\]]*\]|<[^>]*>|"[^"]*"|^\W*\d+\.')
_SEPARATOR = re.compile(r"[,;،؛:./]")
_NUMBER = re.compile(r" ?\d+$|^(I|II|III|IV|V)$")
_DOUBLED = re.compile(r"(.+?)([bdgmnprt])\2(ed|ing)$")

Embed = Callable[[Sequence[str]], np.ndarray]


def dictionary(fetched: Path, sources: Sequence[Source], embed: Embed) -> dict[str, Words]:
    """Translations of the most frequent words, by language; `embed` is the untuned model."""
    words = _frequent(sources)
    return {language: _translated(fetched, language, words, embed) for language in DICTIONARIES}


def _frequent(sources: Sequence[Source]) -> list[str]:
    counts: Counter[str] = Counter()
    for source in sources:
        for text in (*source.units[::2], *(question.text for question in source.questions[::2])):
            counts.update(re.findall(r"[a-z']+", text.lower()))
    return [word for word, count in counts.most_common(MOST_WORDS) if count >= LEAST_COUNT and len(word) > 1]


def _translated(fetched: Path, language: str, words: Sequence[str], embed: Embed) -> Words:
    entries = _entries(fetched, language)
    found = {word: next((entries[form] for form in _forms(word) if form in entries), []) for word in words}
    chosen = _closest({word: senses for word, senses in found.items() if senses}, embed)
    for word, told in zip(_ENGLISH.split(), _OTHERS[language].split(), strict=True):
        chosen[word] = ["" if told == "-" else told.replace("_", " ")]
    return chosen


def _entries(fetched: Path, language: str) -> Words:
    file = fetched / f"files/usr/share/dictd/freedict-eng-{DICTIONARIES[language]}.dict.dz"
    found: Words = {}
    head = None
    with gzip.open(file) as stream:
        lines = stream.read().decode("utf-8", "ignore").split("\n")
    for line in lines:
        if start := _HEAD.match(line):
            head = start[1].strip().lower()
        elif head is not None and (told := _sense(line, language)) and told.lower() != head:
            senses = found.setdefault(head, [])
            if told not in senses and len(senses) < MOST_SENSES:
                senses.append(told)
    return found


def _sense(line: str, language: str) -> str | None:
    text = _SEPARATOR.split(_ASIDE.sub("", line).strip(" -"))[0].strip()
    if language == "ru":
        text = unicodedata.normalize("NFD", text).replace(STRESS, "")
    text = _NUMBER.sub("", unicodedata.normalize("NFC", text))
    foreign = language in OWN_SCRIPT and re.search("[A-Za-z]", text)
    return text if text and len(text.split()) <= 3 and len(text) <= 30 and not foreign else None


def _forms(word: str) -> Iterator[str]:
    """A word, and what it may be a form of."""
    yield word
    if word.endswith("ies"):
        yield f"{word[:-3]}y"
    for ending in ("'s", "s", "es", "d", "ed", "ing", "ly", "er", "est"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            yield word[: -len(ending)]
            yield f"{word[: -len(ending)]}e"
    if doubled := _DOUBLED.match(word):
        yield doubled[1] + doubled[2]


def _closest(found: Mapping[str, list[str]], embed: Embed) -> Words:
    """The senses that the untuned model takes for translations: dictionaries are full of rare senses and notes."""
    told = sorted({sense for senses in found.values() for sense in senses})
    places = {sense: place for place, sense in enumerate(told)}
    chosen: Words = {}
    vectors = embed(told)
    for word, vector in zip(found, embed(list(found)), strict=True):
        cosines = {sense: float(vector @ vectors[places[sense]]) for sense in found[word]}
        least = max(LEAST_COSINE, max(cosines.values()) - NEAR)
        if near := [sense for sense, cosine in _descending(cosines.items()) if cosine >= least]:
            chosen[word] = near[:2]
    return chosen


def _descending(items: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    return sorted(items, key=lambda item: -item[1])
