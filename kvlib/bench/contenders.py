"""What `kvlib bench engine` runs a workload through: this package's engine, in one of its forms."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kvlib.bench.mixed import Wanted
from kvlib.engine import LLM, Model, SamplingParams

BLOCK_SIZE, NUM_BLOCKS, MAX_BATCH_TOKENS = 16, 600, 256  # as much memory, and as many tokens a step, for all


class Run(NamedTuple):
    """One run of a workload.

    tokens: those written for each request. seconds: from the first prompt handed over to the last token; cpu_s of all
    threads. first_token_s: from the start to the first token of each request.
    """

    tokens: list[list[int]]
    seconds: float
    cpu_s: float
    first_token_s: list[float]


class Contender(NamedTuple):
    """Something that serves a workload, and the bytes that its cache of keys and values takes."""

    run: Callable[[Sequence[Wanted]], Run]
    cache_bytes: int


class Stopwatch:
    """Wall and CPU seconds since it was made; `stop` holds them."""

    def __init__(self) -> None:
        self.start, self._cpu_start = time.perf_counter(), time.process_time()
        self.seconds = self.cpu_s = 0.0

    def stop(self) -> None:
        self.seconds = time.perf_counter() - self.start
        self.cpu_s = time.process_time() - self._cpu_start


def ours(model: Model, num_requests: int) -> Contender:
    """This package's engine with the linear layers of `model` and the fastest attention that goes with them."""
    llm = LLM(
        model,
        block_size=BLOCK_SIZE,
        num_blocks=NUM_BLOCKS,
        max_num_seqs=num_requests,
        max_num_batched_tokens=MAX_BATCH_TOKENS,
        enable_chunked_prefill=True,
        enable_prefix_caching=False,
        attention_backend="auto" if model.linear == "native" else "gather",
    )

    def run(workload: Sequence[Wanted]) -> Run:
        watch, arrived = Stopwatch(), time.monotonic()
        for number, wanted in enumerate(workload):
            params = SamplingParams(temperature=0, max_tokens=wanted.num_tokens, ignore_eos=True)
            llm.add_request(str(number), {"prompt_token_ids": wanted.prompt}, params)
        outputs = {}
        while llm.has_unfinished_requests():
            for output in llm.step():
                if output.finished:
                    outputs[int(output.request_id)] = output
        watch.stop()
        in_order = [outputs[number] for number in range(len(workload))]
        return Run(
            [output.outputs[0].token_ids for output in in_order],
            watch.seconds,
            watch.cpu_s,
            [output.metrics.first_token_time - arrived for output in in_order],
        )

    return Contender(run, sum(tensor.nbytes for cache in llm.caches for tensor in (cache.key, cache.value)))
