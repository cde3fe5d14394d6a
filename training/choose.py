"""How good the trained models are on held-out data: embedders at several shares of their training, and rerankers."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

import soup
import validation
from encoder import SentenceEncoder
from recipe import WORDS_OF, Workshop, load_weights
from validation import LARGER, HeldOut, Outcomes

VIEW = LARGER + "before"
READS = "before"
WEIGHTS = (0.0, 0.3, 1.0)
RERANKED_QUERIES = 150  # of each task


def choose(shop: Workshop) -> None:
    """Measure every mixture of the two embedders and both rerankers after the small one; write the figures."""
    rows: dict[str, object] = {}
    best: dict[str, SentenceEncoder] = {}
    for name in ("embedder", "finder"):
        start = shop.embedder(name)
        trained = copy.deepcopy(start)
        load_weights(trained, shop.made / f"{name}.safetensors")
        before = shop.search(start)
        for alpha in soup.ALPHAS:
            found = shop.search(soup.between(start, trained, alpha))
            rows[f"{name}, α {alpha}"] = row = _row(shop, before, found)
            shop.say(f"{name}, α {alpha}: {row['overall']:.2f}; {_shown(row['recall'])}")
        best[name] = trained
    rows |= _rerankers(shop, best["embedder"])
    (shop.made / "choice.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")


def _rerankers(shop: Workshop, model: SentenceEncoder) -> dict[str, object]:
    held = [validation.first_queries(task, RERANKED_QUERIES) for task in shop.held]
    before = validation.search(model, held, shop.tokenizer, shop.device)
    rows: dict[str, object] = {"no reranker": _ranked(held, before, before, VIEW)}
    for name in WORDS_OF:
        start = shop.reranker(name)
        load_weights(start, shop.made / f"{name}.safetensors")
        scorer = start.to(shop.device).eval()
        found = validation.rerank(scorer, model, held, shop.tokenizer, shop.device, READS, WEIGHTS)
        for weight, outcomes in found.items():
            rows[f"{name}, weight {weight}"] = row = _ranked(held, before, outcomes, "reranked")
            shop.say(f"{name}, weight {weight}: {_shown(row['recall'])}; MRR {_shown(row['rank'])}")
    return rows


def _row(shop: Workshop, before: Outcomes, found: Outcomes) -> dict[str, Any]:
    return {
        "overall": validation.overall(found, shop.held, VIEW),
        "recall": validation.by_family(found, shop.held, VIEW),
        "rank": validation.by_family(found, shop.held, VIEW, measure="rank"),
        "change": validation.bootstrap(before, found, shop.held, (VIEW, VIEW)),
    }


def _ranked(held: Sequence[HeldOut], before: Outcomes, found: Outcomes, view: str) -> dict[str, Any]:
    return {
        "recall": validation.by_family(found, held, view),
        "rank": validation.by_family(found, held, view, measure="rank"),
        "change": validation.bootstrap(before, found, held, (VIEW, view)),
    }


def _shown(families: dict[str, float]) -> str:
    return ", ".join(f"{family} {value:.1f}" for family, value in families.items())
