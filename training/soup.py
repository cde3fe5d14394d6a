"""Averages of weights (Wortsman et al. 2022): several seeds, and the model they started from."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from encoder import SentenceEncoder

ALPHAS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def mean(models: Sequence[SentenceEncoder]) -> SentenceEncoder:
    """The model halfway between all of these."""
    result = copy.deepcopy(models[0])
    states = [one.state_dict() for one in models]
    result.load_state_dict({name: torch.stack([one[name] for one in states]).mean(0) for name in states[0]})
    return result.eval()


def between(start: SentenceEncoder, end: SentenceEncoder, alpha: float) -> SentenceEncoder:
    """(1 − α) · start + α · end."""
    result = copy.deepcopy(end)
    left, right = start.state_dict(), end.state_dict()
    result.load_state_dict({name: (1 - alpha) * left[name] + alpha * right[name] for name in left})
    return result.eval()
