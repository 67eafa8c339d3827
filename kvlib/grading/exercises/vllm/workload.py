"""The workload of the lab beside vLLM, and what kvlib's scheduler and block manager say of its metrics, step by step.

The names and meanings of the metrics are those of vLLM 0.33.0 (vllm/v1/metrics/loggers.py).
"""

from collections import Counter
from typing import NamedTuple

from kvlib.chance import Chance
from kvlib.memory import BlockManager, PrefixHasher
from kvlib.serving.request import Request
from kvlib.serving.scheduler import Scheduler

RUNNING, WAITING = "vllm:num_requests_running", "vllm:num_requests_waiting"
USAGE = "vllm:kv_cache_usage_perc"
PREEMPTIONS = "vllm:num_preemptions"
QUERIES, HITS = "vllm:prefix_cache_queries", "vllm:prefix_cache_hits"
METRICS = (RUNNING, WAITING, USAGE, PREEMPTIONS, QUERIES, HITS)

Course = dict[str, list[float]]
"""The value of each of METRICS after each step of the engine."""


class Workload(NamedTuple):
    """`waves` of requests, each (token ids of the prompt, number of tokens to write); a wave comes when the one before
    it is done. The cache has `num_gpu_blocks` blocks, of which vLLM keeps one as the null block."""

    waves: tuple[tuple[tuple[tuple[int, ...], int], ...], ...]
    num_gpu_blocks: int
    block_size: int = 16
    max_num_seqs: int = 64
    max_num_batched_tokens: int = 8192  # more than all prompts together, so that none is cut


def small_workload(num_requests: int = 24, num_gpu_blocks: int = 65, seed: int = 0) -> Workload:
    """One request that begins with 70 tokens, then, at once, `num_requests` others that begin with the same."""
    chance = Chance(seed)

    def tokens(count: int) -> tuple[int, ...]:
        return tuple(100 + chance.below(40_000) for _ in range(count))

    common = tokens(70)
    first = ((common + tokens(12), 4),)
    others = tuple((common + tokens(8 + chance.below(33)), 16 + chance.below(49)) for _ in range(num_requests))
    return Workload((first, others), num_gpu_blocks)


def predicted(workload: Workload) -> Course:
    """What kvlib's own scheduler and block manager do with it, under the names of vLLM's metrics."""
    manager = BlockManager(workload.num_gpu_blocks - 1, workload.block_size)
    hasher = PrefixHasher(workload.block_size)
    scheduler = Scheduler(
        manager, max_num_seqs=workload.max_num_seqs, max_num_batched_tokens=workload.max_num_batched_tokens
    )
    course: Course = {name: [] for name in METRICS}
    told: Counter[str] = Counter()  # preemptions by request: vLLM counts one when its request's next token is out
    for number, wave in enumerate(workload.waves):
        for place, (prompt, num_output_tokens) in enumerate(wave):
            keys = hasher.start()
            keys.extend(list(prompt))
            scheduler.add(Request(f"{number}-{place}", len(prompt), num_output_tokens, keys=keys.keys))
        while scheduler.has_unfinished():
            step = scheduler.schedule()
            scheduler.computed(step)
            for work in step.prefills + step.decodes:
                work.sequence.append()
                told[work.request.request_id] = work.request.num_preemptions
                if work.sequence.num_tokens == work.sequence.most_tokens:
                    scheduler.finish(work.request, "length")
            now = (
                len(scheduler.running),
                len(scheduler.waiting),
                1 - manager.num_free_blocks / manager.pool.num_blocks,
                told.total(),
                scheduler.hits.num_queried,
                scheduler.hits.num_hit,
            )
            for name, value in zip(METRICS, now):
                course[name].append(value)
    return course
