"""First come, first served: which requests run in the next iteration, and who yields when memory is short."""

from kvlib.checks import whole
from kvlib.errors import BadConfig
from kvlib.events import EventLog
from kvlib.memory import NULL_BLOCK, BlockManager
from kvlib.memory.hits import HitCounter
from kvlib.memory.swap import SwapBlockManager
from kvlib.serving.queues import RequestQueues
from kvlib.serving.request import Request, Sequence, Step, Work

PREEMPTIONS = ("recompute", "swap")


class Scheduler(RequestQueues):
    """Continuous batching over one block manager (Kwon et al., section 4.5; vLLM's scheduler).

    At most `max_num_seqs` sequences run at once. `max_num_batched_tokens` bounds the tokens of one iteration: with
    `chunked_prefill` a prompt is computed in pieces that fit, without it a prompt longer than that runs alone. Who
    decodes is never held back.
    Memory is given to whole sequences at once, so that no two can wait for each other's blocks.

    When memory is short the request that came last yields, with all its blocks, and is the first to return; while
    somebody yields nobody is admitted. With `preemption` "recompute" its blocks are dropped and computed again, with
    "swap" they wait on the host, if there is room for all of them.

    One turn: `schedule`, do what the step says, `computed`, then tell each sequence its new token by `append`.
    """

    def __init__(
        self,
        manager: BlockManager,
        *,
        max_num_seqs: int = 256,
        max_num_batched_tokens: int = 2048,
        chunked_prefill: bool = False,
        preemption: str = "recompute",
        log: EventLog | None = None,
    ) -> None:
        if not isinstance(manager, BlockManager):
            raise BadConfig(f"manager is {manager!r}; give a BlockManager or one of its kind")
        if not isinstance(chunked_prefill, bool):
            raise BadConfig(f"chunked_prefill is {chunked_prefill!r}; give True or False")
        if preemption not in PREEMPTIONS:
            raise BadConfig(f"preemption is {preemption!r}; choose one of {', '.join(PREEMPTIONS)}")
        if preemption == "swap" and not (isinstance(manager, SwapBlockManager) and manager.host_pool.num_blocks):
            raise BadConfig("preemption is 'swap', which needs blocks on the host; give a SwapBlockManager with some")
        super().__init__(manager, max_num_seqs, log)
        self.max_num_batched_tokens = whole("max_num_batched_tokens", max_num_batched_tokens)
        self.chunked_prefill = chunked_prefill
        self.hits = HitCounter()
        self._host = manager if preemption == "swap" and isinstance(manager, SwapBlockManager) else None

    def schedule(self) -> Step:
        """Decide the next iteration and give every position in it a slot."""
        if self.log is not None:
            self.log.next_step()
        step = Step()
        self._continue_running(step)
        if not step.preempted:
            self._admit(step)
        return step

    def computed(self, step: Step) -> None:
        """The step is done: its keys and values are in the cache, and full blocks can be found from now on."""
        for work in step.prefills + step.decodes:
            sequence, start, stop = work.sequence, work.start, work.stop
            owner = self._owners.get(sequence.seq_id)
            if owner is None or owner is not work.request or sequence not in owner.sequences:
                continue  # ended while it was computed
            sequence.num_computed = stop
            num_full = stop // self.manager.block_size
            if num_full > start // self.manager.block_size:
                self.manager.publish(sequence.seq_id, list(sequence.keys[:num_full]))

    def _continue_running(self, step: Step) -> None:
        half_computed = []
        place = 0
        while place < len(self.running):
            request = self.running[place]
            if self._is_half_computed(request):
                half_computed.append(request)
            elif self.manager.can_append([sequence.seq_id for sequence in request.growing]):
                self._decode(step, request)
            else:
                self._preempt_latest(step)  # perhaps the request itself, which then ends the loop
                continue
            place += 1
        for request in half_computed:
            self._prefill(step, request)

    def _is_half_computed(self, request: Request) -> bool:
        return any(self._num_stored(sequence) > sequence.num_computed for sequence in request.growing)

    def _decode(self, step: Step, request: Request) -> None:
        told = [sequence for sequence in request.growing if sequence.num_tokens > sequence.num_computed]
        copies = self.manager.append_each([sequence.seq_id for sequence in told])
        step.copies += [copy for copy in copies if copy]
        step.decodes += [Work(request, each, each.num_computed, each.num_tokens) for each in told]

    def _prefill(self, step: Step, request: Request) -> None:
        for sequence in request.growing:
            stop = self._num_stored(sequence)
            if self.chunked_prefill:
                stop = min(stop, sequence.num_computed + self._budget(step))
            if stop > sequence.num_computed:
                step.prefills.append(Work(request, sequence, sequence.num_computed, stop))

    def _budget(self, step: Step) -> int:
        used = len(step.decodes) + sum(work.stop - work.start for work in step.prefills)
        return max(0, self.max_num_batched_tokens - used)

    def _preempt_latest(self, step: Step) -> None:
        request = self.running.pop()
        request.num_preemptions += 1
        step.preempted.append(request)
        growing = [sequence.seq_id for sequence in request.growing]
        if self._host is not None and self._host.can_swap_out(growing):
            step.swap_outs += self._host.swap_out(growing)
            self.swapped.insert(0, request)
            how = "swap"
        else:
            self.waiting.insert(0, request)
            how = "recompute"
        for sequence in request.sequences:
            is_kept = how == "swap" and sequence.seq_id in growing  # what has all its tokens is not read again
            if not is_kept and sequence.seq_id in self.manager:
                sequence.num_computed = 0
                self.manager.free(sequence.seq_id)
        self._note("preempt", request, how=how)

    def _admit(self, step: Step) -> None:
        """Let the earliest in, while they fit. Who has yielded came earlier than anybody new."""
        num_running = sum(request.num_sequences for request in self.running)
        while queues := [queue for queue in (self.swapped, self.waiting) if queue]:
            queue = min(queues, key=lambda queue: queue[0].number)
            request = queue[0]
            num_running += request.num_sequences
            enter = self._swap_in if queue is self.swapped else self._give_memory
            if num_running > self.max_num_seqs or not enter(step, request):
                return
            self.running.append(queue.pop(0))

    def _swap_in(self, step: Step, request: Request) -> bool:
        growing = [sequence.seq_id for sequence in request.growing]
        if self._host is None or not self._host.can_swap_in(growing):
            return False
        step.swap_ins += self._host.swap_in(growing)
        work_on = self._prefill if self._is_half_computed(request) else self._decode
        work_on(step, request)
        return True

    def _give_memory(self, step: Step, request: Request) -> bool:
        if not request.growing:
            return True  # it has all its tokens and waits to be finished
        first, *others = request.growing
        keys = first.keys if request.reads_cache else ()
        hits = self.manager.cached_prefix(first.num_tokens, keys)
        if others and NULL_BLOCK in hits:  # out of the first one's sight, and in sight of what the others compute
            keys, hits = (), []
        num_shared = request.num_prompt_tokens // self.manager.block_size if others else 0
        num_more = sum(self.manager.blocks_for(other.num_tokens) - num_shared for other in others)
        num_tokens = sum(sequence.num_tokens for sequence in request.growing) - len(hits) * self.manager.block_size
        if not self._has_budget(step, num_tokens):
            return False
        if not self.manager.can_admit(first.num_tokens, keys, num_more_blocks=num_more):
            return False
        first.num_computed = self.manager.admit(first.seq_id, first.num_tokens, keys)
        for other in others:
            self._join(first, other, num_shared)
        if keys:
            self.hits.add(first.num_tokens, first.num_computed, resumed=request.num_preemptions > 0)
        self._prefill(step, request)
        return True

    def _join(self, first: Sequence, other: Sequence, num_shared: int) -> None:
        """Memory for `other`, which begins with the same `num_shared` full blocks as `first`."""
        self.manager.fork(first.seq_id, other.seq_id, num_shared)
        other.num_computed = num_shared * self.manager.block_size
        if other.num_tokens > other.num_computed:
            self.manager.append(other.seq_id, other.num_tokens - other.num_computed)

    def _has_budget(self, step: Step, num_tokens: int) -> bool:
        if self.chunked_prefill:
            return self._budget(step) > 0
        return num_tokens <= self._budget(step) or not (step.prefills or step.decodes)
