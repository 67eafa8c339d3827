"""The engine: requests under ids of the caller's, worked on one step at a time."""

from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

import torch

from kvlib.attention import LayerCache
from kvlib.engine.allocation import allocate
from kvlib.engine.beam_generation import BeamGeneration
from kvlib.engine.beam_params import BeamSearchParams
from kvlib.engine.blocks import check_loaded, check_log, keys_of, manager_of
from kvlib.engine.decoders import Decoders
from kvlib.engine.generation import Generation
from kvlib.engine.loop import Loop
from kvlib.engine.outputs import RequestOutput
from kvlib.engine.params import SamplingParams
from kvlib.engine.prefixes import Prefixes
from kvlib.engine.prompts import Prompt, read_params, read_prompt
from kvlib.engine.request_ids import read_request_id, read_request_ids
from kvlib.engine.room import room_for
from kvlib.engine.sampled import SampledGeneration
from kvlib.engine.settings import Settings
from kvlib.engine.worker import Worker
from kvlib.errors import BadInput, BlocksInUse, UnknownSequence
from kvlib.events import EventLog
from kvlib.models.adapters import LoRARequest
from kvlib.models.model import Model, load
from kvlib.serving.scheduler import Scheduler


class LLMEngine:
    """A model on a paged cache, with the calls of vLLM's LLMEngine.

    `model` is a loaded `Model` to share its weights, what `load` takes (a GGUF file, a folder, a name on the hub), or
    None for SmolLM2-135M-Instruct. `log` receives what happens to the memory, and the text of every token. All else
    are the fields of `Settings`. Raises BadConfig for a setting that is not so or a cache that memory cannot hold, and
    what `load` raises.

    An answer ends for "length" where the whole pool could not hold one more token of it, as vLLM's does at
    max_model_len; a prompt that does not fit the empty pool is refused on arrival.

    The same request gives the same tokens whatever else is in the batch, as far as floating point allows: the form
    "native" of linear layers with the attention "native" computes each row alike in any company. torch's products
    round by the number of rows, so that two likeliest tokens closer than about 1e-4 may change places.
    """

    def __init__(
        self, model: Model | str | Path | None = None, *, log: EventLog | None = None, **settings: Any
    ) -> None:
        self.settings = chosen = Settings(**settings)
        check_log(chosen, log)
        if not isinstance(model, Model):
            model = load(model, chosen.linear, device=chosen.device, dtype=chosen.dtype)
        check_loaded(chosen, model)
        self.model = model
        self.tokenizer = self.model.tokenizer
        allocated = allocate(self.model, chosen)
        self.attention_backend = allocated.backend
        self.log = log
        self.manager = manager_of(chosen, log)
        self.scheduler = Scheduler(
            self.manager,
            max_num_seqs=chosen.max_num_seqs,
            max_num_batched_tokens=chosen.max_num_batched_tokens,
            chunked_prefill=chosen.enable_chunked_prefill,
            preemption=chosen.preemption,
            log=log,
        )
        self._decoders = Decoders(self.model)
        self._worker = Worker(self._decoders, self.manager, allocated)
        self._loop = Loop(self.scheduler, self._worker, Prefixes(keys_of(chosen)), self.tokenizer)
        self._numbers = count()  # ids for requests that come without one
        self._added: dict[str, Generation] = {}  # by add_request, and not yet reported to the end

    @property
    def caches(self) -> list[LayerCache]:
        """The keys and values of each layer, as `kvlib.attention.new_cache` makes them. Only to be read."""
        return self._worker.caches

    @property
    def device(self) -> torch.device:
        """Where weights and cache lie."""
        return self.model.decoder.device

    @property
    def linear(self) -> str:
        """The form of the linear layers in use, one of kvlib.models.linear.FORMS."""
        return self.model.linear

    def add_request(
        self,
        request_id: str,
        prompt: Any,
        params: SamplingParams | None = None,
        *,
        lora_request: LoRARequest | None = None,
    ) -> None:
        """Queue one prompt, in any form in which LLM.generate takes one, for the model with an adapter or without.

        Raises BadInput or RequestTooLarge, and BadInput for an id that is not a text or is in use.
        """
        if read_request_id(request_id) in self._added or request_id in self._loop.live:
            raise BadInput(f"request id {request_id!r} is in use; choose another, or step until it has ended")
        [adapter_id] = self._decoders.read(lora_request, 1)
        [read] = read_params(params, 1)
        generation = self._sampled(read_prompt(prompt, self.model), read, adapter_id)
        self._loop.queue(generation, request_id)
        self._added[request_id] = generation

    def step(self) -> list[RequestOutput]:
        """Compute one token of every running request; returns the added requests that have changed, each whole.

        An exception that ends a step, an interrupt for instance, drops every request that was running. The next step
        returns those of them that were added here, with finish_reason "abort".
        """
        if self._loop.live:
            self._loop.turn()
        changed = [generation for generation in self._added.values() if generation.has_news]
        outputs = [generation.output() for generation in changed]
        for generation in changed:
            generation.has_news = False
        self._added = {name: generation for name, generation in self._added.items() if not generation.finished}
        return outputs

    def has_unfinished_requests(self) -> bool:
        """Whether step still has something to tell of the added requests."""
        return bool(self._added)

    def abort_request(self, request_id: str | Iterable[str]) -> None:
        """Drop a waiting or running request, or several, and free their blocks; step says nothing more of them.

        Raises UnknownSequence, and drops none, if one of them neither waits nor runs.
        """
        names = read_request_ids(request_id)
        for name in names:
            if name not in self._loop.live:
                raise UnknownSequence(f"no request {name!r} waits or runs; it may have finished already")
        for name in names:
            self._loop.drop(name)
            self._added.pop(name, None)

    def reset_prefix_cache(self) -> None:
        """Forget every cached block. Raises BlocksInUse while a request holds any."""
        try:
            self.manager.reset_cache()
        except BlocksInUse as error:
            raise BlocksInUse(f"{error}; finish or abort the requests that run, and close their streams") from None

    def _sampled(self, prompt: Prompt, params: SamplingParams, adapter_id: int) -> SampledGeneration:
        """Check that the request can run to its end here; nothing is changed yet."""
        params.check_vocabulary(self.model.decoder.config.vocab_size, self.tokenizer.end_ids)
        room = room_for(prompt, params.n, self.manager, self.scheduler.max_num_seqs, self._context_length)
        generation = SampledGeneration(prompt, params, self.tokenizer, room)
        generation.adapter_id = adapter_id
        return generation

    def _beams(self, prompt: Prompt, params: BeamSearchParams, adapter_id: int) -> BeamGeneration:
        room = room_for(prompt, params.beam_width, self.manager, self.scheduler.max_num_seqs, self._context_length)
        generation = BeamGeneration(prompt, params, self.tokenizer, room)
        generation.adapter_id = adapter_id
        return generation

    @property
    def _context_length(self) -> int:
        return self.model.decoder.config.context_length

    def _unused_id(self) -> str:
        """A number that no request has. Only a request that is queued at once may take it."""
        logged = self.log.texts if self.log is not None else ()
        return next(name for name in map(str, self._numbers) if name not in self._added and name not in logged)
