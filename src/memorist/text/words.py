"""Words of texts: folding, scripts, stop words, languages, stems and BM25."""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from memorist.text.patterns import lazy

# Letters that Unicode does not decompose, signs whose compatibility form would join the word
# before them, and characters of zero width.
_SPELLED = {
    "Ø": "O", "ø": "o", "Ł": "L", "ł": "l", "Đ": "D", "đ": "d", "Ð": "D", "ð": "d", "Þ": "Th", "þ": "th",
    "Æ": "Ae", "æ": "ae", "Œ": "Oe", "œ": "oe", "ı": "i", "’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-",
    "™": " ", "℠": " ",
    "\u00ad": "", "\u200b": "", "\u200c": "", "\u200d": "", "\u2060": "", "\ufe0e": "", "\ufe0f": "", "\ufeff": "",
}  # fmt: skip
_SPELLED_ANY = lazy(f"[{''.join(_SPELLED)}]")

# Accents of Latin, Greek and Cyrillic (not the breve of й, which is a letter), points of Hebrew,
# vowel signs and the lengthening stroke of Arabic. Marks of other scripts carry meaning and stay.
_MARKS = lazy(
    "[\u0300-\u0305\u0307-\u034e\u0350-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640"
    "\u064b-\u065f\u0670]|(?<!и)\u0306"
)

# Normalisation sorts each run of marks in quadratic time; the joiner ends a run (UAX #15, stream-safe text).
_LONG_RUN = lazy(r"([^\w\s\x00-\x7f]{30})(?=[^\w\s\x00-\x7f])")
_JOINER = "\u034f"


def fold(text: str) -> str:
    """A text in compatibility form, case-folded and without accents; never raises, in linear time."""
    if text.isascii():
        return text.lower()
    text = _SPELLED_ANY.sub(lambda found: _SPELLED[found[0]], text)
    text = _LONG_RUN.sub(rf"\1{_JOINER}", text)
    text = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", _MARKS.sub("", text)).replace(_JOINER, "")


def name_prefix(name: str) -> str:
    """The first three letters of a name, which its misspellings and short forms share."""
    return fold(name)[:3]


_HUMP = lazy(r"(?<=[a-z0-9])[A-Z]")


def snake(name: str) -> str:
    """A name in camelCase as we write it: `asOf` is `as_of`."""
    return _HUMP.sub(lambda found: f"_{found[0]}", name).lower()


_CHINESE = lazy("[\u3400-\u9fff〇]")


def has_chinese(text: str) -> bool:
    """Whether a text contains Chinese characters."""
    return not text.isascii() and bool(_CHINESE.search(text))


# Scripts without spaces: Hangul, Han, Kana, Bopomofo; Thai, Lao, Burmese, Khmer.
UNSPACED = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
)

# `\w` does not match vowel signs, which are parts of words in the scripts of India, Tibet and others.
LETTER = r"\w\u0730-\u074a\u07a6-\u07b0\u0900-\u0963\u0966-\u0dff\u0f71-\u0f84\u0f90-\u0fbc"

# Pictures and symbols without the five skin tones.
EMOJI = r"\u231a-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
FLAG_LETTER = r"\U0001f1e6-\U0001f1ff"


