"""What serves a workload in `kvlib bench engine`, and this package's engine as one that does."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kvlib.bench.mixed import Wanted
from kvlib.engine import LLM, Model, SamplingParams

BLOCK_SIZE, NUM_BLOCKS, MAX_BATCH_TOKENS = 16, 600, 256  # memory for as many tokens, and as many a step, for all


class Run(NamedTuple):
    """One run of a workload.

    tokens: those written for each request. seconds: from the first prompt handed over to the last token; cpu_s: of all
    threads meanwhile. first_token_s: of each request, from the start. cache_bytes: of keys and values, as allocated.
    """

    tokens: list[list[int]]
    seconds: float
    cpu_s: float
    first_token_s: list[float]
    cache_bytes: int


Serve = Callable[[Sequence[Wanted]], Run]
"""serve(workload) writes what every request wants, all of them there at the start."""


class Contender(NamedTuple):
    """A way to serve, the bytes of weights that it reads for every step, and the seconds its model took to load."""

    serve: Serve
    weight_bytes: int
    load_s: float


class Stopwatch:
    """Wall and CPU seconds since it was made."""

    def __init__(self) -> None:
        self.start, self._cpu_start = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """(wall, CPU of all threads)"""
        return time.perf_counter() - self.start, time.process_time() - self._cpu_start


def ours(model: Model) -> Serve:
    """This package's engine, with the attention that goes with the linear layers of `model`."""

    def serve(workload: Sequence[Wanted]) -> Run:
        llm = LLM(
            model,
            block_size=BLOCK_SIZE,
            num_blocks=NUM_BLOCKS,
            max_num_seqs=len(workload),
            max_num_batched_tokens=MAX_BATCH_TOKENS,
            enable_chunked_prefill=True,
            enable_prefix_caching=False,
            attention_backend=attention_for(model),
        )
        prompts = [{"prompt_token_ids": wanted.prompt} for wanted in workload]
        params = [SamplingParams(temperature=0, max_tokens=each.num_tokens, ignore_eos=True) for each in workload]
        watch, start = Stopwatch(), time.monotonic()
        outputs: list[Any] = llm.generate(prompts, params, use_tqdm=False)
        seconds, cpu_s = watch.read()
        first_token_s = [output.metrics.first_token_time - start for output in outputs]
        cache_bytes = sum(cache.key.nbytes + cache.value.nbytes for cache in llm.caches)
        return Run([output.outputs[0].token_ids for output in outputs], seconds, cpu_s, first_token_s, cache_bytes)

    return serve


def attention_for(model: Model) -> str:
    """The attention backend that belongs to the linear layers of `model`: C beside C, torch beside torch."""
    return "native" if model.linear == "native" else "gather"
