"""What each part of the recipe is worth: one short run without it, compared query by query."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path

import validation
from corpus import CHATS
from feed import SHARES, Plan
from fit import Settings, fit_embedder
from lists import Dress, without_context
from recipe import NEGATIVES, Workshop
from validation import LARGER

SHOWN_VIEWS = ("alone", "before", "both", LARGER + "before", LARGER + "both")
GENERAL = ("wiki", "wiki_p", "squad", "nqg", "nq", "covid", "policy", "policy2", "timeqa", "pubmed", "nfc")
MARK = 1519  # "‖" in BERT's vocabulary


@dataclass(frozen=True, slots=True)
class Variant:
    """A run of one epoch that differs from the first in one thing."""

    name: str
    plan: Plan
    settings: Settings
    context_mark: int | None = None


def variants(plan: Plan, settings: Settings) -> list[Variant]:
    """The recipe first, then each change to it."""

    def dressed(name: str, dress: Dress) -> Variant:
        return Variant(name, replace(plan, dress=dress), settings)

    def fed(name: str, *without: str) -> Variant:
        return Variant(name, replace(plan, shares={**SHARES, **dict.fromkeys(without, 0.0)}), settings)

    dress = plan.dress
    return [
        Variant("recipe", plan, settings),
        Variant("recipe, another seed", plan, replace(settings, seed=2)),
        Variant("averaging the turn's tokens only", plan, settings, MARK),
        dressed("no context", without_context(dress)),
        dressed("no turn after", replace(dress, before=dress.before + dress.both, after=0.0, both=0.0)),
        dressed("questions in no other words", replace(dress, claim=0.0, keywords=0.0, request=0.0)),
        dressed("no negatives from the same group", replace(dress, near=0)),
        dressed("no long turns", replace(dress, long=0.0)),
        dressed("no made-up turns before", replace(dress, asked=0.0, stray=0.0)),
        fed("no passages", *GENERAL, "cloze"),
        fed("no chats", *CHATS),
        fed("no cloze", "cloze"),
        Variant("no turns as queries", replace(plan, turns=0), settings),
        Variant("no hard negatives", replace(plan, negatives=0), replace(settings, negatives=0)),
        Variant("seven hard negatives", replace(plan, negatives=7), replace(settings, negatives=7)),
        Variant("scale 30", plan, replace(settings, scale=30.0)),
        Variant("rate doubled", plan, replace(settings, rate=2 * settings.rate)),
    ]


def ablate(shop: Workshop, out: Path, most: int | None = None) -> None:
    """Run the variants and write recall@10 by family and view, with intervals against the recipe."""
    settings = replace(shop.lengths.first, epochs=1)
    pools = shop.mine(shop.embedder())
    start = shop.search(shop.embedder())
    rows = {"base model": _row(shop, start, start)}
    recipe = None
    for variant in variants(replace(shop.plan, negatives=NEGATIVES), settings)[:most]:
        trial = replace(shop, context_mark=variant.context_mark)
        trial.__dict__.update({name: shop.__dict__[name] for name in ("split", "held", "tokenizer")})
        model = fit_embedder(trial.embedder(), shop.feed(pools, variant.plan), variant.settings, shop.device)
        found = shop.search(model)
        recipe = recipe or found
        rows[variant.name] = _row(shop, found, recipe)
        shop.say(f"{variant.name}: {_shown(rows[variant.name])}")
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(rows, indent=1))


def _row(shop: Workshop, found: validation.Outcomes, against: validation.Outcomes) -> dict[str, object]:
    views = {view: validation.by_family(found, shop.held, view) for view in SHOWN_VIEWS}
    changes = {
        view: validation.bootstrap(against, found, shop.held, (view, view)) for view in ("alone", LARGER + "before")
    }
    return {"recall": views, "change": changes}


def _shown(row: dict) -> str:
    families = row["recall"]
    views = ", ".join(f"{view} {families[view]['chat']:.1f}" for view in SHOWN_VIEWS)
    others = ", ".join(f"{family} {value:.1f}" for family, value in families["alone"].items() if family != "chat")
    change = row["change"][LARGER + "before"]["all"]
    return f"chat: {views}; {others}; all {change[0]:+.2f} ({change[1]:+.2f} to {change[2]:+.2f})"