# In the form that `words` gives: folded, with the tail of an apostrophe dropped (it's → it) or joined (don't → dont).
# `may` and `us` are left out on purpose: they are just as often a month and a country.
_LISTS = {
    "en": """
        a about above after again all also am an and any are arent as at be because been before being below
        between both but by can cant could couldnt did didnt do does doesnt doing done dont down during each
        else ever few for from further get gets getting give go got had hadnt has hasnt have havent having he
        her here hers herself him himself his how i if in into is isnt it its itself just let like me mine more
        most much must my myself no nor not now of off on once only onto or other ought our ours ourselves out
        over own please same shall shant she should shouldnt since so some such tell than that the their theirs
        them themselves then there these they this those though through thus to too under until up upon very
        was wasnt we were werent what whats whatever when where whether which while who whom whose why will
        with within without wont would wouldnt yes yet you your yours yourself yourselves""",
    "de": """
        aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den der des dich
        die dies diese dieser dir doch du durch ein eine einem einen einer er es etwas euch fur gegen habe haben
        hat hatte hatten hier ich ihm ihn ihnen ihr ihre im in ist ja jede jeder kann kein keine konnen mein
        meine mich mir mit nach nicht noch nun nur ob oder ohne sehr sein seine sich sie sind so soll uber um
        und uns unser unter vom von vor wann war waren warum was welche welcher wenn wer werden wie wir wird wo
        wurde zu zum zur""",
    "fr": """
        a ai as au aux avec avez c ce ces cet cette comme d dans de des du elle elles en est et ete etes etre eu
        fait il ils j je l la le les leur leurs lui m ma mais me meme mes moi mon n ne ni nos notre nous on ont
        ou par pas plus pour pourquoi qu quand que quel quelle qui quoi s sa sans se ses si son sont sur t ta te
        tes toi ton tu un une vos votre vous y""",
    "es": """
        a al algo ante antes como con cual cuando de del desde donde dos e el ella ellas ellos en entre era eran
        eres es esa ese eso esta estaba estan estar este esto estos estoy fue fueron ha habia han hasta hay la
        las le les lo los mas me mi mis mucho muy nada ni no nos nosotros o os otra otro para pero por porque
        que quien se ser si sin sobre son soy su sus tambien te tiene tu tus un una uno unos y ya yo""",
    "it": """
        a agli ai al alla alle anche avere ho ha hai hanno c che chi ci come con cosa cui d da dagli dai dal
        dalla de degli dei del della delle di dove e ed era erano essere gli i il in io l la le lei li lo loro
        lui ma mi mia mio ne negli nei nel nella no noi non nostro o per perche piu quale quando quando quella
        quello questa questo se sei si sia siamo sono sta su sua sul sulla suo ti tra tu tua tuo un una uno vi
        voi""",
    "pt": """
        a ao aos as ate com como da das de dela dele do dos e ela elas ele eles em entre era eram essa esse esta
        estao estava este estou eu foi foram ha isso isto ja la lhe mais mas me mesmo meu meus minha muito na
        nao nas nem no nos nossa nosso num numa o onde os ou para pela pelo por porque qual quando que quem se
        sem ser seu seus so sou sua suas tambem te tem tenho teu tu tua um uma voce voces""",
    "nl": """
        aan al alles als altijd ben bij daar dan dat de der deze die dit doch doen door dus een en er ge geen had
        heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon kunnen maar me meer men met
        mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen tot u
        uit uw van veel voor waar waarom want waren was wat werd wezen wie wij wil worden wordt zal ze zich zij
        zijn zo zonder zou""",
    "sv": """
        alla allt att av blev blir da de dem den denna deras dess det detta dig din dina du dar efter ej eller en
        er era ett fran for ha hade han hans har henne hennes hon honom hur har i icke inom inte jag kan kunde
        man med mellan men mig min mina mot mycket nagon nagot nar ni nu och om oss pa sa sig sin sina sitta
        skulle som till under upp ut utan vad var vara varfor vart vem vi vid vilken ar at over""",
    "da": """
        af alle alt anden at blev blive da de dem den denne der deres det dette dig din dog du efter eller en end
        er et for fordi fra ham han hans har havde have hende hendes her hos hun hvad hvem hver hvilken hvis hvor
        hvordan hvornar i ikke ind jeg jer kan kunne man mange med meget men mig min mod ned nar noget nogle nu
        og ogsa om op os over pa selv sig sin skal skulle som til ud under var ved vi vil ville vaere""",
    "no": """
        alle at av bare ble bli blir da de deg dem den denne der deres det dette din du eller en enn er et etter
        for fordi fra ha hadde han hans har henne hennes her hun hva hvem hver hvilken hvis hvor hvordan hvorfor
        i ikke inn jeg kan kunne man mange med meg mellom men mer min mot mye na nar noe noen og ogsa om opp oss
        over pa sa seg selv sin skal skulle som til ut uten var ved vi vil ville vaere a""",
    "fi": """
        ei eivat en et ette etta han hanen he heidan ja jo joka jos jotka kaikki kanssa keta kuin kuinka kuka kun
        me meidan mika mika miksi milloin mina minun minulla missa mita mutta myos ne niin nyt ole olemme olen
        olet oli olin olivat olla on onko ovat se sen silla sina sinun sita tai tama taman te teidan tuo vain vai
        voi""",
    "ru": """
        а без бы был была были было быть в вам вас весь во вот все все всех вы где да для до его ее ее если есть
        еще еще же за и из или им их к как какая какие какой когда кто ли либо мне может мой моя мы на над нам
        нас не него нее нет ни них но ну о об он она они оно от по под при с сам свой себе себя со так также
        такой там те тебе тебя то тогда того тоже только том ты у уже чего чей чем что чтобы эта эти это этот
        я""",
    "el": """
        αλλα αν απο αυτα αυτη αυτο αυτοσ για δε δεν εγω ειμαι ειναι εκει ενα ενασ εχει εχω η ηταν θα και κατα κι
        μασ με μετα μη μια μου να ο οι οπωσ οταν οτι ου ποιοσ που πωσ πριν προσ σασ σε στα στη στην στισ στο
        στον στουσ συ σου τα τη την τησ τι τισ το τον του τουσ των ωσ""",
    "ar": """
        ان انا انت او اي اذا الى ان التي الذي الذين ان اذا الى به بعد بين تلك ثم حتى حول ذلك سوف على عليه عن عند
        عندما غير في فيه فيها قبل قد كان كانت كل كما كيف لا لكن لم لماذا له لها ليس ما متى مع من منذ نحن هذا
        هذه هل هم هنا هناك هو هي و ولا وهو يا يكون""",
    "he": """
        אבל אז אחרי איך אין איפה אם אני אנחנו את אתה אתם גם הוא היא היה הם זאת זה זו יש כי כל כמו לא לו לי לך לפני
        מה מי מתי על עד עם של שלה שלו שלי""",
    "hi": """
        अपना अपने आप इस इसके उनके उस उसके एक एवं ऐसा ओर और कब कर करता करते करना करने कहाँ का कि किस की कुछ के कैसे
        को कोई कौन क्या क्यों गया जब जहाँ जो तक तब तो था थी थे दिया ने नहीं पर बहुत भी मैं में यह यहाँ या ये रहा रहे
        वह वहाँ वाले वे साथ से हम ही हुआ है हैं हो होता होने""",
    "cjk": """
        的 了 是 在 有 和 与 也 都 吗 呢 吧 啊 谁 我 你 他 她 它 什么 甚麼 怎么 怎样 怎麼 为什 為什 哪里 哪个 哪些
        多少 几个 是谁 我们 你们 他们 她们 这个 那个 这些 那些 です ます でし まし した する して てい いる ある から
        まで には では とは どこ だれ なに いつ どの どう""",
}

