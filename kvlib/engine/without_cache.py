"""What a model does that keeps nothing: every token of the text computed again for each new one."""

from collections.abc import Iterator
from typing import Any

import torch

from kvlib.engine.outputs import RequestOutput
from kvlib.engine.params import SamplingParams
from kvlib.engine.prompts import read_params, read_prompt
from kvlib.engine.sampled import SampledGeneration
from kvlib.errors import BadInput
from kvlib.models.attending import NoCache
from kvlib.models.model import Model


def stream_without_cache(
    model: Model, prompt: Any, sampling_params: SamplingParams | None = None
) -> Iterator[RequestOutput]:
    """As LLM.stream for one prompt, without a cache: step n costs as much as a prompt of n tokens.

    Errors are those of LLM.stream, but for the pool, which does not exist here.
    """
    read, [params] = read_prompt(prompt, model), read_params(sampling_params, 1)
    if params.n > 1 or params.prompt_logprobs is not None:
        raise BadInput(
            "without a cache there is one answer, and nothing about the prompt: give n=1 and no prompt_logprobs"
        )
    params.check_vocabulary(model.decoder.config.vocab_size, model.tokenizer.end_ids)
    room = model.decoder.config.context_length - len(read.token_ids)
    return _steps(model, SampledGeneration(read, params, model.tokenizer, room))


def generate_without_cache(model: Model, prompt: Any, sampling_params: SamplingParams | None = None) -> RequestOutput:
    """As LLM.generate for one prompt, without a cache."""
    *_, last = stream_without_cache(model, prompt, sampling_params)
    return last


@torch.inference_mode()
def _steps(model: Model, generation: SampledGeneration) -> Iterator[RequestOutput]:
    known, decoder = list(generation.prompt.token_ids), model.decoder
    while not generation.finished:
        token_ids = torch.tensor(known, device=decoder.device)  # [T], one more each time
        positions = torch.arange(len(known), device=decoder.device)  # [T]
        hidden = decoder.forward(token_ids, positions, NoCache())  # [T, hidden]
        [answer] = generation.advance({"": decoder.logits(hidden[-1:])[0].cpu()})
        known.append(answer.token_ids[-1])
        yield generation.output()
