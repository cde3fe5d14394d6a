"""Held-out retrieval: how well a model finds what a query asks for, by kind of query and by view of the memory."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import render
import torch
import wording
from corpus import CHATS, Question, Source
from encoder import PairScorer, SentenceEncoder
from mining import embed
from numpy.typing import NDArray
from render import Turn
from tokenizers import Tokenizer
from tokens import QUERY_TOKENS, Ragged, joined, run_rows, singles, tokenise
from torch import Tensor

VIEWS = ("alone", "before", "both")
LARGER = "larger of alone and "
MOST_QUERIES = 500
RESAMPLES = 2000
CANDIDATES = 30
EVEN = 0.3  # weight of the embedder's z-score beside the reranker's


@dataclass(frozen=True, slots=True)
class HeldOut:
    """One search task: texts in their views, queries and what they should find. Groups are searched apart or not."""

    name: str
    family: str
    texts: Mapping[str, list[str]]
    queries: list[str]
    wanted: list[frozenset[int]]
    among: list[range]


@dataclass(frozen=True, slots=True)
class Outcome:
    """For each query of a task: share of the wanted texts among the first ten, and 1 / rank of the first of them."""

    recall: NDArray[np.float64]
    rank: NDArray[np.float64]


Outcomes = dict[tuple[str, str], Outcome]
"""By task and view."""


def tasks(held: Sequence[Source]) -> list[HeldOut]:
    """The tasks of the held-out sources, the same in every run."""
    found: list[HeldOut] = []
    for source in held:
        draw = random.Random(source.name)
        names = draw.sample(render.NAMES, 2)
        texts = _views(source, names, draw)
        for form, questions in _forms(source).items():
            chosen = questions if len(questions) <= MOST_QUERIES else draw.sample(questions, MOST_QUERIES)
            if chosen:
                found.append(_task(source, form, chosen, texts, names))
    return found


def _task(
    source: Source, form: str, questions: Sequence[Question], texts: Mapping[str, list[str]], names: Sequence[str]
) -> HeldOut:
    chat = source.name in CHATS
    family = form if form in ("turn", "cloze") else "chat" if chat and form == "question" else "chat, other words"
    if not chat:
        family = "general" if form == "question" else "general, other words"
    shown = texts if form != "turn" and chat else {"alone": texts["alone"]}
    queries = [
        wording.named(question.text, _voice(source, question.positives[0], names) or names[0]) for question in questions
    ]
    among = [_pool(source, question) for question in questions]
    return HeldOut(
        f"{source.name}, {form}",
        family,
        shown,
        queries,
        [frozenset(question.positives) for question in questions],
        among,
    )


def _pool(source: Source, question: Question) -> range:
    """Meetings are searched one at a time: their questions do not say which they mean."""
    if source.name != "qmsum":
        return range(len(source.units))
    group = source.groups[question.positives[0]]
    first = source.groups.index(group)
    return range(first, first + source.groups.count(group))


def _forms(source: Source) -> dict[str, list[Question]]:
    asked = [question for question in source.questions if question.form == "question"]
    forms = {
        form: [question for question in source.questions if question.form == form]
        for form in ("question", "turn", "cloze")
    }
    if source.name in ("nfc", "nq"):
        return forms
    other = {
        "claim": [
            wording.claim(question.text, question.answers[0]) if question.answers else None for question in asked
        ],
        "keywords": [wording.keywords(question.text) for question in asked],
        "request": [wording.request(question.text, place) for place, question in enumerate(asked)],
    }
    for form, texts in other.items():
        forms[form] = [replace(question, text=text) for question, text in zip(asked, texts, strict=True) if text]
    return forms


def _views(source: Source, names: Sequence[str], draw: random.Random) -> dict[str, list[str]]:
    chat = source.name in CHATS
    form = draw.choice(render.DATE_FORMATS)
    dates = {group: render.some_date(draw, form) for group in dict.fromkeys(source.groups)} if chat else {}
    views: dict[str, list[str]] = {view: [] for view in (VIEWS if chat else VIEWS[:1])}
    for unit, group in enumerate(source.groups):
        earlier, own, later = (_turn(source, unit, step, names) for step in (-1, 0, 1))
        assert own is not None
        for view, texts in views.items():
            before = earlier if view != "alone" else None
            after = later if view == "both" else None
            texts.append(render.memory(own, dates.get(group), before, after))
    return views


def _turn(source: Source, unit: int, step: int, names: Sequence[str]) -> Turn | None:
    other = source.neighbour(unit, step) if step else unit
    return None if other is None else Turn(source.units[other], _voice(source, other, names))


def _voice(source: Source, unit: int, names: Sequence[str]) -> str | None:
    if source.kind == "dialog":
        return source.speakers[unit] or "Note"
    return names[source.groups[unit] % 2] if source.name in CHATS else None


def first_queries(task: HeldOut, most: int) -> HeldOut:
    """The same task with fewer queries."""
    return replace(task, queries=task.queries[:most], wanted=task.wanted[:most], among=task.among[:most])


def search(model: SentenceEncoder, held: Sequence[HeldOut], tokenizer: Tokenizer, device: torch.device) -> Outcomes:
    """Every task in every view, and with the larger cosine of two views."""
    found: Outcomes = {}
    for task, cosines in similarities(model, held, tokenizer, device):
        for view, scores in cosines.items():
            found[task.name, view] = outcome(scores, task)
    return found


def similarities(
    model: SentenceEncoder, held: Sequence[HeldOut], tokenizer: Tokenizer, device: torch.device
) -> Iterator[tuple[HeldOut, dict[str, Tensor]]]:
    """Each task with its cosines by view, a row a query; −2 outside of what a query searches."""
    known: dict[int, Tensor] = {}
    for task in held:
        queries = embed(model, singles(_tokens(tokenizer, task.queries), QUERY_TOKENS), device)
        outside = _outside(task, device)
        cosines: dict[str, Tensor] = {}
        for view, texts in task.texts.items():
            if id(texts) not in known:
                known[id(texts)] = embed(model, singles(_tokens(tokenizer, texts), 256), device)
            cosines[view] = (queries @ known[id(texts)].T).masked_fill(outside, -2.0)
        for view in list(cosines)[1:]:
            cosines[LARGER + view] = torch.maximum(cosines["alone"], cosines[view])
        yield task, cosines


_known_tokens: dict[int, tuple[list[str], list[list[int]]]] = {}


def _tokens(tokenizer: Tokenizer, texts: list[str]) -> list[list[int]]:
    """Every model reads the same texts, so they are tokenised once; the texts stay, so that their id does."""
    if id(texts) not in _known_tokens:
        _known_tokens[id(texts)] = texts, tokenise(tokenizer, texts)
    return _known_tokens[id(texts)][1]


def _outside(task: HeldOut, device: torch.device) -> Tensor:
    places = torch.arange(len(task.texts["alone"]), device=device)[None]
    starts = torch.tensor([among.start for among in task.among], device=device)[:, None]
    stops = torch.tensor([among.stop for among in task.among], device=device)[:, None]
    return (places < starts) | (places >= stops)


def outcome(scores: Tensor, task: HeldOut) -> Outcome:
    """A unit's place is the number of units with a higher score."""
    most = max(map(len, task.wanted))
    wanted = [sorted(units) for units in task.wanted]
    padded = torch.tensor([units + [units[0]] * (most - len(units)) for units in wanted], device=scores.device)
    own = scores.gather(1, padded)
    places = torch.stack([(scores > own[:, number : number + 1]).sum(1) for number in range(most)], dim=1).cpu().numpy()
    counts = np.array([len(units) for units in wanted])
    real = np.arange(most)[None] < counts[:, None]
    return Outcome(((places < 10) & real).sum(axis=1) / counts, 1.0 / (places.min(axis=1) + 1))


