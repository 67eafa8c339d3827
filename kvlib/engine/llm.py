"""Text from prompts in one call."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kvlib.engine.chat import Message
from kvlib.engine.engine import LLMEngine
from kvlib.engine.generation import Generation
from kvlib.engine.outputs import RequestOutput
from kvlib.engine.params import SamplingParams
from kvlib.engine.prompts import read_params, read_prompts

Params = SamplingParams | Sequence[SamplingParams] | None


class LLM(LLMEngine):
    """A model that writes text: `LLM().generate(prompts, SamplingParams(...))`, with vLLM's names and meanings.

    The arguments are LLMEngine's. A prompt is a text, a list of token ids, {"prompt": text} or
    {"prompt_token_ids": ids}, perhaps with a text beside the ids; a call takes one or a list of them. Everything
    is checked before anything is queued: one bad prompt refuses the whole call.

    Of vLLM's methods there are generate and chat, for one conversation; stream is this package's own.
    """

    def generate(self, prompts: Any, sampling_params: Params = None) -> list[RequestOutput]:
        """All answers, in the order of the prompts. `sampling_params` is one for all, or a list with one for each.

        Raises BadInput or RequestTooLarge, naming the prompt. However the call ends, its blocks are free again.
        """
        generations = self._prepare_all(prompts, sampling_params)
        for _ in self._follow(generations):
            pass
        return [generation.output() for generation in generations]

    def stream(self, prompts: Any, sampling_params: Params = None) -> Iterator[RequestOutput]:
        """As generate, but yields a request, whole so far, each time it has grown by a token.

        Work begins when the first output is asked for; closing the iterator drops what is unfinished.
        """
        return self._follow(self._prepare_all(prompts, sampling_params))

    def chat(self, messages: Iterable[Message], sampling_params: Params = None) -> list[RequestOutput]:
        """The answer to a conversation: a list of {"role": "system", "user" or "assistant", "content": text}."""
        return self.generate(self.tokenizer.apply_chat_template(messages), sampling_params)

    def _prepare_all(self, prompts: Any, sampling_params: Params) -> list[Generation]:
        read = read_prompts(prompts, self.model)
        return [self._prepare(prompt, params) for prompt, params in zip(read, read_params(sampling_params, len(read)))]

    def _follow(self, generations: list[Generation]) -> Iterator[RequestOutput]:
        """Step until all have ended and all they had to tell is told."""
        try:
            for generation in generations:
                self._queue(generation, self._unused_id())
            pending = generations
            while pending:
                changed = [generation for generation in pending if generation.has_news]
                if not changed:
                    self._advance()
                for generation in changed:
                    yield generation.output()
                pending = [generation for generation in pending if generation.has_news or not generation.finished]
        finally:
            for generation in generations:
                if self._live.get(generation.request_id) is generation:
                    self.abort_request(generation.request_id)
