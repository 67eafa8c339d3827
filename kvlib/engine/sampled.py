"""A request for one answer or several, each sampled by itself: greedy and parallel sampling."""

from dataclasses import replace

from torch import Tensor

from kvlib.engine.answer import Answer
from kvlib.engine.generation import Generation
from kvlib.engine.outputs import RequestOutput
from kvlib.engine.params import SamplingParams
from kvlib.engine.prompt_logprobs import PromptLogprobs
from kvlib.engine.prompts import Prompt
from kvlib.models.tokenizer import Tokenizer


class SampledGeneration(Generation):
    """`params.n` answers to one prompt. `room` tokens of each fit in context and memory."""

    def __init__(self, prompt: Prompt, params: SamplingParams, tokenizer: Tokenizer, room: int) -> None:
        super().__init__(prompt, params.n, room if params.max_tokens is None else min(params.max_tokens, room))
        self._answers = [
            Answer(index, prompt.token_ids, params, tokenizer, self.max_tokens) for index in range(params.n)
        ]
        self.branches: list[Answer] = list(self._answers)
        if params.prompt_logprobs is not None:
            self.prompt_logprobs = PromptLogprobs(prompt.token_ids, params.prompt_logprobs, tokenizer)
            self.reads_cache = False  # what is found in the cache has no logits

    def advance(self, rows: dict[str, Tensor]) -> list[Answer]:
        """As Generation.advance: every answer whose sequence has logits chooses a token from them."""
        self.has_news = True
        self.metrics.got_token()
        chosen = [answer for answer in self.branches if answer.seq_id in rows]
        for answer in chosen:
            answer.choose(rows[answer.seq_id])
        self.branches = [answer for answer in self.branches if answer.finish_reason is None]
        if not self.branches:
            self._finish(chosen[-1].finish_reason or "")
        return chosen

    def abort(self) -> None:
        """End every answer that has not ended."""
        for answer in self.branches:
            answer.end("abort")
        self._finish("abort")

    def output(self) -> RequestOutput:
        """The request as it stands."""
        return RequestOutput(
            self.request_id,
            self.prompt.text,
            list(self.prompt.token_ids),
            [answer.output() for answer in self._answers],
            self.finished,
            prompt_logprobs=None if self.prompt_logprobs is None else self.prompt_logprobs.entries(),
            num_cached_tokens=self.num_cached_tokens,
            metrics=replace(self.metrics),
        )
