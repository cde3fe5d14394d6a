"""What the inputs of a model's products look like: texts of the training data, and the spans of their numbers."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager

import render
import torch
from corpus import Question, Source
from everyday import EverydayMaker
from list_reader import Batch, ListScorer, batch
from quantise import Span
from read_lists import ChainLists, WorldLists, wordings
from tokenizers import Encoding, Tokenizer
from torch import Tensor, nn
from worlds import WorldMaker

TEXTS = 400
SEED = 11
LISTS, IN_WORLD = 160, 10  # lists of worlds, and memories beside their answers
EVERYDAY_TEXTS = 4  # of each list
DATED, WITH_BEFORE, ANSWERING = 0.7, 0.5, 0.4  # shares of the sample

Row = tuple[list[int], list[int]]


def spans(model: nn.Module, rows: Iterable[Row]) -> dict[str, Span]:
    """The span of the input of every linear layer, by the layer's name, while the model reads these ids and types."""
    with torch.inference_mode(), _watched(model) as seen:
        for ids, types in rows:
            tokens = torch.tensor([ids])
            model(tokens, torch.ones_like(tokens), torch.tensor([types]))
    return seen


def spans_of_lists(model: ListScorer, lists: Iterable[Batch]) -> dict[str, Span]:
    """The same for a list reader."""
    with torch.inference_mode(), _watched(model) as seen:
        for tensors in lists:
            model(*tensors.inputs)
    return seen


@contextmanager
def _watched(model: nn.Module) -> Generator[dict[str, Span]]:
    seen: dict[str, Span] = {}

    def watch(name: str):
        def look(_module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            values = inputs[0].detach().reshape(-1, inputs[0].shape[-1]).float().cpu().numpy()
            span = Span(values.min(axis=0), values.max(axis=0))
            seen[name] = span.merged(seen[name]) if name in seen else span

        return look

    hooks = [
        layer.register_forward_pre_hook(watch(name))
        for name, layer in model.named_modules()
        if isinstance(layer, nn.Linear)
    ]
    yield seen
    for hook in hooks:
        hook.remove()


def sample_texts(sources: Sequence[Source], tokenizer: Tokenizer) -> list[Row]:
    """Memories as the embedder reads them, some with the turn before, and questions."""

    def encode(draw: random.Random, source: Source, question: Question) -> Iterable[Encoding]:
        yield tokenizer.encode(some_memory(draw, source, draw.randrange(len(source.units))))
        yield tokenizer.encode(question.text)

    return _sampled(sources, encode)


def sample_pairs(sources: Sequence[Source], tokenizer: Tokenizer) -> list[Row]:
    """Questions with memories, some of which answer them."""

    def encode(draw: random.Random, source: Source, question: Question) -> Iterable[Encoding]:
        answers = draw.random() < ANSWERING
        unit = draw.choice(question.positives) if answers else draw.randrange(len(source.units))
        yield tokenizer.encode(question.text, some_memory(draw, source, unit))

    return _sampled(sources, encode)


def everyday_pairs(tokenizer: Tokenizer) -> list[Row]:
    """Questions of our own lists with their texts."""
    draw, maker = random.Random(SEED), EverydayMaker()
    lists = [maker.make(draw) for _ in range(TEXTS // EVERYDAY_TEXTS)]
    pairs = [tokenizer.encode(values.query, text) for values in lists for text in values.texts[:EVERYDAY_TEXTS]]
    return [(pair.ids, pair.type_ids) for pair in pairs]


def sample_lists(tokenizer: Tokenizer) -> list[Batch]:
    """Lists of worlds, with memories by chance beside the answers, and chains; each alone, without padding."""
    draw = random.Random(SEED)
    known = [world for world in WorldMaker().worlds if not world.held]
    beside = [[draw.sample(range(len(world.memories)), IN_WORLD) for _ in wordings(world)] for world in known]
    worlds, chains = WorldLists(known, beside), ChainLists()
    made = [worlds.make(draw.randrange(len(worlds.asked)), draw) for _ in range(LISTS)]
    return [
        batch([read_list], tokenizer, multiple=1)
        for read_list in (*made, *(chains.make(draw) for _ in range(LISTS // 4)))
    ]


def _sampled(
    sources: Sequence[Source], encode: Callable[[random.Random, Source, Question], Iterable[Encoding]]
) -> list[Row]:
    draw = random.Random(SEED)
    rows: list[Row] = []
    while len(rows) < TEXTS:
        source = draw.choice(sources)
        rows += [(encoding.ids, encoding.type_ids) for encoding in encode(draw, source, draw.choice(source.questions))]
    return rows


def some_memory(draw: random.Random, source: Source, unit: int) -> str:
    """A text as the model meets it: some with a date, some after the turn before."""
    other = source.neighbour(unit, -1) if draw.random() < WITH_BEFORE else None
    before = None if other is None else render.Turn(source.units[other], source.speakers[other])
    said = render.some_date(draw, draw.choice(render.DATE_FORMATS)) if draw.random() < DATED else None
    return render.memory(render.Turn(source.units[unit], source.speakers[unit]), said, before)
