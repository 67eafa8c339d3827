"""The check of the last exhibit: whether a function notices that an attention depends on slots that hold no token."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor

from kvlib.attention.scoring import Scoring
from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, check_callable
from kvlib.grading.exercises.museum.exhibit import Edit
from kvlib.grading.exercises.museum.exhibits import TAIL
from kvlib.grading.exercises.museum.laws import truth

NUM_BLOCKS, NUM_KV_HEADS, NUM_HEADS, HEAD_SIZE = 8, 2, 4, 8
LAW = "an attention is told from one that depends on slots that hold no token"
MASKED = Edit(
    'score = score.masked_fill(unseen, float("-inf"))', 'score = score + torch.where(unseen, float("-inf"), 0.0)'
)
NO_VALUE = Edit(
    "value = value_cache[physical_block, :filled].to(dtype)",
    "value = value_cache[physical_block, :filled].to(dtype)\n"
    "        value = value.masked_fill((start + torch.arange(filled) >= context_len)[:, None, None], 0)",
)
UNMASKED = Edit(
    "unseen = slot_position > position[:, None, None, None]", "unseen = slot_position < torch.zeros(1, 1, 1, 1)"
)

ReadsBlocks = Callable[[Tensor, Tensor, Tensor, list[int], int], Tensor]


class Problem(NamedTuple):
    """One query over the blocks of a context of `context_len` tokens.

    query: [1, heads, D]. key_cache, value_cache: [num_blocks, block_size, K, D], the slots without a token filled with
    numbers, too. blocks: the block table.
    """

    query: Tensor
    key_cache: Tensor
    value_cache: Tensor
    blocks: list[int]
    context_len: int


def attention(fault: tuple[Edit, ...] = ()) -> ReadsBlocks:
    """kvlib's walk over a block table, with the edits of a fault, as (query, key_cache, value_cache, blocks,
    context_len) -> [1, heads, D]."""
    walk = TAIL._replace(edits=fault).planted().walk

    def reads_blocks(
        query: Tensor, key_cache: Tensor, value_cache: Tensor, blocks: list[int], context_len: int
    ) -> Tensor:
        return walk(query, key_cache, value_cache, blocks, context_len, Scoring(query.shape[-1] ** -0.5))

    return reads_blocks


def problem(chance: Chance, is_full: bool = False) -> Problem:
    """A problem as chance draws it, with a last block that is full or not."""
    block_size = 3 + chance.below(6)
    num_used = 1 + chance.below(4)
    missing = 0 if is_full else 1 + chance.below(block_size - 1)
    blocks = sorted(range(NUM_BLOCKS), key=lambda _: chance.bits())[:num_used]
    generator = torch.Generator().manual_seed(chance.below(1 << 31))
    key_cache, value_cache = torch.randn(2, NUM_BLOCKS, block_size, NUM_KV_HEADS, HEAD_SIZE, generator=generator)
    query = torch.randn(1, NUM_HEADS, HEAD_SIZE, generator=generator)
    return Problem(query, key_cache, value_cache, blocks, num_used * block_size - missing)


FAULTS = {
    "reads the values of slots without a token under a weight of 0": TAIL.edits,
    "adds -inf to the scores of slots without a token": (*TAIL.edits, MASKED, NO_VALUE),
    "attends to slots without a token": (*TAIL.edits, UNMASKED),
}
HINTS = {
    "reads the values of slots without a token under a weight of 0": "Any finite number times 0 is 0; one kind of "
    "number is not. And both caches have such slots.",
    "adds -inf to the scores of slots without a token": "It reads keys there, and no values. Poison both caches, and "
    "with what stays itself whatever is added to it.",
    "attends to slots without a token": "Change what the slots hold, and compare the two outputs.",
}


def tail(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """The probe: sound and faulty attentions, in any order, on contexts whose last block is full or not."""
    names = ["attention", *Problem._fields]
    check_callable(answer, *names)
    found, fault = [], ""
    attentions = {"": attention(), **{name: attention(edits) for name, edits in FAULTS.items()}}
    cases: list[tuple[str, bool]] = [(name, is_full) for name in attentions for is_full in (False, True)]
    for _ in range(2):
        for name, is_full in sorted(cases, key=lambda _: chance.bits()):
            given = problem(chance, is_full)
            is_right = not name or is_full
            verdict = truth(answer(attention=attentions[name], **given._asdict()))
            found.append(verdict)
            if verdict != is_right:
                fault = fault or _fault(name, given, is_full)
    yield Seen(LAW, found, fault)


def _fault(name: str, given: Problem, is_full: bool) -> str:
    size, last = given.key_cache.shape[1], given.blocks[-1]
    case = f"{given.context_len} tokens in blocks {given.blocks} of {size} slots"
    if name and not is_full:
        return f"An attention that {name} is given, with {case}, and it says True. {HINTS[name]}"
    if is_full:
        return f"With {case}, the last block is full: no slot of it is without a token. It says False."
    first = given.context_len - (len(given.blocks) - 1) * size
    return (
        f"A sound attention is given, with {case}, and it says False. Of block {last} the slots from {first} on hold "
        "no token, and all others of the table do. Is the cache that the first output comes from still as it was?"
    )
