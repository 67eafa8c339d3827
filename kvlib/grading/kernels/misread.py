"""What was read amiss for a row of attention: which slots its programs read, beside those that they should read."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from torch import Tensor

from kvlib.bench.kernels.problems import Problem
from kvlib.grading.kernels.accesses import begin_of
from kvlib.grading.kernels.sources import loads_for
from kvlib.grading.kernels.watched import Watch


class Reading(NamedTuple):
    """How often each slot of a cache was read for one row, and which of them are the row's own.

    times [num_blocks, block_size, num_kv_heads]; block, offset [context_len]: where each token lies.
    """

    name: str
    times: np.ndarray
    block: np.ndarray
    offset: np.ndarray
    kv_head: int

    @property
    def own(self) -> np.ndarray:
        """How often each token was read, for each KV head: [context_len, num_kv_heads]."""
        return self.times[self.block, self.offset]

    @property
    def elsewhere(self) -> np.ndarray:
        """The slots read that hold no token of this sequence: [any number, 2], block and offset."""
        others = self.times.sum(-1)
        others[self.block, self.offset] = 0
        return np.argwhere(others)


def readings(problem: Problem, watch: Watch, output: Tensor, sequence: int, head: int) -> list[Reading]:
    """What was read of values, and of keys, for query head `head` of `sequence`."""
    _, block_size, num_kv_heads, head_size = problem.key_cache.shape
    position = np.arange(int(problem.tables["context_lens"][sequence]))
    table = problem.tables["block_tables"][sequence].numpy()
    num_heads = output.shape[1]
    loads = loads_for(watch, output, sequence * num_heads + head)
    found = []
    for name, cache in (("value", problem.value_cache), ("key", problem.key_cache)):
        counts = np.zeros(cache.numel(), np.int64)
        for load in loads:
            if load.begin == begin_of(cache):
                np.add.at(counts, load.elements, 1)
        times = counts.reshape(-1, block_size, num_kv_heads, head_size).max(-1)
        kv_head = head * num_kv_heads // num_heads
        found.append(Reading(name, times, table[position // block_size], position % block_size, kv_head))
    return found


def misread(found: Sequence[Reading], is_finite: bool) -> str:
    """What is amiss with what was read, as the end of a sentence that names the row; "" if nothing is.

    is_finite: whether the row is; a slot without a token that was read too does no harm then.
    """
    unread = [reading.name for reading in found if not reading.times.any()]
    if len(unread) == 1 and len(found[0].block):
        return f"is wrong: not one {unread[0]} is read for it"
    return next(filter(None, (_misread(reading, is_finite) for reading in found)), "")


def _misread(reading: Reading, is_finite: bool) -> str:
    own, elsewhere = reading.own, reading.elsewhere
    if len(own) == 0:
        return f"is wrong: {reading.name}s are read for it, though its sequence has no token" if len(elsewhere) else ""
    never = np.flatnonzero(own[:, reading.kv_head] == 0)
    kv_heads = np.flatnonzero(own.sum(0))
    if len(kv_heads) and reading.kv_head not in kv_heads:
        return f"is wrong: KV head {kv_heads[0]} is read; it belongs to KV head {reading.kv_head}, head // GROUP"
    if len(elsewhere) and len(never):
        return (
            f"is wrong: {_slot(reading, elsewhere[0])} is read in place of its own tokens; look at how slots are made: "
            "from the table, the size of a block and the place in it, and whose KV head it is, head // GROUP"
        )
    if len(elsewhere) and not is_finite:
        return (
            f"is NaN: {_slot(reading, elsewhere[0])} is read too, and even 0 * NaN is NaN; mask the loads of keys and "
            "values where there is no token"
        )
    return f"is wrong: {_left_out(never, own[:, reading.kv_head])}" if len(never) else ""


def read_twice(reading: Reading) -> str:
    """Which token was read more than once, as the end of a sentence; "" if none was."""
    times = reading.own[:, reading.kv_head]
    if times.max(initial=0) < 2:
        return ""
    token = int(times.argmax())
    return (
        f"is wrong: the {reading.name} of token {token} is read {times[token]} times for it; each turn, and each "
        "split, begins where the one before it ends"
    )


def _slot(reading: Reading, slot: np.ndarray) -> str:
    block, offset = slot
    if block == 0:
        return "block 0, which belongs to nobody,"
    if block in reading.block:
        return f"slot {offset} of block {block}, which holds no token,"
    return f"block {block}, which is not in its row of the table,"


def _left_out(never: np.ndarray, times: np.ndarray) -> str:
    num_tokens, first, last, count = len(times), int(never[0]), int(never[-1]), len(never)
    if last - first + 1 > count:
        advice = "look at how slots are made" if times.max() > 1 else "a turn begins where the one before it ends"
        return f"{count} of its {num_tokens} tokens are left out, token {first} first; {advice}"
    if last == num_tokens - 1:
        tokens = f"{'all its' if first == 0 else 'the last'} {count} tokens are" if count > 1 else "its last token is"
        return f"{tokens} left out; round the number of turns up"
    return f"tokens {first} to {last} are left out" if count > 1 else f"token {first} is left out"
