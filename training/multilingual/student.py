"""The multilingual embedder: Universal Sentence Encoder multilingual v3 in torch, with a weight for each token.

All tokens begin with the same weight, so that an untrained student gives the vectors of its base.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH, NARROW = 512, 256
ORDERS = ((2, 0), (3, 1), (5, 2))  # tokens in a window, and how many of them lie before its own
LOW = 320  # in the middle of the network after the mean
EPS = 1e-12


class Branch(nn.Module):
    """Two residual convolutions over windows of `order` tokens."""

    def __init__(self, order: int, left: int) -> None:
        super().__init__()
        self.order, self.left = order, left
        self.project = nn.Linear(WIDTH, NARROW)
        self.norm = nn.LayerNorm(NARROW, eps=EPS)
        self.first = nn.Linear(order * NARROW, NARROW)
        self.second = nn.Linear(order * NARROW, NARROW)

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        states = self.norm(self.project(words)) * mask
        states = (functional.relu(self.first(self._windows(states))) + states) * mask
        return functional.relu(self.second(self._windows(states))) + states

    def _windows(self, states: Tensor) -> Tensor:
        padded = functional.pad(states, (0, 0, self.left, self.order - 1 - self.left))
        length = states.shape[1]
        return torch.cat([padded[:, at : at + length] for at in range(self.order)], dim=-1)


class Student(nn.Module):
    """Rows of the word table and a mask to unit vectors."""

    def __init__(self) -> None:
        super().__init__()
        self.branches = nn.ModuleList([Branch(*order) for order in ORDERS])
        self.norm = nn.LayerNorm(WIDTH + len(ORDERS) * NARROW, eps=EPS)
        self.mix = nn.Linear(WIDTH + len(ORDERS) * NARROW, WIDTH)
        self.weigh_norm = nn.LayerNorm(WIDTH, eps=EPS)
        self.weigh = nn.Linear(WIDTH, 1)
        nn.init.zeros_(self.weigh.weight)
        nn.init.zeros_(self.weigh.bias)
        self.d0, self.d1, self.p1 = nn.Linear(WIDTH, LOW), nn.Linear(LOW, LOW), nn.Linear(WIDTH, LOW)
        self.d2, self.p3, self.d3 = nn.Linear(LOW, WIDTH), nn.Linear(LOW, WIDTH), nn.Linear(WIDTH, WIDTH)
        for layer in (self.d0, self.d1, self.p1, self.d2, self.p3, self.d3):
            nn.init.zeros_(layer.bias)  # the base has none

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """`words` (texts, tokens, 512) are rows of the table; `mask` (texts, tokens, 1) is 1 for tokens."""
        parts = [words, *(branch(words, mask) for branch in self.branches)]
        states = self.mix(self.norm(torch.cat(parts, dim=-1)))
        weights = (self.weigh(self.weigh_norm(states)) + (mask - 1) * 1e4).softmax(dim=1)
        mean = (weights * states).sum(dim=1) * mask.sum(dim=1).sqrt()
        low = functional.relu(self.p1(mean) + self.d1(functional.relu(self.d0(mean))))
        return functional.normalize(torch.tanh(self.p3(low) + self.d3(functional.relu(self.d2(low)))).float(), dim=-1)
