"""Which mixture of weights to ship, by held-out retrieval; and what the rerankers add to it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import base
import soup
import validation
from encoder import PairScorer, SentenceEncoder
from recipe import ALPHA, STUDENTS, Workshop, load_weights, save_weights
from validation import LARGER, HeldOut, Outcomes

VIEWS = ("alone", "before", "both", LARGER + "before", LARGER + "both")
CHOSEN_BY = LARGER + "before"
READS = ("alone", "before", "both")
WEIGHTS = (0.0, 0.3, 1.0)
RERANKED_QUERIES = 150  # of each task
MEAN = "mean"


def choose(shop: Workshop) -> None:
    """Measure every stage of every seed, the mean of them all, each α and each reranker; write figures and mean."""
    seeds = {
        f"{stage}-{seed}": _embedder(shop, f"{stage}-{seed}") for stage in ("first", "taught") for seed in shop.seeds
    }
    start = shop.embedder()
    mean = soup.mean(list(seeds.values()))
    save_weights(mean, shop.made / f"{MEAN}.safetensors")
    mixtures = {f"α {alpha}": soup.between(start, mean, alpha) for alpha in soup.ALPHAS}
    found = {name: shop.search(model) for name, model in {"base model": start, **seeds, **mixtures}.items()}
    rows = {name: _row(shop, one, found["base model"], found[f"α {soup.ALPHAS[-1]}"]) for name, one in found.items()}
    for name, row in rows.items():
        shop.say(f"{name}: {row['overall']:.2f}; {_shown(row['recall'][CHOSEN_BY])}")
    _write(shop, {"embedders": rows})
    ranked = _rerankers(shop, mixtures[f"α {ALPHA}"])
    _write(shop, {"embedders": rows, "rerankers": ranked})


def _write(shop: Workshop, figures: dict[str, object]) -> None:
    (shop.made / "choice.json").write_text(json.dumps(figures, indent=1), encoding="utf-8")


def _embedder(shop: Workshop, name: str) -> SentenceEncoder:
    model = shop.embedder()
    load_weights(model, shop.made / f"{name}.safetensors")
    return model.to(shop.device).eval()


def reranker(shop: Workshop, name: str) -> PairScorer:
    """A trained cross-encoder with the weights in `made`."""
    encoder = shop.base_encoder()
    model = PairScorer(base.picked(encoder, STUDENTS[name])) if name in STUDENTS else PairScorer(encoder, mean=True)
    load_weights(model, shop.made / f"{name}.safetensors")
    return model.to(shop.device).eval()


def _rerankers(shop: Workshop, model: SentenceEncoder) -> dict[str, object]:
    rows: dict[str, object] = {}
    held = [validation.first_queries(task, RERANKED_QUERIES) for task in shop.held]
    before = validation.search(model, held, shop.tokenizer, shop.device)
    rows["before"] = {"recall": validation.by_family(before, held, CHOSEN_BY), "rank": _ranks(held, before, CHOSEN_BY)}
    for name in ("teacher", *STUDENTS):
        if not (shop.made / f"{name}.safetensors").is_file():
            continue
        scorer = reranker(shop, name)
        for reads in READS if name in STUDENTS else READS[1:2]:
            found = validation.rerank(scorer, model, held, shop.tokenizer, shop.device, reads, WEIGHTS)
            for weight, outcomes in found.items():
                rows[f"{name}, reads {reads}, weight {weight}"] = row = {
                    "recall": validation.by_family(outcomes, held, "reranked"),
                    "rank": _ranks(held, outcomes, "reranked"),
                    "change": validation.bootstrap(before, outcomes, held, (CHOSEN_BY, "reranked")),
                }
                shop.say(f"{name}, {reads}, {weight}: {_shown(row['recall'])}; MRR {_shown(row['rank'])}")
    return rows


def _row(shop: Workshop, found: Outcomes, start: Outcomes, full: Outcomes) -> dict:
    return {
        "overall": validation.overall(found, shop.held, CHOSEN_BY),
        "recall": {view: validation.by_family(found, shop.held, view) for view in VIEWS},
        "rank": {view: _ranks(shop.held, found, view) for view in VIEWS},
        "change from base": validation.bootstrap(start, found, shop.held, (CHOSEN_BY, CHOSEN_BY)),
        "change from α 1": validation.bootstrap(full, found, shop.held, (CHOSEN_BY, CHOSEN_BY)),
    }


def _ranks(held: Sequence[HeldOut], outcomes: Outcomes, view: str) -> dict[str, float]:
    return validation.by_family(outcomes, held, view, measure="rank")


def _shown(families: dict[str, float]) -> str:
    return ", ".join(f"{family} {value:.1f}" for family, value in families.items())
