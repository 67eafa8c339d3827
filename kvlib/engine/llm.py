"""Text from prompts in one call."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kvlib.engine.beam_params import BeamSearchParams
from kvlib.engine.engine import LLMEngine
from kvlib.engine.generation import Generation
from kvlib.engine.outputs import BeamSearchOutput, RequestOutput
from kvlib.engine.params import SamplingParams
from kvlib.engine.progress import progress
from kvlib.engine.prompts import read_beam_params, read_params, read_prompts
from kvlib.models.adapters import LoRARequest
from kvlib.models.chat import Message

Params = SamplingParams | Sequence[SamplingParams] | None
Adapters = LoRARequest | Sequence[LoRARequest | None] | None


class LLM(LLMEngine):
    """A model that writes text: `LLM().generate(prompts, SamplingParams(...))`, with vLLM's names and meanings.

    The arguments are LLMEngine's: a model, a log, and the settings that `kvlib.engine.Settings` lists. A prompt is a
    text, a list of token ids, {"prompt": text} or {"prompt_token_ids": ids}, perhaps with a text beside the ids and
    with a "cache_salt"; a call takes one or a list of them. Everything is checked before anything is queued: one bad
    prompt refuses the whole call.

    Of vLLM's methods there are generate, beam_search and chat; stream is this package's own.
    """

    def generate(
        self, prompts: Any, sampling_params: Params = None, *, lora_request: Adapters = None, use_tqdm: bool = True
    ) -> list[RequestOutput]:
        """All answers, in the order of the prompts. `sampling_params` is one for all, or a list with one for each, and
        so is `lora_request`: the adapter to use.

        With `use_tqdm` a call that takes long shows on stderr how far it is. Raises BadInput or RequestTooLarge, naming
        the prompt. However the call ends, its blocks are free again.
        """
        return self._run(self._prepare_all(prompts, sampling_params, lora_request), use_tqdm)

    def stream(
        self, prompts: Any, sampling_params: Params = None, *, lora_request: Adapters = None
    ) -> Iterator[RequestOutput]:
        """As generate, but yields a request, whole so far, each time it has grown by a token.

        Work begins when the first output is asked for; closing the iterator drops what is unfinished.
        """
        generations = self._prepare_all(prompts, sampling_params, lora_request)
        return (generation.output() for generation in self._follow(generations))

    def beam_search(
        self, prompts: Any, params: BeamSearchParams, *, lora_request: Adapters = None, use_tqdm: bool = True
    ) -> list[BeamSearchOutput]:
        """The `params.beam_width` likeliest continuations of each prompt that beam search finds, the best first.

        The beams of a prompt share the blocks of what they have in common. Errors are those of generate.
        """
        checked, read = read_beam_params(params, self.model), read_prompts(prompts, self.model)
        adapters = self._decoders.read(lora_request, len(read))
        generations = [self._beams(prompt, checked, adapter) for prompt, adapter in zip(read, adapters)]
        return self._run(generations, use_tqdm)

    def chat(
        self,
        messages: Iterable[Message],
        sampling_params: Params = None,
        *,
        lora_request: LoRARequest | None = None,
        use_tqdm: bool = True,
    ) -> list[RequestOutput]:
        """The answer to a conversation: a list of {"role": "system", "user" or "assistant", "content": text}."""
        text = self.tokenizer.apply_chat_template(messages)
        token_ids = self.tokenizer.encode(text, add_special_tokens=False)  # the template writes the first token itself
        prompt = {"prompt": text, "prompt_token_ids": token_ids}
        return self.generate(prompt, sampling_params, lora_request=lora_request, use_tqdm=use_tqdm)

    def _prepare_all(self, prompts: Any, sampling_params: Params, lora_request: Adapters) -> list[Generation]:
        read = read_prompts(prompts, self.model)
        params, adapters = read_params(sampling_params, len(read)), self._decoders.read(lora_request, len(read))
        return [self._sampled(*each) for each in zip(read, params, adapters)]

    def _run(self, generations: Sequence[Generation], use_tqdm: bool) -> list[Any]:
        with progress(sum(generation.max_tokens for generation in generations), use_tqdm) as bar:
            for _ in self._follow(generations):
                bar.update()
        return [generation.output() for generation in generations]

    def _follow(self, generations: Sequence[Generation]) -> Iterator[Generation]:
        """Step until all have ended and all they had to tell is told; yields each that has something to tell."""
        try:
            for generation in generations:
                self._loop.queue(generation, self._unused_id())
            pending = list(generations)
            while pending:
                changed = [generation for generation in pending if generation.has_news]
                if not changed:
                    self._loop.turn()
                for generation in changed:
                    generation.has_news = False
                    yield generation
                pending = [generation for generation in pending if generation.has_news or not generation.finished]
        finally:
            for generation in generations:
                if self._loop.live.get(generation.request_id) is generation:
                    self.abort_request(generation.request_id)
