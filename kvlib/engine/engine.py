"""The engine's loop: the scheduler decides, the manager gives memory, the worker computes, a token is chosen."""

from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

from torch import Tensor

from kvlib.attention import LayerCache
from kvlib.engine.allocation import allocate
from kvlib.engine.generation import Generation
from kvlib.engine.model import Model, load
from kvlib.engine.outputs import RequestOutput
from kvlib.engine.params import SamplingParams
from kvlib.engine.prompts import Prompt, read_params, read_prompt
from kvlib.engine.request_ids import read_request_id, read_request_ids
from kvlib.engine.settings import check_settings
from kvlib.engine.worker import Chunk, Worker
from kvlib.errors import BadInput, RequestTooLarge, UnknownSequence
from kvlib.events import EventLog
from kvlib.memory import BlockManager, RecordedBlockManager
from kvlib.serving.request import Request, Work
from kvlib.serving.scheduler import Scheduler


class LLMEngine:
    """Requests under ids of the caller's, worked on one token at a time, with the calls of vLLM's LLMEngine.

    `model` is a GGUF file, a loaded `Model` to share its weights, or None for SmolLM2-135M-Instruct. Its keys and
    values live in `num_blocks` blocks of `block_size` tokens. At most `max_num_seqs` requests run at once, and a
    step computes at most `max_num_batched_tokens` tokens, or one prompt that is longer. `attention_backend` is one
    of `kvlib.attention.backends`. `log` receives what happens to the memory, and the text of every token.
    Raises BadConfig for a setting that is not so or a cache that memory cannot hold, and what `load` raises.

    An answer ends for "length" where the whole pool could not hold one more token of it, as vLLM's does at
    max_model_len; a prompt that does not fit the empty pool is refused on arrival.
    """

    def __init__(
        self,
        model: Model | str | Path | None = None,
        *,
        block_size: int = 16,
        num_blocks: int = 256,
        max_num_seqs: int = 256,
        max_num_batched_tokens: int = 2048,
        attention_backend: str = "gather",
        log: EventLog | None = None,
    ) -> None:
        check_settings(
            attention_backend,
            log,
            block_size=block_size,
            num_blocks=num_blocks,
            max_num_seqs=max_num_seqs,
            max_num_batched_tokens=max_num_batched_tokens,
        )
        self.model = model if isinstance(model, Model) else load(model)
        self.tokenizer = self.model.tokenizer
        caches = allocate(self.model.decoder.config, num_blocks, block_size)
        if log is None:
            self.manager = BlockManager(num_blocks, block_size)
        else:
            self.manager = RecordedBlockManager(num_blocks, block_size, log)
        self.scheduler = Scheduler(
            self.manager, max_num_seqs=max_num_seqs, max_num_batched_tokens=max_num_batched_tokens, log=log
        )
        self.log = log
        self._worker = Worker(self.model.decoder, self.manager, caches, attention_backend)
        self._numbers = count()  # ids for requests that come without one
        self._live: dict[str, Generation] = {}  # waiting or running
        self._added: dict[str, Generation] = {}  # by add_request, and not yet reported to the end

    @property
    def caches(self) -> list[LayerCache]:
        """The (key_cache, value_cache) of each layer, as `kvlib.attention.new_cache` makes them. Only to be read."""
        return self._worker.caches

    def add_request(self, request_id: str, prompt: Any, params: SamplingParams | None = None) -> None:
        """Queue one prompt in any of the forms that LLM.generate takes.

        Raises BadInput or RequestTooLarge, and BadInput for an id that is not a text or is in use.
        """
        if read_request_id(request_id) in self._added or request_id in self._live:
            raise BadInput(f"request id {request_id!r} is in use; choose another, or step until it has ended")
        generation = self._prepare(read_prompt(prompt, self.model), *read_params(params, 1))
        self._queue(generation, request_id)
        self._added[request_id] = generation

    def step(self) -> list[RequestOutput]:
        """Compute one token of every running request; returns the added requests that have changed, each whole.

        An exception that ends a step, an interrupt for instance, drops every request that was running. The next step
        returns those of them that were added here, with finish_reason "abort".
        """
        if self._live:
            self._advance()
        changed = [generation for generation in self._added.values() if generation.has_news]
        self._added = {name: generation for name, generation in self._added.items() if not generation.finished}
        return [generation.output() for generation in changed]

    def has_unfinished_requests(self) -> bool:
        """Whether step still has something to tell of the added requests."""
        return bool(self._added)

    def abort_request(self, request_id: str | Iterable[str]) -> None:
        """Drop a waiting or running request, or several, and free their blocks; step says nothing more of them.

        Raises UnknownSequence, and drops none, if one of them neither waits nor runs.
        """
        names = read_request_ids(request_id)
        for name in names:
            if name not in self._live:
                raise UnknownSequence(f"no request {name!r} waits or runs; it may have finished already")
        for name in names:
            self._drop(name)
            self._added.pop(name, None)

    def _prepare(self, prompt: Prompt, params: SamplingParams) -> Generation:
        """Check that the request can run to its end here; nothing is changed yet."""
        num_tokens = len(prompt.token_ids)
        try:
            self.manager.check_fits(num_tokens)
        except RequestTooLarge as error:
            raise RequestTooLarge(f"{prompt.name} is too long for the pool: {error}") from None
        num_slots = self.manager.pool.num_blocks * self.manager.block_size
        room = min(self.model.decoder.config.context_length, num_slots + 1) - num_tokens  # the last token needs no slot
        return Generation(prompt, params, self.tokenizer, room)

    def _unused_id(self) -> str:
        """A number that no request has. Only a request that is queued at once may take it."""
        logged = self.log.texts if self.log is not None else ()
        taken = (self._live, self._added, logged)
        return next(name for name in map(str, self._numbers) if not any(name in names for names in taken))

    def _queue(self, generation: Generation, request_id: str) -> None:
        prompt = generation.prompt.token_ids
        generation.request_id = request_id
        self.scheduler.add(Request(request_id, len(prompt), generation.max_tokens))
        self._live[request_id] = generation
        self._say(generation, prompt)

    def _drop(self, request_id: str) -> None:
        self.scheduler.abort(request_id)
        self._live.pop(request_id).abort()

    def _advance(self) -> None:
        """One iteration. An exception in it drops the running requests, whose memory may be half written."""
        try:
            step = self.scheduler.schedule()
            work = [*step.prefills, *step.decodes]
            logits = self._worker.run([self._chunk(each) for each in work], step.copies)  # [num_chunks, vocab]
            self.scheduler.computed(step)
            for each, row in zip(work, logits, strict=True):
                self._extend(each, row)
        except BaseException:
            for request in list(self.scheduler.running):
                self._drop(request.request_id)
            raise

    def _chunk(self, work: Work) -> Chunk:
        generation = self._live[work.request.request_id]
        known = generation.prompt.token_ids + generation.token_ids
        return Chunk(work.sequence.seq_id, work.start, known[work.start : work.stop])

    def _extend(self, work: Work, logits: Tensor) -> None:
        request = work.request
        generation = self._live[request.request_id]
        token = generation.choose(logits)
        work.sequence.append()
        self._say(generation, [token])
        if generation.finish_reason is not None:
            self.scheduler.finish(request, generation.finish_reason)
            del self._live[request.request_id]

    def _say(self, generation: Generation, token_ids: list[int]) -> None:
        if self.log is not None:
            self.log.say(generation.request_id, self.tokenizer.pieces(token_ids))
