"""The server of the paper's section 6, by the ledger's figures: OPT-13B on one A100 with 40 GB of memory."""

from functools import cache

from kvlib.bench.policies import POLICIES, RESERVING
from kvlib.checks import whole
from kvlib.errors import BadConfig
from kvlib.ledger import load
from kvlib.serving.cost import PAGED_ATTENTION_SLOWDOWN, IterationCost
from kvlib.serving.counted import CountedBlocks
from kvlib.serving.reserved import Reservations


@cache
def quoted(id: str) -> float:
    """The value of the ledger's number with this id."""
    return load()[id].value


def server_cost(policy: str, num_shared_tokens: int = 0) -> IterationCost:
    """The law of an iteration's seconds under one of POLICIES. Every sequence also reads `num_shared_tokens` tokens
    that the memory holds once for all of them (a shared prefix)."""
    whole("num_shared_tokens", num_shared_tokens, 0)
    weight_bytes = quoted("opt-13b-weights") * 1e9
    law = IterationCost(
        bandwidth=quoted("a100-bandwidth") * 1e9,
        flops=quoted("a100-fp16") * 1e12,
        weight_bytes=weight_bytes,
        num_parameters=weight_bytes / quoted("fp16-bytes"),
        kv_bytes_per_token=quoted("opt-13b-token-bytes"),
        attention_slowdown=PAGED_ATTENTION_SLOWDOWN if _checked(policy) == "paged" else 1.0,
    )
    law.sequence_s += num_shared_tokens * law.kv_token_s
    return law


def server_memory(
    policy: str,
    *,
    num_slots: int | None = None,
    num_slots_taken: int = 0,
    block_size: int = 16,
    watermark: float = 0.01,
) -> CountedBlocks | Reservations:
    """An empty memory of `num_slots` token slots, by default the 15,728 of 12 GiB, under one of POLICIES.

    `num_slots_taken` of them belong to somebody else, such as a prefix that is held once for all. `block_size` and
    `watermark` are for "paged", whose blocks are as many as fit; BadConfig if none does.
    """
    slots = int(quoted("opt-13b-slots")) if num_slots is None else whole("num_slots", num_slots)
    slots -= whole("num_slots_taken", num_slots_taken, 0)
    if _checked(policy) != "paged":
        return Reservations(slots, RESERVING[policy](int(quoted("opt-longest"))))
    if slots < whole("block_size", block_size):
        raise BadConfig(f"a memory of {slots} slots is smaller than one block of {block_size}; give it more slots")
    return CountedBlocks(slots // block_size, block_size, watermark=watermark)


def _checked(policy: str) -> str:
    if policy not in POLICIES:
        raise BadConfig(f"policy is {policy!r}; choose one of {', '.join(POLICIES)}")
    return policy
