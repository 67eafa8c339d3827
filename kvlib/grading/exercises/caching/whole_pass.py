"""One pass over a whole text by kvlib's own model: what each layer of a pass over a piece of it has to agree with."""

from typing import Any

import torch
from torch import Tensor

from kvlib.attention.reference import causal_attention
from kvlib.attention.scoring import Scoring
from kvlib.grading.exercise import Wrong
from kvlib.models import Llama, NoCache
from kvlib.models.rope import frequencies, rotate

CLOSE = 1e-3  # numbers are of the size of one
CLEAR = 1e-2  # from the likeliest token to the next


class _Kept(NoCache):
    """Attention that notes the keys and values of each layer."""

    def __init__(self) -> None:
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []

    def __call__(self, layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        self.keys.append(key)
        self.values.append(value)
        return super().__call__(layer, query, key, value)


class WholePass:
    """In place of a cache: it knows what a pass over the whole text makes, so it can say where a part differs.

    counts: how many tokens each pass took in. Raises Wrong where a pass hands over something else.
    """

    def __init__(self, llama: Llama, text: Tensor) -> None:
        self.counts: list[int] = []
        self._llama, self._text, self._known = llama, text, 0
        self._appended: set[int] = set()
        self._kept = _Kept()
        with torch.inference_mode():
            hidden = llama.forward(text, torch.arange(len(text)), self._kept)
            self._logits = llama.logits(hidden)

    def begin(self, count: int) -> None:
        """A pass over the next `count` tokens is about to run."""
        self._count = count
        self._appended = set()

    def num_tokens(self) -> int:
        """Tokens of the passes that have ended."""
        return self._known

    def append(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """The keys and values of all tokens up to those of this pass, after a look at what was handed over."""
        if layer in self._appended:
            raise Wrong(f"cache.append is called twice for layer {layer} in one pass; each layer appends once.")
        self._appended.add(layer)
        start, stop = self._known, self._known + self._count
        expected = self._kept.keys[layer][start:stop]
        if not torch.is_tensor(keys) or keys.shape != expected.shape:
            shape = list(keys.shape) if torch.is_tensor(keys) else type(keys).__name__
            raise Wrong(f"cache.append gets keys {shape}; expected {list(expected.shape)}, those of the new tokens.")
        if not _close(keys, expected):
            raise Wrong(self._why_keys(layer, keys, expected, start, stop))
        if not torch.is_tensor(values) or not _close(values, self._kept.values[layer][start:stop]):
            raise Wrong(f"In layer {layer} cache.append gets other values than the layer makes; only keys turn.")
        return self._kept.keys[layer][:stop], self._kept.values[layer][:stop]

    def attention(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """All heads, the queries being the last tokens of those of `key`."""
        context_len = self._known + self._count
        if len(key) != context_len or len(value) != context_len:
            raise Wrong(
                f"attention gets {len(key)} keys and {len(value)} values in a pass after which {context_len} tokens "
                "are known. Hand it what cache.append returned, not the new ones alone."
            )
        return causal_attention(query, key, value, Scoring(query.shape[-1] ** -0.5))

    def end(self, logits: Any) -> int:
        """The token that this pass foretells; raises Wrong where the logits are not those of the whole pass."""
        left_out = set(range(self._llama.config.num_layers)) - self._appended
        if left_out:
            raise Wrong(f"In a pass, nothing was appended for layer {min(left_out)}; every layer has its own.")
        self._known += self._count
        self.counts.append(self._count)
        expected = self._logits[self._known - 1]
        if not torch.is_tensor(logits) or logits.shape != expected.shape:
            got = list(logits.shape) if torch.is_tensor(logits) else type(logits).__name__
            raise Wrong(f"It returns {got}; expected the logits {list(expected.shape)} of the token that comes next.")
        if not _close(logits, expected):
            raise Wrong(
                f"After {self._known} tokens the logits are not those of one pass over all of them; they belong to the "
                "last of the new tokens, after all layers and the last norm."
            )
        likeliest, second = expected.topk(2).values
        return int(logits.argmax()) if likeliest - second > CLEAR else -1

    def _why_keys(self, layer: int, keys: Tensor, expected: Tensor, start: int, stop: int) -> str:
        turns = frequencies(self._llama.config.head_size, self._llama.config.rope_theta)
        unturned = rotate(expected, *_turned(turns, -torch.arange(start, stop)))
        if start and _close(keys, rotate(unturned, *_turned(turns, torch.arange(stop - start)))):
            return (
                f"The keys of tokens {start} to {stop - 1} are turned as if they were tokens 0 to {stop - start - 1}: "
                f"the positions of a pass go on where the last one ended, here at {start}."
            )
        if _close(keys, unturned):
            return (
                "The keys are kept as they are before rotate; a token does not move, so keep its key as it is turned."
            )
        for off in (-1, 1):
            if _close(keys, rotate(unturned, *_turned(turns, torch.arange(start + off, stop + off)))):
                return f"Positions are off by one: token {start} stands at position {start}, the first of all at 0."
        return (
            f"In layer {layer} the keys of tokens {start} to {stop - 1} are not those that one pass over the whole "
            "text makes. Look at the positions, and at what attention is given in the layer before."
        )


def _turned(turns: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
    angles = positions[:, None, None] * turns
    return angles.cos(), angles.sin()


def _close(got: Tensor, expected: Tensor) -> bool:
    return got.shape == expected.shape and bool(((got.float() - expected).abs() <= CLOSE).all())
