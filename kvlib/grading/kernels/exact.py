"""Problems whose results are small whole numbers, whatever a kernel rounds: what it printed can be compared as text.

The score of a token is the logarithm of a weight of 1, 2 or 3, so that softmax gives those weights back. Of all values
of a sequence one is not zero, and it is as large as makes the weighted mean a whole number.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from kvlib.chance import Chance

LEAST, MOST = 1, 9
"""The whole numbers."""


class Exact(NamedTuple):
    """What a kernel is given, by name, and what its output rounds to.

    expected: int64 [num_seqs, num_heads, head_size // group]; head g of a group has it in numbers g * width to
    (g + 1) * width of its row, width being head_size // group. The other numbers of a row are not to be compared.
    """

    inputs: dict[str, Tensor]
    expected: Tensor

    def rounded(self, output: Tensor) -> list[list[list[int | None]]]:
        """The numbers of `output` [num_seqs, num_heads, head_size] that are compared; None for what is not finite."""
        num_seqs, num_heads, width = self.expected.shape
        group = output.shape[2] // width
        rows = output.reshape(num_seqs, num_heads // group, group, output.shape[2])
        parts = torch.stack([rows[:, :, g, g * width : (g + 1) * width] for g in range(group)], dim=2)
        return [
            [[round(number) if math.isfinite(number) else None for number in row] for row in sequence]
            for sequence in parts.reshape(num_seqs, num_heads, width).tolist()
        ]


def exact(
    chance: Chance, block_size: int, num_kv_heads: int, group: int, head_size: int, shifts: tuple[int, ...] = (0,)
) -> Exact:
    """A problem of four sequences of 1 to 60 tokens. All scores of a sequence are higher by one of `shifts`.

    `group` query heads share a KV head; head_size is a multiple of `group` and larger than it.
    """
    lengths = [1 + chance.below(60) for _ in range(4)]
    counts = [-(-length // block_size) for length in lengths]
    num_blocks = sum(counts) + 2
    order = sorted(range(num_blocks), key=lambda _: chance.bits())
    tables = torch.full((4, max(counts)), 2**30)  # behind its blocks, a table holds what is no block
    query = torch.zeros(4, num_kv_heads * group, head_size, dtype=torch.float16)
    key_cache = torch.full((num_blocks, block_size, num_kv_heads, head_size), math.nan, dtype=torch.float16)
    value_cache = key_cache.clone()
    width = head_size // group
    expected = torch.zeros(4, num_kv_heads * group, width, dtype=torch.int64)
    for sequence, (length, count) in enumerate(zip(lengths, counts)):
        blocks, order = order[:count], order[count:]
        tables[sequence, :count] = torch.tensor(blocks)
        slots = torch.tensor([blocks[t // block_size] * block_size + t % block_size for t in range(length)])
        keys = torch.zeros(length, num_kv_heads, head_size)
        values = torch.zeros(length, num_kv_heads, head_size)
        keys[:, :, group] = 1
        for kv_head in range(num_kv_heads):
            for g in range(group):
                head, mine = kv_head * group + g, slice(g * width, (g + 1) * width)
                weights = torch.tensor([1.0 + chance.below(3) for _ in range(length)])
                chosen = chance.below(length)
                means = torch.tensor([LEAST + chance.below(MOST) for _ in range(width)])
                query[sequence, head, g], query[sequence, head, group] = 1, shifts[sequence % len(shifts)]
                keys[:, kv_head, g] = weights.log()
                values[chosen, kv_head, mine] = means * weights.sum() / weights[chosen]
                expected[sequence, head] = means
        key_cache.view(-1, num_kv_heads, head_size)[slots] = keys.half()
        value_cache.view(-1, num_kv_heads, head_size)[slots] = values.half()
    inputs = {
        "query": query,
        "key_cache": key_cache,
        "value_cache": value_cache,
        "block_tables": tables,
        "context_lens": torch.tensor(lengths),
    }
    return Exact(inputs, expected)


def exact_parts(chance: Chance, num_splits: int, head_size: int) -> Exact:
    """The parts of `num_splits` splits for two heads of three sequences, and their log sums, some of them -inf."""
    parts = torch.zeros(3, 2, num_splits, head_size)
    log_sums = torch.full((3, 2, num_splits), -math.inf)
    expected = torch.zeros(3, 2, head_size, dtype=torch.int64)
    for sequence in range(3):
        for head in range(2):
            filled = 1 + chance.below(num_splits)
            weights = torch.tensor([1.0 + chance.below(3) for _ in range(filled)])
            chosen = chance.below(filled)
            expected[sequence, head] = torch.tensor([LEAST + chance.below(MOST) for _ in range(head_size)])
            log_sums[sequence, head, :filled] = weights.log() + 100 * sequence
            parts[sequence, head, chosen] = expected[sequence, head] * weights.sum() / weights[chosen]
    return Exact({"parts": parts, "log_sums": log_sums}, expected)
