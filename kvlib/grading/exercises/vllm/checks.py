"""What is seen of the answers of lab 12: vLLM's metrics as functions."""

import operator
from collections.abc import Iterator
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Exercise, Exercises, Seen, Wrong, check_callable
from kvlib.grading.exercises.recognised import Case, fault_in

BLOCKS = (
    "gpu_bytes",
    "utilization",
    "other_bytes",
    "num_layers",
    "num_kv_heads",
    "head_size",
    "number_bytes",
    "block_size",
)


def _blocks(answer: Any, chance: Chance) -> Iterator[Seen]:
    check_callable(answer, *BLOCKS)
    cases = []
    for _ in range(8):
        gpu_gib, percent = (16, 24, 40, 80)[chance.below(4)], 80 + chance.below(16)
        layers, heads, size, number = 8 + chance.below(60), 1 + chance.below(16), 64 << chance.below(2), 2
        block = 8 << chance.below(3)
        block_bytes = 2 * layers * heads * size * number * block
        other = chance.below(gpu_gib * 2**29) + 2**28
        free = int(gpu_gib * 2**30 * percent / 100) - other
        other += free % block_bytes - block_bytes // 2  # half a block is left over, so that no rounding decides
        values = (gpu_gib * 2**30, percent / 100, other, layers, heads, size, number, block)
        cases.append(_fitting(_count(answer(**dict(zip(BLOCKS, values)))), *values))
    found = [case.given for case in cases]
    yield Seen("the cache has as many blocks as fit into what is left of the GPU's memory", found, fault_in(cases))


def _fitting(
    given: int, gpu: int, utilization: float, other: int, layers: int, heads: int, size: int, number: int, block: int
) -> Case:
    block_bytes = 2 * layers * heads * size * number * block
    allowed = int(gpu * utilization)
    free = allowed - other
    return Case(
        f"{gpu >> 30} GiB, {utilization:.0%} of it, {other:,} bytes taken, {layers} layers: yours says {given:,}.",
        given,
        free // block_bytes,
        {
            "A token has a key and a value: two vectors in each head.": free // (block_bytes // 2),
            "A block holds its tokens in all layers.": free // (block_bytes // layers),
            "That counts tokens. A block holds block_size of them.": free // (block_bytes // block),
            "The share is of the whole memory, before anything is taken.": int((gpu - other) * utilization)
            // block_bytes,
            "vLLM may use `utilization` of the memory, not all of it.": (gpu - other) // block_bytes,
            "Weights and activations take `other_bytes` of it first.": allowed // block_bytes,
            "The null block is one of num_gpu_blocks. Take it off later, for the usage.": free // block_bytes - 1,
        },
        f"One block takes {block_bytes:,} bytes of {free:,}.",
    )


def _usage(answer: Any, chance: Chance) -> Iterator[Seen]:
    check_callable(answer, "num_tokens", "num_shared_tokens", "num_gpu_blocks", "block_size")
    cases = []
    for number in range(8):
        block = 4 << chance.below(3)
        shared = 0 if number == 0 else chance.below(6 * block)
        tokens = [shared + 1 + chance.below(5 * block) for _ in range(2 + chance.below(9))]
        blocks = 2 + chance.below(60) + sum(-(-each // block) for each in tokens)
        given = answer(num_tokens=list(tokens), num_shared_tokens=shared, num_gpu_blocks=blocks, block_size=block)
        cases.append((blocks, _in_use(_number(given), tokens, shared, blocks, block)))
    found = [round(case.given * (blocks - 1), 2) for blocks, case in cases]
    law = "the usage counts blocks that somebody holds, each once, of those that can be held"
    yield Seen(law, found, fault_in([case for _, case in cases]))


def _in_use(given: float, tokens: list[int], shared: int, blocks: int, block: int) -> Case:
    each = [-(-count // block) for count in tokens]

    def share(common: float, of: int = blocks - 1, held: float = sum(each)) -> float:
        return (held - (len(tokens) - 1) * common) / of

    right = share(shared // block)
    return Case(
        f"{tokens} tokens, {shared} shared, {blocks} blocks of {block}: yours says {given:.4f}, not {right:.4f}.",
        given,
        right,
        {
            "One block is vLLM's null block, which nobody can hold: take it off.": share(shared // block, of=blocks),
            "Blocks that all share are held once, however many requests name them.": share(0),
            "Only full blocks are shared. A partly filled one is everybody's own.": share(-(-shared // block)),
            "A block is in use as a whole, with one token or with all.": share(
                shared / block, held=sum(tokens) / block
            ),
            "That is the share of free blocks.": 1 - right,
            "It is a fraction from 0 to 1, whatever `perc` says.": 100 * right,
        },
    )


def _hits(answer: Any, chance: Chance) -> Iterator[Seen]:
    check_callable(answer, "admissions", "block_size")
    cases = []
    for _ in range(8):
        block = 4 << chance.below(3)
        admissions = [_admission(chance, block) for _ in range(3 + chance.below(6))]
        admissions += [
            (3 * block, 3 * block, False),
            (2 * block + 1, 2 * block, False),
            (2 * block + 1, block + 1, True),
        ]
        given = _pair(answer(admissions=list(admissions), block_size=block))
        cases.append(_looked_up(given, admissions, block))
    law = "hits and queries are counted in tokens, of full blocks, at first admissions"
    yield Seen(law, [case.given for case in cases], fault_in(cases))


def _looked_up(given: tuple[int, int], admissions: list[tuple[int, int, bool]], block: int) -> Case:
    def counted(resumed: bool = False, computed: int = 1, whole: bool = True) -> tuple[int, int]:
        some = [(count, known) for count, known, again in admissions if resumed or not again]
        hits = [min(known, count - computed) for count, known in some]
        return sum(hit // block * block if whole else hit for hit in hits), sum(count for count, _ in some)

    hits, queries = right = counted()
    return Case(
        f"{admissions} in blocks of {block}: yours counts {given}, not {right}.",
        given,
        right,
        {
            "Who returns after a preemption is not counted: it would find its own blocks.": counted(resumed=True),
            "The last token is always computed, for its logits: a hit ends before it.": counted(computed=0),
            "Only the last token has to be computed: a hit may end right before it.": counted(computed=2),
            "Only full blocks are found. Round each hit down to them.": counted(whole=False),
            "Hits are counted in tokens, not in blocks.": (hits // block, queries),
            "Hits first, then queries.": (queries, hits),
        },
    )


def _admission(chance: Chance, block: int) -> tuple[int, int, bool]:
    num_tokens = 1 + chance.below(6 * block)
    return num_tokens, chance.below(num_tokens + 1), chance.below(3) == 0


def _count(given: Any) -> int:
    try:
        return operator.index(given)
    except TypeError:
        raise Wrong(f"It returned {given!r:.60}; expected a whole number.") from None


def _number(given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise Wrong(f"It returned {given!r:.60}; expected a number.") from None


def _pair(given: Any) -> tuple[int, int]:
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise Wrong(f"It returned {given!r:.60}; expected two numbers, hits and queries.")
    return _count(given[0]), _count(given[1])


EXERCISES = Exercises(
    {
        "blocks": Exercise(_blocks, "What vLLM may use, less what others take, in blocks of all layers."),
        "usage": Exercise(_usage, "Whole blocks, each once, of all but the null block."),
        "hits": Exercise(_hits, "Tokens of full blocks, never the last one, and nobody who comes back."),
    }
)
check, observe = EXERCISES.check, EXERCISES.observe
