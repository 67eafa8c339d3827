"""Hugging Face transformers as contenders: `generate` on padded batches, and its own continuous batching."""

import time
from collections.abc import Sequence
from typing import Any

import torch

from kvlib.bench.contenders import BLOCK_SIZE, MAX_BATCH_TOKENS, NUM_BLOCKS, Run, Serve, Stopwatch
from kvlib.bench.mixed import Wanted
from kvlib.engine import packaged_model
from kvlib.errors import KvlibError, MissingPackage

try:
    from transformers import (
        AutoModelForCausalLM,
        ContinuousBatchingConfig,
        GenerationConfig,
        StoppingCriteria,
        StoppingCriteriaList,
    )
    from transformers.utils import logging
except ImportError as error:
    raise MissingPackage(
        f'the comparison needs transformers ({error}); run: pip install "transformers>=5.20" "accelerate>=1.10", or '
        "leave it out with --without-transformers"
    ) from error

BATCH_SIZE = 8  # of generate
PAGE_SIZE = 32  # tokens of a page of continuous batching
NO_TOKEN = -1  # a stop id that never comes


def load_rival() -> Any:
    """SmolLM2-135M-Instruct as transformers reads the same file, float32; it takes about half a minute."""
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    path = packaged_model()
    return AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)


class _FirstToken(StoppingCriteria):
    """Stops nothing; keeps when it was asked first."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        self.time = self.time or time.perf_counter()
        return torch.zeros(len(input_ids), dtype=torch.bool)


def padded_batches(model: Any) -> Serve:
    """transformers' generate, BATCH_SIZE prompts at a time, padded on the left; each batch runs to its longest answer,
    of which every request gets the tokens it wants."""

    @torch.inference_mode()
    def serve(workload: Sequence[Wanted]) -> Run:
        tokens: list[list[int]] = []
        first_token_s: list[float] = []
        cache_bytes = 0
        watch = Stopwatch()
        for begin in range(0, len(workload), BATCH_SIZE):
            batch = workload[begin : begin + BATCH_SIZE]
            width = max(len(wanted.prompt) for wanted in batch)
            padding = [width - len(wanted.prompt) for wanted in batch]
            first = _FirstToken()
            output = model.generate(
                torch.tensor([[0] * pad + wanted.prompt for pad, wanted in zip(padding, batch)]),
                attention_mask=torch.tensor([[0] * pad + [1] * (width - pad) for pad in padding]),
                generation_config=GenerationConfig(
                    do_sample=False,
                    max_new_tokens=max(wanted.num_tokens for wanted in batch),
                    eos_token_id=NO_TOKEN,
                    pad_token_id=0,
                    return_dict_in_generate=True,
                ),
                stopping_criteria=StoppingCriteriaList([first]),
            )
            tokens += [row[width : width + each.num_tokens].tolist() for row, each in zip(output.sequences, batch)]
            first_token_s += [first.time - watch.start] * len(batch)
            layers = output.past_key_values.layers
            cache_bytes = max(cache_bytes, sum(layer.keys.nbytes + layer.values.nbytes for layer in layers))
        return Run(tokens, *watch.read(), first_token_s, cache_bytes)

    return serve


def continuous_batching(model: Any) -> Serve:
    """transformers' own continuous batching, with memory and tokens a step as this package's engine has them."""
    num_pages = BLOCK_SIZE * NUM_BLOCKS // PAGE_SIZE

    def serve(workload: Sequence[Wanted]) -> Run:
        config = ContinuousBatchingConfig(
            page_size=PAGE_SIZE,
            num_blocks=num_pages,
            max_batch_tokens=MAX_BATCH_TOKENS,
            max_requests_per_batch=len(workload),
            allow_block_sharing=False,
        )
        greedy = GenerationConfig(do_sample=False, eos_token_id=NO_TOKEN, pad_token_id=0)
        results: dict[int, Any] = {}
        with model.continuous_batching_context_manager(greedy, continuous_batching_config=config) as manager:
            watch = Stopwatch()
            for number, wanted in enumerate(workload):
                manager.add_request(
                    wanted.prompt, str(number), max_new_tokens=wanted.num_tokens, record_timestamps=True
                )
            while len(results) < len(workload):
                result = manager.get_result(timeout=1)
                if result is not None and result.is_finished():
                    results[int(result.request_id)] = result
                elif not manager.is_running():
                    raise KvlibError("transformers' continuous batching has ended before its requests; see above")
            seconds, cpu_s = watch.read()
        in_order = [results[number] for number in range(len(workload))]
        return Run(
            [result.generated_tokens for result in in_order],
            seconds,
            cpu_s,
            [result.timestamps[0] - watch.start for result in in_order],
            num_pages * PAGE_SIZE * _token_bytes(model),
        )

    return serve


def _token_bytes(model: Any) -> int:
    config = model.config
    head_size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return 2 * config.num_hidden_layers * config.num_key_value_heads * head_size * model.dtype.itemsize
