"""The notation of grammar rules: words, `a|b`, `[optional]` and `<category>`."""

import re
from dataclasses import dataclass
from itertools import product

from memorist.text.dates.tokens import keys_of

WORD = -1
"""The slot of an item that is a word; a category's slot is its place among the rule's arguments."""
_CATEGORY = re.compile("<[a-z_]+>")
_PIECE = re.compile(r"\[|\]|<[a-z_]+>|[^\s\[\]]+")

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