STOP_WORDS: Mapping[str, frozenset[str]] = {
    language: frozenset(listing.split()) for language, listing in _LISTS.items()
}


DEFAULT = "en"
NOT_LATIN = frozenset(("ar", "cjk", "el", "he", "hi", "ru", "th"))
"""Languages recognised by their script."""
_SAMPLE = 400
_LATIN: tuple[str, ...] = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi")
NOT_ENGLISH = NOT_LATIN | frozenset(_LATIN) - {DEFAULT}
"""Languages that are recognised, without English."""
_MARGIN = 0.5
"""How much a language must exceed English, because a short text may contain one foreign word."""

# First code point of each range of scripts, and the language that represents it; "" for none.
_RANGES = (
    (0x0000, ""), (0x0061, "latin"), (0x007B, ""), (0x00C0, "latin"), (0x02B0, ""), (0x0370, "el"), (0x0400, "ru"),
    (0x0530, ""), (0x0590, "he"), (0x0600, "ar"), (0x0780, ""), (0x0900, "hi"), (0x0980, ""), (0x0E00, "th"),
    (0x0E80, ""), (0x1100, "cjk"), (0x1200, ""), (0x1C80, "ru"), (0x1C90, ""), (0x1E00, "latin"), (0x1F00, "el"),
    (0x2000, ""), (0x3005, "cjk"), (0xA000, ""), (0xAC00, "cjk"), (0xD7B0, ""), (0x20000, "cjk"), (0x40000, ""),
)  # fmt: skip
_STARTS = [start for start, _ in _RANGES]
_first = itemgetter(0)