def rerank(
    scorer: PairScorer,
    model: SentenceEncoder,
    held: Sequence[HeldOut],
    tokenizer: Tokenizer,
    device: torch.device,
    reads: str = "before",
    weights: Sequence[float] = (0.0, EVEN, 1.0),
) -> dict[float, Outcomes]:
    """The first thirty by the larger cosine, ordered anew by z(reranker) + weight · z(cosine)."""
    found: dict[float, Outcomes] = {weight: {} for weight in weights}
    for task, cosines in similarities(model, held, tokenizer, device):
        first = cosines.get(LARGER + "before", cosines["alone"])
        texts = _tokens(tokenizer, task.texts.get(reads, task.texts["alone"]))
        queries = _tokens(tokenizer, task.queries)
        best = first.topk(min(CANDIDATES, first.shape[1])).indices
        places = best.cpu().tolist()
        pairs = joined(
            [queries[place] for place, units in enumerate(places) for _ in units],
            [texts[unit] for units in places for unit in units],
        )
        scores = _scores(scorer, pairs, device).view(best.shape)
        for weight in weights:
            order = _standard(scores) + weight * _standard(first.gather(1, best))
            # What was not read stays behind, in its order.
            found[weight][task.name, "reranked"] = outcome((first - 100).scatter(1, best, order), task)
    return found


def _scores(scorer: PairScorer, pairs: Ragged, device: torch.device) -> Tensor:
    scorer.eval()
    tokens = 400_000 if device.type == "cuda" else 8_000
    with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        return run_rows(lambda *inputs: scorer(*inputs)[:, 0].float(), pairs, device, tokens=tokens)


def _standard(values: Tensor) -> Tensor:
    return (values - values.mean(1, keepdim=True)) / (values.std(1, keepdim=True) + 1e-9)


def by_family(
    outcomes: Outcomes, held: Sequence[HeldOut], view: str = "alone", measure: str = "recall"
) -> dict[str, float]:
    """Mean recall@10 or reciprocal rank of each family, in per cent; tasks without that view count alone."""
    families: dict[str, list[float]] = {}
    for task in held:
        families.setdefault(task.family, []).append(100 * getattr(_seen(outcomes, task, view), measure).mean())
    return {family: float(np.mean(values)) for family, values in families.items()}


def _seen(outcomes: Outcomes, task: HeldOut, view: str) -> Outcome:
    return outcomes[task.name, view] if (task.name, view) in outcomes else outcomes[task.name, "alone"]


def overall(outcomes: Outcomes, held: Sequence[HeldOut], view: str = "alone") -> float:
    """The mean over the families: what models are chosen by."""
    return float(np.mean(list(by_family(outcomes, held, view).values())))


def bootstrap(
    left: Outcomes, right: Outcomes, held: Sequence[HeldOut], views: tuple[str, str] = ("alone", "alone")
) -> dict[str, tuple[float, float, float]]:
    """Right minus left, recall@10 in points, with its 95 % interval, by family and over all.

    Paired: queries are drawn with replacement within each task, the same for both.
    """
    draw = np.random.default_rng(7)
    samples: dict[str, list[NDArray[np.float64]]] = {}
    for task in held:
        change = 100 * (_seen(right, task, views[1]).recall - _seen(left, task, views[0]).recall)
        places = draw.integers(0, len(change), (RESAMPLES, len(change)))
        samples.setdefault(task.family, []).append(np.concatenate(([change.mean()], change[places].mean(axis=1))))
    families = {family: np.mean(values, axis=0) for family, values in samples.items()}
    families["all"] = np.mean(list(families.values()), axis=0)
    return {family: (values[0], *np.percentile(values[1:], (2.5, 97.5))) for family, values in families.items()}
