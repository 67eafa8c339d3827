"""The engine's loop: the scheduler decides, the manager gives memory, the worker computes, tokens are chosen."""

from collections.abc import Sequence
from itertools import count

import torch
from torch import Tensor

from kvlib.engine.generation import Branch, Generation
from kvlib.engine.prefixes import Prefixes, known
from kvlib.engine.uninterrupted import Uninterrupted
from kvlib.engine.worker import Chunk, Worker
from kvlib.models.tokenizer import Tokenizer
from kvlib.serving.request import Request, Work
from kvlib.serving.scheduler import Scheduler


class Loop:
    """Generations that wait or run, `live`, by the ids of their requests. It knows nothing of how tokens are chosen."""

    def __init__(self, scheduler: Scheduler, worker: Worker, prefixes: Prefixes, tokenizer: Tokenizer) -> None:
        self.live: dict[str, Generation] = {}
        self._scheduler = scheduler
        self._worker = worker
        self._prefixes = prefixes
        self._tokenizer = tokenizer

    def queue(self, generation: Generation, request_id: str) -> None:
        """Let a request wait for its turn. Raises what Scheduler.add raises."""
        prompt = generation.prompt
        keys = self._prefixes.of_prompt(prompt.token_ids, generation.extra_keys)
        request = Request(
            request_id,
            len(prompt.token_ids),
            generation.max_tokens,
            num_sequences=generation.num_sequences,
            keys=known(keys),
            reads_cache=generation.reads_cache,
        )
        with Uninterrupted():
            self._scheduler.add(request)
            self._prefixes.add(request_id, keys)
            generation.start(request_id)
            self.live[request_id] = generation
        self._say(request_id, prompt.token_ids)

    def drop(self, request_id: str) -> None:
        """End a request that waits or runs. Raises UnknownSequence if it does neither."""
        seq_ids = self._scheduler.seq_ids(request_id)
        self._scheduler.abort(request_id)
        for seq_id in seq_ids:
            self._prefixes.drop(seq_id)
        generation = self.live.pop(request_id, None)
        if generation is not None:
            generation.abort()

    def turn(self) -> None:
        """One iteration. An exception drops all requests that hold memory, here or on the host: it may be half written.

        An interrupt is held back but for the time that the model computes, so that the bookkeeping stays whole.
        """
        with Uninterrupted() as interrupts:
            try:
                step = self._scheduler.schedule()
                self._worker.move(step)
                work = [*step.prefills, *step.decodes]
                chunks = [self._chunk(each) for each in work]
                with interrupts.allowed():
                    hidden = self._worker.compute(chunks) if chunks else []
                self._scheduler.computed(step)
                self._grow(work, hidden)
            except BaseException:
                for request in self._scheduler.held():
                    self.drop(request.request_id)
                self._scheduler.free_unowned()
                self._prefixes.keep(self._scheduler)
                raise

    def _chunk(self, work: Work) -> Chunk:
        generation = self.live[work.request.request_id]
        seq_id = work.sequence.seq_id
        if generation.num_cached_tokens is None:
            generation.num_cached_tokens = work.start
            generation.metrics.scheduled()
        return Chunk(seq_id, work.start, generation.tokens(seq_id, work.start, work.stop), generation.adapter_id)

    def _grow(self, work: list[Work], hidden: list[Tensor]) -> None:
        for each, states in zip(work, hidden, strict=True):
            generation = self.live[each.request.request_id]
            if generation.prompt_logprobs is not None:
                generation.prompt_logprobs.add(each.start, states, self._worker.logits)
        telling = [(each, states[-1]) for each, states in zip(work, hidden) if each.gives_token]
        if not telling:
            return
        logits = self._worker.logits(torch.stack([last for _, last in telling]))  # [sequences, vocab]
        rows: dict[Request, dict[str, Tensor]] = {}
        for (each, _), row in zip(telling, logits):
            rows.setdefault(each.request, {})[each.sequence.seq_id] = row
        for request, of_request in rows.items():
            self._extend(request, of_request)

    def _extend(self, request: Request, rows: dict[str, Tensor]) -> None:
        """Let a request's branches grow, and its sequences follow them."""
        generation = self.live[request.request_id]
        seq_ids = list(request.seq_ids)
        grown = generation.advance(rows)
        going = [branch for branch in grown if branch in generation.branches]
        named = {branch.seq_id for branch in generation.branches}
        ended = {branch.seq_id: branch for branch in grown if branch.seq_id not in named}
        for seq_id, branch in ended.items():
            self._say(seq_id, branch.token_ids[-1:])
        if generation.finish_reason is not None:
            del self.live[request.request_id]
            self._scheduler.finish(request, generation.finish_reason)
        for seq_id in seq_ids:
            if seq_id not in named:
                self._prefixes.drop(seq_id)
                if generation.branches:
                    self._scheduler.drop(request, seq_id)
        self._fork(request, going)
        for branch in going:
            self._prefixes.extend(branch.seq_id, branch.token_ids[-1])
            request.sequence(branch.seq_id).append()
            self._say(branch.seq_id, branch.token_ids[-1:])

    def _fork(self, request: Request, branches: Sequence[Branch]) -> None:
        """Give each branch a sequence of its own: the first that names one keeps it, the others get forks of it."""
        taken: set[str] = set()
        for branch in branches:
            parent_id = branch.seq_id
            if parent_id in taken:
                branch.seq_id = self._unused_id(request.request_id)
                keys = self._prefixes.of_fork(parent_id)
                self._scheduler.fork(request, parent_id, branch.seq_id, known(keys))
                self._prefixes.add(branch.seq_id, keys)
                if self._scheduler.log is not None:
                    self._scheduler.log.say(branch.seq_id, self._scheduler.log.texts[parent_id])
            taken.add(branch.seq_id)

    def _unused_id(self, request_id: str) -> str:
        log = self._scheduler.log
        names = (f"{request_id}/{number}" for number in count(1))
        return next(name for name in names if name not in self._scheduler and (log is None or name not in log.texts))

    def _say(self, seq_id: str, token_ids: list[int]) -> None:
        if self._scheduler.log is not None:
            self._scheduler.log.say(seq_id, self._tokenizer.pieces(token_ids))