def language(words: Sequence[str]) -> str:
    """The language of a text from its words, as a code such as `en`; `cjk` for Chinese, Japanese and Korean."""
    used = set(map(_script, set(map(_first, islice(words, _SAMPLE))))) - {""}
    if not used:
        return DEFAULT
    script = used.pop() if len(used) == 1 else _most_used_script(words)
    return _latin_language(islice(words, _SAMPLE)) if script == "latin" else script


def _most_used_script(words: Iterable[str]) -> str:
    scripts = Counter[str]()
    for letter, count in Counter(map(_first, islice(words, _SAMPLE))).items():
        scripts[_script(letter)] += count
    del scripts[""]
    return max(scripts, key=lambda name: (scripts[name], name))


@lru_cache(maxsize=1024)
def _script(letter: str) -> str:
    return _RANGES[bisect_right(_STARTS, ord(letter)) - 1][1]


def _latin_language(words: Iterable[str]) -> str:
    scores = dict.fromkeys(_LATIN, 0.0)
    for speakers in filter(None, map(_speakers().get, words)):
        share = 1 / len(speakers)
        for name in speakers:
            scores[name] += share
    best = max(_LATIN, key=lambda name: scores[name])
    return best if scores[best] > scores[DEFAULT] + _MARGIN else DEFAULT


@cache
def _speakers() -> dict[str, tuple[str, ...]]:
    """The languages in which a word is a stop word; the fewer they are, the more it tells about the language."""
    everyone = {word for name in _LATIN for word in STOP_WORDS[name]}
    return {word: tuple(name for name in _LATIN if word in STOP_WORDS[name]) for word in everyone}


_ALGORITHMS = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian", "pt": "portuguese",
    "nl": "dutch", "sv": "swedish", "da": "danish", "no": "norwegian", "fi": "finnish", "ru": "russian",
    "el": "greek", "ar": "arabic", "hi": "hindi",
}  # fmt: skip


class _Snowball(Protocol):
    def stemWords(self, words: Sequence[str], /) -> list[str]: ...  # noqa: N802


@cache
def _snowball() -> Callable[[str, int], _Snowball]:
    import Stemmer

    return cast("Callable[[str, int], _Snowball]", Stemmer.Stemmer)


@lru_cache(maxsize=8192)
def stem(word: str, language: str) -> str:
    """The stem of a word; the word itself if its language has no stemmer."""
    return stem_all([word], language)[0]


def stem_all(words: Sequence[str], language: str) -> list[str]:
    """The stems of words of one language, in order."""
    algorithm = _ALGORITHMS.get(language)
    if algorithm is None:
        return list(words)
    # A stemmer is not thread-safe, and takes a microsecond to create.
    return _snowball()(algorithm, 0).stemWords(words)


LONGEST = 64
"""Longer runs of letters are cut into pieces of this length, in texts and in queries."""

_UNSPACED_RUN = lazy(f"([{UNSPACED}]+)")
_JOINT = r"(?:[-.@/:'&]|(?<=\d),(?=\d{3}(?!\d)))"
_RUN = f"[{LETTER}]+"
_JOINED_RUNS = lazy(rf"{_RUN}(?:{_JOINT}{_RUN})*(?:\+\+|\#(?!\w))?|[{FLAG_LETTER}]{{2}}|[{EMOJI}]")

_ACRONYM = lazy(r"[^\W\d_](?:\.[^\W\d_]){1,15}")
_HYPHENATED = lazy(r"[^\W\d_]+(?:[-/][^\W\d_]+)+")
_BETWEEN_PARTS = lazy(r"[-_.@/:&+#]+")
_DROPPED_TAILS = frozenset(("s", "ll", "re", "ve", "m", "d"))


