"""Hard negatives: what the present model takes for an answer and is none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from corpus import Question, Source
from encoder import SentenceEncoder
from lists import Pools, plain
from read_lists import wordings
from tokenizers import Tokenizer
from tokens import QUERY_TOKENS, Ragged, run_rows, singles, tokenise
from torch import Tensor
from worlds import World

DENSE, NEAREST, SAME_GROUP = 30, 40, 20
IN_WORLD = 12
TOKENS_PER_BATCH = 400_000
QUERIES_PER_BATCH = 2048


def embed(model: SentenceEncoder, rows: Ragged, device: torch.device) -> Tensor:
    """Unit vectors of all rows."""
    model.eval()
    tokens = TOKENS_PER_BATCH if device.type == "cuda" else 8_000
    with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        return run_rows(lambda *inputs: model(*inputs)[0].float(), rows, device, tokens=tokens)


def mine(
    model: SentenceEncoder, sources: Sequence[Source], tokenizer: Tokenizer, device: torch.device
) -> list[list[Pools]]:
    """For each question of each source the candidates for negatives."""
    return [_mine_source(model, source, tokenizer, device) for source in sources]


def found_in_worlds(
    model: SentenceEncoder, worlds: Sequence[World], tokenizer: Tokenizer, device: torch.device
) -> list[list[list[int]]]:
    """For each world and each wording of its questions the memories nearest to it, best first."""
    asked = [[text for _, text in wordings(world)] for world in worlds]
    told = [[str(memory.turn) for memory in world.memories] for world in worlds]
    queries = embed(
        model, singles(tokenise(tokenizer, [text for some in asked for text in some]), QUERY_TOKENS), device
    )
    units = embed(model, singles(tokenise(tokenizer, [text for some in told for text in some])), device)
    pairs = zip(
        queries.split([len(texts) for texts in asked]), units.split([len(texts) for texts in told]), strict=True
    )
    return [(some @ own.T).topk(min(IN_WORLD, len(own))).indices.cpu().tolist() for some, own in pairs]


def _mine_source(model: SentenceEncoder, source: Source, tokenizer: Tokenizer, device: torch.device) -> list[Pools]:
    units = embed(model, singles(tokenise(tokenizer, source.units)), device)
    texts = [plain(question, source) for question in source.questions]
    queries = embed(model, singles(tokenise(tokenizer, texts), QUERY_TOKENS), device)
    return candidates(source, queries, units)


def candidates(source: Source, queries: Tensor, units: Tensor) -> list[Pools]:
    """The candidates for the questions of a source, by the vectors of both."""
    lowered, members = [unit.lower() for unit in source.units], _members(source)
    nearest = _nearest(queries, units)
    return [
        _pools(question, row, source, lowered, members) for question, row in zip(source.questions, nearest, strict=True)
    ]


def _nearest(queries: Tensor, units: Tensor) -> np.ndarray:
    count = min(NEAREST, len(units))
    parts = [
        (queries[start : start + QUERIES_PER_BATCH] @ units.T).topk(count).indices
        for start in range(0, len(queries), QUERIES_PER_BATCH)
    ]
    return torch.cat(parts).cpu().numpy()


def _members(source: Source) -> dict[int, list[int]]:
    members: dict[int, list[int]] = {}
    for unit, group in enumerate(source.groups):
        members.setdefault(group, []).append(unit)
    return members


def _pools(
    question: Question, nearest: np.ndarray, source: Source, lowered: Sequence[str], members: dict[int, list[int]]
) -> Pools:
    forbidden = {*question.positives, *question.related}
    answers = [answer for answer in question.answers if len(answer) >= 3]

    def is_wrong(unit: int) -> bool:
        return unit not in forbidden and not any(answer in lowered[unit] for answer in answers)

    first = question.positives[0]
    group = [unit for unit in members[source.groups[first]] if abs(unit - first) <= SAME_GROUP]
    dense = [unit for unit in map(int, nearest) if is_wrong(unit)]
    return (
        dense[:DENSE],
        [unit for unit in question.lexical if is_wrong(unit)],
        [unit for unit in group if is_wrong(unit)],
    )
