"""A BERT encoder in plain torch."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

# Added to the attention logits of padding; finite, so that a row without any token stays a number.
MASKED_LOGIT = -10_000.0
DROPOUT = 0.1  # while training, as BERT's own


@dataclass(frozen=True, slots=True)
class EncoderConfig:
    """Sizes of a BERT encoder, named as in its config.json."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: float


class Attention(nn.Module):
    """Multi-head self-attention, softmax(QKᵀ/√d)V (Vaswani et al. 2017)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.width = config.hidden_size // config.num_attention_heads
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.output = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, asking: Tensor, states: Tensor, logit_mask: Tensor) -> Tensor:
        query = self._split(self.query(asking))
        key, value = self._split(self.key(states)), self._split(self.value(states))
        dropped = DROPOUT if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=logit_mask.to(query.dtype), dropout_p=dropped
        )
        batch, length = asking.shape[0], asking.shape[1]
        return self.output(mixed.transpose(1, 2).reshape(batch, length, self.heads * self.width))

    def _split(self, states: Tensor) -> Tensor:
        batch, length = states.shape[0], states.shape[1]
        return states.view(batch, length, self.heads, self.width).transpose(1, 2)


class Layer(nn.Module):
    """One post-norm transformer layer: attention, then a GELU feed-forward, each with a residual.

    With `first_only` it gives the first state alone: keys and values of all tokens, everything else of one.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.attention = Attention(config)
        self.attention_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.widen = nn.Linear(config.hidden_size, config.intermediate_size)
        self.narrow = nn.Linear(config.intermediate_size, config.hidden_size)
        self.output_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, states: Tensor, logit_mask: Tensor, *, first_only: bool = False) -> Tensor:
        asking = states[:, :1] if first_only else states
        asking = normed(self.attention_norm, asking + self.dropout(self.attention(asking, states, logit_mask)))
        wide = functional.gelu(self.widen(asking))
        return normed(self.output_norm, asking + self.dropout(self.narrow(wide)))


def normed(norm: nn.LayerNorm, states: Tensor) -> Tensor:
    """The norm in the precision of the states; automatic casts would have all that follows in 32 bits."""
    with torch.autocast(states.device.type, enabled=False):
        weight, bias = norm.weight.to(states.dtype), norm.bias.to(states.dtype)
        return functional.layer_norm(states, norm.normalized_shape, weight, bias, norm.eps)


class Encoder(nn.Module):
    """BERT without its pooler (Devlin et al. 2018): word pieces in, last hidden states out, or the first of them."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.words = nn.Embedding(config.vocab_size, config.hidden_size)
        self.positions = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.types = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.dropout = nn.Dropout(DROPOUT)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor, *, first_only: bool = False
    ) -> Tensor:
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        states = self.norm(self.words(input_ids) + self.positions(places) + self.types(token_type_ids))
        if torch.is_autocast_enabled(states.device.type):
            states = states.to(torch.get_autocast_dtype(states.device.type))
        states = self.dropout(states)
        logit_mask = (1.0 - attention_mask[:, None, None, :].to(states.dtype)) * MASKED_LOGIT
        *others, last = self.layers
        for layer in others:
            states = layer(states, logit_mask)
        return last(states, logit_mask, first_only=first_only)


class SentenceEncoder(nn.Module):
    """An encoder with mean pooling: gives (unit sentence vectors, last hidden states)."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> tuple[Tensor, Tensor]:
        tokens = self.encoder(input_ids, attention_mask, token_type_ids)
        weights = attention_mask.to(tokens.dtype)
        weights = weights / weights.sum(1, keepdim=True)
        mean = (weights.unsqueeze(1) @ tokens).squeeze(1)
        return functional.normalize(mean, dim=-1), tokens


class Head(nn.Module):
    """One number from what a scorer has read."""

    def __init__(self, read: int, width: int) -> None:
        super().__init__()
        self.mix = nn.Linear(read, width)
        self.out = nn.Linear(width, 1)
        self.dropout = nn.Dropout(DROPOUT)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, read: Tensor) -> Tensor:
        return self.out(self.dropout(functional.gelu(self.mix(read)))).squeeze(-1)


class PairScorer(nn.Module):
    """A cross-encoder: query and text read together give two logits, from the first state as BERT's own classifier.

    `ranking` orders texts; `answering` says whether a text answers. With `mean` both read the mean of all states
    too, and the last layer works for every token.
    """

    def __init__(self, encoder: Encoder, *, mean: bool = False) -> None:
        super().__init__()
        self.encoder = encoder
        self.mean = mean
        width = encoder.norm.normalized_shape[0]
        read = 2 * width if mean else width
        self.ranking, self.answering = Head(read, width), Head(read, width)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        """A row for each pair: the logit of `ranking` and that of `answering`."""
        states = self.encoder(input_ids, attention_mask, token_type_ids, first_only=not self.mean)
        read = states[:, 0]
        if self.mean:
            weights = attention_mask.to(states.dtype)
            weights = weights / weights.sum(1, keepdim=True)
            read = torch.cat((read, (weights.unsqueeze(1) @ states).squeeze(1)), dim=-1)
        return torch.stack((self.ranking(read), self.answering(read)), dim=-1)
