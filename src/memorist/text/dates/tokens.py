"""Tokens of texts, and the phrases in which rules are written."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from memorist.text.patterns import lazy

CJK = "\u3400-\u9fff〇"
DIGITS = "0-9０-９"
_TOKEN = lazy(rf"\n\s*\n|[{DIGITS}]+|[{CJK}]|[^\W\d_{CJK}]+|[^\w\s]|[\w]")
_DIGIT = lazy(f"[{DIGITS}]")
_WRITTEN = "’‘ʼ`–—‑−－～〜，、。．：／（）後禮週個號點時這兩間從節農曆鐘內當過來開紀剛進現舊聖誕國慶龍歲陽勞動婦兒師親"
_MEANT = "''''-----~~,,..:/()后礼周个号点时这两间从节农历钟内当过来开纪刚进现旧圣诞国庆龙岁阳劳动妇儿师亲"
VARIANTS = dict(zip(_WRITTEN, _MEANT, strict=True))
"""Characters read as others: typographic quotes and dashes, and traditional characters such as 後 for 后."""
_BEYOND = [""] * 4


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text and its tokens: their keys, which rules match, and their offsets.

    Empty keys follow the last token, as many as any rule looks beyond it or before the first.
    """

    text: str
    keys: list[str]
    begins: list[int]
    stops: list[int]

    def raw(self, place: int) -> str:
        """A token as written."""
        return self.text[self.begins[place] : self.stops[place]]

    def glued(self, place: int) -> bool:
        """Whether a token directly follows the one before it."""
        return 0 < place < len(self.begins) and self.begins[place] == self.stops[place - 1]

    def place_after(self, place: int, offset: int) -> int | None:
        """The first place after an offset, searched from `place` on; None inside a token."""
        while place < len(self.stops) and self.stops[place] < offset:
            place += 1
        return place + 1 if place < len(self.stops) and self.stops[place] == offset else None


def tokenise(text: str) -> Tokens:
    """Split a text into tokens."""
    keys: list[str] = []
    begins: list[int] = []
    stops: list[int] = []
    stop = 0
    for token in _TOKEN.findall(text):
        begin = text.index(token, stop)  # only white space lies between
        stop = begin + len(token)
        keys.append(_key(token))
        begins.append(begin)
        stops.append(stop)
    return Tokens(text, keys + _BEYOND, begins, stops)


def keys_of(phrase: str) -> list[str]:
    """The keys of the tokens of a phrase."""
    return [_key(found) for found in _TOKEN.findall(phrase)]


@lru_cache(maxsize=4096)
def _key(token: str) -> str:
    """The key of a token: `#` and the number of digits for a number, otherwise the word in lower case."""
    if _DIGIT.match(token):
        return f"#{min(len(token), 9)}"
    return VARIANTS.get(token) or token.lower()


WORD = -1
"""The slot of a word; the slot of a category is its index in the phrase."""
_CATEGORY = lazy("<[a-z_]+>")
_PIECE = lazy(r"\[|\]|<[a-z_]+>|[^\s\[\]]+")

Item = tuple[str, int]
_Words = list[list[str]]


@dataclass(frozen=True, slots=True)
class _Optional:
    tree: "list[_Words | Item | _Optional]"


_Tree = list[_Words | Item | _Optional]


def variants(phrase: str) -> tuple[int, list[list[Item]]]:
    """The number of categories in a phrase, and all its variants: `[…]` is optional, `|` separates words.

    An underscore joins several words to one: `before|prior_to`.
    """
    stack: list[_Tree] = [[]]
    arity = 0
    for piece in _PIECE.findall(phrase):
        if piece == "[":
            stack.append([])
        elif piece == "]":
            inner = stack.pop()
            stack[-1].append(_Optional(inner))
        elif _CATEGORY.fullmatch(piece):
            stack[-1].append((piece[1:-1], arity))
            arity += 1
        else:
            stack[-1].append([keys_of(word.replace("_", " ")) for word in piece.split("|")])
    return arity, _expanded(stack[0])


def _expanded(tree: _Tree) -> list[list[Item]]:
    choices: list[list[list[Item]]] = []
    for item in tree:
        if isinstance(item, _Optional):
            choices.append([*_expanded(item.tree), []])
        elif isinstance(item, tuple):
            choices.append([[item]])
        else:
            choices.append([[(key, WORD) for key in keys] for keys in item])
    return [[part for choice in combination for part in choice] for combination in product(*choices)]
