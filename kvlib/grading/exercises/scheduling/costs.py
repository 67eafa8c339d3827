"""What the two ways back of a request cost, as lab 7 asks for it."""

from collections.abc import Iterator
from math import ceil
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Seen, Wrong, check_all_callable
from kvlib.grading.exercises.recognised import Case, fault_in

SWAP = ("num_tokens", "block_size", "num_copies", "token_bytes", "copy_s", "bytes_per_s")
RECOMPUTE = ("num_tokens", "num_running", "weights_s", "token_s")


def costs(answer: Any, chance: Chance) -> Iterator[Seen]:
    """Two functions, `(swap_s, recompute_s)`: seconds, of what they are given by name."""
    check_all_callable(answer, "check('costs', (swap_s, recompute_s))", SWAP, RECOMPUTE)
    swap, recompute = answer
    cases = []
    for number in range(6):
        block_size, copies, token_bytes = 2 << chance.below(6), 8 + chance.below(90), 512 << chance.below(5)
        in_last = block_size if number % 3 == 2 else 1 + chance.below(block_size - 1)
        num_tokens = block_size * chance.below(12) + in_last
        copy_us, gbps = 1 + chance.below(9), 5 + chance.below(60)
        values = (num_tokens, block_size, copies, token_bytes, copy_us * 1e-6, gbps * 1e9)
        cases.append(_swapping(_seconds(swap(**dict(zip(SWAP, values))), "swap_s"), *values))
    law = "swapping moves whole blocks out and in, in as many copies as they take"
    yield Seen(law, _microseconds(cases), fault_in(cases))
    cases = []
    for number in range(9):
        weights_ms, token_us, num_running = 5 + chance.below(40), 40 + chance.below(200), 1 + chance.below(60)
        if number % 3 == 2:
            num_running += 1000 * weights_ms // token_us  # these alone take longer than the weights
        free = 1000 * weights_ms // token_us - num_running
        num_tokens = max(1, free // 2) if number % 3 == 1 else max(1, free) + 1 + chance.below(900)
        beside = (num_tokens, num_running, weights_ms / 1e3, token_us / 1e6)
        cases.append(_recomputing(_seconds(recompute(**dict(zip(RECOMPUTE, beside))), "recompute_s"), *beside))
    yield Seen("recomputing costs what it makes an iteration longer", _microseconds(cases), fault_in(cases))


def _swapping(given: float, n: int, b: int, copies: int, k: int, copy_s: float, bytes_per_s: float) -> Case:
    def seconds(blocks: float, filled: float) -> float:
        return 2 * blocks * copies * (copy_s + filled * k / bytes_per_s)

    right, transfer_s = seconds(ceil(n / b), b), 2 * ceil(n / b) * copies * b * k / bytes_per_s
    return Case(
        f"{n} tokens in blocks of {b}: {1e3 * given:.4f} ms, not {1e3 * right:.4f}.",
        given,
        right,
        {
            "That is one way. The blocks go out, and in again.": right / 2,
            "The last block is moved whole too, though it is partly empty.": seconds(n / b, b),
            "The last block, partly filled, is a block as well: round up.": seconds(n // b, b),
            "That is a copy for each token. One copy moves b tokens.": seconds(n, 1),
            "A copy moves the bytes of one block, not those of all n tokens.": seconds(ceil(n / b), n),
            "A copy moves the bytes of all b tokens of its block.": seconds(ceil(n / b), 1),
            "Each copy of a block has a start of its own, not each block.": seconds(ceil(n / b), b)
            - 2 * ceil(n / b) * (copies - 1) * copy_s,
            "Each copy has a start of its own, not each way.": 2 * copy_s + transfer_s,
            "Each copy has a start of its own: t belongs into the bracket.": copy_s + transfer_s,
        },
    )


def _recomputing(given: float, n: int, running: int, weights_s: float, token_s: float) -> Case:
    with_s = max(weights_s, (running + n) * token_s)
    right = with_s - max(weights_s, running * token_s)
    return Case(
        f"{n} tokens beside {running} that run, with W = {1e3 * weights_s:g} ms and a = {1e6 * token_s:g} µs: "
        f"{1e3 * given:.4f} ms, not {1e3 * right:.4f}.",
        given,
        right,
        {
            "The weights are read anyway, and tokens that fit into that time cost nothing more.": n * token_s,
            "That is the whole iteration. It would have run without them too.": with_s,
            "Without them it may take longer than the weights already.": with_s - weights_s,
            "Without them it takes as long as the weights at least.": with_s - running * token_s,
            "Those that run want arithmetic too: a token each.": max(weights_s, n * token_s) - weights_s,
            "That is an iteration of its own. They run beside others.": max(weights_s, n * token_s),
        },
    )


def _seconds(given: Any, name: str) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise Wrong(f"{name} returned {given!r:.60}; expected a number of seconds.") from None


def _microseconds(cases: list[Case]) -> list[float]:
    return [round(1e6 * case.given, 2) + 0.0 for case in cases]  # no negative zero
