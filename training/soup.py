"""Averages of weights (Wortsman et al. 2022): a trained model and the one it started from."""

from __future__ import annotations

import copy

from encoder import SentenceEncoder

ALPHAS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def between(start: SentenceEncoder, end: SentenceEncoder, alpha: float) -> SentenceEncoder:
    """(1 − α) · start + α · end."""
    result = copy.deepcopy(end)
    left, right = start.state_dict(), end.state_dict()
    result.load_state_dict({name: (1 - alpha) * left[name] + alpha * right[name] for name in left})
    return result.eval()