def is_one_word(text: str) -> bool:
    """Whether a text is one word of a script that writes spaces, such as a name or the number of a ticket."""
    return len(text.split()) == 1 and _UNSPACED_RUN.search(text) is None


def words(text: str) -> list[str]:
    """The words of a text in order: folded, with apostrophes resolved; unspaced scripts as overlapping pairs.

    An identifier such as `user_id`, `v1.2.3` or `foo@bar.com` gives its parts and then itself.
    """
    if text.isascii():
        return _spaced_words(text.lower())
    found: list[str] = []
    spaced = True
    for stretch in _UNSPACED_RUN.split(fold(text)):
        found.extend(_spaced_words(stretch) if spaced else _pairs(stretch))
        spaced = not spaced
    return found


def analyse(*texts: str) -> str:
    """The text that a store indexes: the language, then the words of all texts, separated by spaces."""
    found = [word for text in texts for word in words(text)]
    return " ".join((language(found), *found))


def query_words(text: str) -> list[str]:
    """The distinct words of a query, without the stop words of its language unless nothing else is left."""
    found = list(dict.fromkeys(words(text)))
    common = STOP_WORDS.get(language(found), frozenset())
    return [word for word in found if word not in common] or found


def _pairs(run: str) -> list[str]:
    return [run[start : start + 2] for start in range(max(1, len(run) - 1))]


def _spaced_words(text: str) -> list[str]:
    runs: list[str] = _JOINED_RUNS.findall(text)
    if all(map(str.isalnum, runs)) and max(map(len, runs), default=0) <= LONGEST:
        return runs
    found: list[str] = []
    for run in runs:
        if (run.isalnum() and len(run) <= LONGEST) or (len(run) == 1 and run != "_"):
            found.append(run)
        else:
            found.extend(_resolved_again(run) if len(run) <= LONGEST else _resolved(run))
    return found


@lru_cache(maxsize=4096)
def _resolved_again(run: str) -> tuple[str, ...]:
    """The words of a short run; `don't` and `it's` come again and again."""
    return tuple(_resolved(run))


def _resolved(run: str) -> list[str]:
    if _ACRONYM.fullmatch(run):
        return [run.replace(".", "")]
    run = run.replace(",", "").strip("_")
    parts = [part for part in _BETWEEN_PARTS.split(run) if part]
    if "'" in run:
        return _cut([piece for part in parts for piece in _without_apostrophes(part)])
    if not parts or parts == [run] or len(run) > LONGEST or _HYPHENATED.fullmatch(run):
        return _cut(parts)
    return [*parts, run]


def _without_apostrophes(part: str) -> list[str]:
    """Resolve apostrophes: don't → dont, Alice's → alice, l'homme → l homme."""
    stem, *tails = part.split("'")
    pieces = [stem]
    for tail in tails:
        if tail == "t" and len(pieces[-1]) < LONGEST:
            pieces[-1] += tail
        elif tail not in _DROPPED_TAILS:
            pieces.append(tail)
    return [piece for piece in pieces if piece]


def _cut(parts: list[str]) -> list[str]:
    if all(len(part) <= LONGEST for part in parts):
        return parts
    return [part[start : start + LONGEST] for part in parts for start in range(0, len(part), LONGEST)]


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Number = TypeVar("Number", float, NDArray[np.float64])

K1 = 1.2
"""How fast the weight of a word saturates with its frequency."""
B = 0.75
"""How much long texts are penalised; 0 for not at all."""


def idf(documents: int, containing: int) -> float:
    """The inverse document frequency of a word that occurs in n of N documents: ln(1 + (N − n + ½)/(n + ½))."""
    return math.log1p((documents - containing + 0.5) / (containing + 0.5))


def length_norm(length: Number, mean_length: float) -> Number:
    """The length normalisation of BM25: k₁·(1 − b + b·length/mean)."""
    return K1 * (1 - B + B * length / mean_length)


def weight(frequency: Number, norm: Number) -> Number:
    """The weight of a word that occurs f times, before idf: f·(k₁ + 1)/(f + norm)."""
    return frequency * (K1 + 1) / (frequency + norm)
