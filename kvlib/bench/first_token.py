"""Time to first token where requests share a long prefix: with prefix caching and without."""

from statistics import median
from typing import Any, NamedTuple

from kvlib.bench.contenders import attention_for
from kvlib.chance import Chance
from kvlib.engine import LLM, Model, SamplingParams

NUM_SHARED, NUM_OWN, NUM_REQUESTS = 400, 20, 8  # tokens, tokens, requests measured
SHARED, OWN = 1, 2  # streams of chance


class FirstToken(NamedTuple):
    """Medians in seconds over requests that come one after another, and the prompt tokens found in the cache."""

    cached_s: float
    uncached_s: float
    num_cached_tokens: int


def measure_first_token(model: Model, num_requests: int = NUM_REQUESTS, seed: int = 7) -> FirstToken:
    """Each request begins with the same NUM_SHARED tokens, which one request before them has left in the cache."""
    vocab_size = model.decoder.config.vocab_size
    shared, own = Chance(seed, SHARED), Chance(seed, OWN)
    prefix = [shared.below(vocab_size) for _ in range(NUM_SHARED)]
    caching, plain = (
        LLM(model, num_blocks=64, enable_prefix_caching=enabled, attention_backend=attention_for(model))
        for enabled in (True, False)
    )
    times: dict[LLM, list[float]] = {caching: [], plain: []}
    for number in range(num_requests + 1):
        prompt = prefix + [own.below(vocab_size) for _ in range(NUM_OWN)]
        for llm, seconds in times.items():
            output = _one_token(llm, prompt)
            if number:
                seconds.append(output.metrics.time_to_first_token)
            if llm is caching:
                num_cached = output.num_cached_tokens
    return FirstToken(median(times[caching]), median(times[plain]), num_cached)


def _one_token(llm: LLM, prompt: list[int]) -> Any:
    params = SamplingParams(temperature=0, max_tokens=1)
    return llm.generate({"prompt_token_ids": prompt}, params, use_tqdm=False)[0]
