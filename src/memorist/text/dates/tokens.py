"""Tokens, and phrases that rules are written in."""

from dataclasses import dataclass
from itertools import product

from memorist.text.patterns import lazy

CJK = "\u3400-\u9fff〇"
DIGITS = "0-9０-９"
_TOKEN = lazy(rf"\n\s*\n|[{DIGITS}]+|[{CJK}]|[^\W\d_{CJK}]+|[^\w\s]|[\w]")
_DIGIT = lazy(f"[{DIGITS}]")
_WRITTEN = "’‘ʼ`–—‑−－～〜，、。．：／（）後禮週個號點時這兩間從節農曆鐘內當過來開紀剛進現舊聖誕國慶龍歲陽勞動婦兒師親"
_MEANT = "''''-----~~,,..:/()后礼周个号点时这两间从节农历钟内当过来开纪刚进现旧圣诞国庆龙岁阳劳动妇儿师亲"
VARIANTS = dict(zip(_WRITTEN, _MEANT, strict=True))
"""Signs and traditional characters read as others: typographic quotes and dashes, 後 as 后."""
_BEYOND = [""] * 4


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text and its tokens: `keys` as rules see them, with where each begins and stops.

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
        """Whether nothing stands between a token and the one before it."""
        return 0 < place < len(self.begins) and self.begins[place] == self.stops[place - 1]

    def place_after(self, place: int, offset: int) -> int | None:
        """The place that follows an offset, looked for from `place` on; None inside a token."""
        while place < len(self.stops) and self.stops[place] < offset:
            place += 1
        return place + 1 if place < len(self.stops) and self.stops[place] == offset else None


def tokenise(text: str) -> Tokens:
    """Cut a text into tokens."""
    keys: list[str] = []
    begins: list[int] = []
    stops: list[int] = []
    for found in _TOKEN.finditer(text):
        begin, stop = found.span()
        keys.append(_key(found[0]))
        begins.append(begin)
        stops.append(stop)
    return Tokens(text, keys + _BEYOND, begins, stops)


def keys_of(phrase: str) -> list[str]:
    """The keys of a phrase's tokens."""
    return [_key(found) for found in _TOKEN.findall(phrase)]


def _key(token: str) -> str:
    """Digits become `#` and how many there are: rules go by the shape of a number."""
    if _DIGIT.match(token):
        return f"#{min(len(token), 9)}"
    return VARIANTS.get(token) or token.lower()


WORD = -1
"""The slot of an item that is a word; a category's slot is its place among the rule's arguments."""
_CATEGORY = lazy("<[a-z_]+>")
_PIECE = lazy(r"\[|\]|<[a-z_]+>|[^\s\[\]]+")

Item = tuple[str, int]
_Words = list[list[str]]


@dataclass(frozen=True, slots=True)
class _Optional:
    tree: "list[_Words | Item | _Optional]"


_Tree = list[_Words | Item | _Optional]


def variants(phrase: str) -> tuple[int, list[list[Item]]]:
    """How many categories a phrase names, and all ways to say it without optional parts."""
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
            stack[-1].append([keys_of(word) for word in piece.split("|")])
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
