"""First come, first served: which requests run in the next iteration, and who yields when memory is short."""

from collections import deque

from kvlib.checks import whole
from kvlib.errors import BadInput, OutOfBlocks, RequestTooLarge, UnknownSequence
from kvlib.events import EventLog
from kvlib.memory import BlockManager


class Request:
    """One sequence to be written: `num_prompt_tokens` given, up to `max_tokens` more to come."""

    __slots__ = ("max_tokens", "num_prompt_tokens", "num_tokens", "request_id")

    def __init__(self, request_id: str, num_prompt_tokens: int, max_tokens: int) -> None:
        self.request_id = request_id
        self.num_prompt_tokens = whole("num_prompt_tokens", num_prompt_tokens, 1, BadInput)
        self.max_tokens = whole("max_tokens", max_tokens, 1, BadInput)
        self.num_tokens = num_prompt_tokens  # known so far: the prompt and what was generated

    def append(self) -> None:
        """One more token of this request is known."""
        self.num_tokens += 1

    def __repr__(self) -> str:
        generated = self.num_tokens - self.num_prompt_tokens
        return f"Request({self.request_id!r}, {self.num_prompt_tokens} + {generated} tokens)"


class Step:
    """What one iteration does, all of it in one forward pass.

    `prefills` compute every known token of the request, `decodes` its newest token; all of them have their slots.
    `copies` are the (source, target) blocks to copy before anything is written, `preempted` those that lost
    their memory just now.
    """

    def __init__(self) -> None:
        self.prefills: list[Request] = []
        self.decodes: list[Request] = []
        self.copies: list[tuple[int, int]] = []
        self.preempted: list[Request] = []


class Scheduler:
    """Continuous batching over one block manager, with recompute as the way back after a preemption.

    `max_num_seqs` requests run at once; `max_num_batched_tokens` bounds the tokens of one iteration (a prompt longer
    than that runs alone). The one that came last yields first, with all its blocks, and goes back to the front of
    the queue; while somebody yields nobody is admitted (Kwon et al., section 4.5; vLLM's scheduler).
    """

    def __init__(
        self,
        manager: BlockManager,
        *,
        max_num_seqs: int = 256,
        max_num_batched_tokens: int = 2048,
        log: EventLog | None = None,
    ) -> None:
        self.manager = manager
        self.max_num_seqs = whole("max_num_seqs", max_num_seqs)
        self.max_num_batched_tokens = whole("max_num_batched_tokens", max_num_batched_tokens)
        self.log = log
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []

    def add(self, request: Request) -> None:
        """Queue a request. Raises RequestTooLarge for one that the empty pool could not hold to its end, and
        BadInput for an id that is in use."""
        name = request.request_id
        if name in self.manager or any(name == other.request_id for other in (*self.waiting, *self.running)):
            raise BadInput(f"request id {name!r} is in use; choose another or wait until it has finished")
        if self.log is not None and name in self.log.texts:
            raise BadInput(f"request id {name!r} is in the log already, with another text; choose another")
        # The last token is never fed back, so it needs no slot.
        try:
            self.manager.check_fits(request.num_prompt_tokens + request.max_tokens - 1)
        except RequestTooLarge as error:
            raise RequestTooLarge(
                f"request {name!r} ({request.num_prompt_tokens} prompt tokens, max_tokens "
                f"{request.max_tokens}) can never run: {error}"
            ) from None
        self.waiting.append(request)

    def has_unfinished(self) -> bool:
        """Whether any request waits or runs."""
        return bool(self.waiting or self.running)

    def schedule(self) -> Step:
        """Decide the next iteration and give every request in it the slots for its new tokens."""
        if self.log is not None:
            self.log.next_step()
        step = Step()
        self._grow_running(step)
        if not step.preempted:
            self._admit_waiting(step)
        return step

    def finish(self, request: Request, reason: str) -> None:
        """Take the memory of a running request back: it has ended, for the `reason` given.

        Raises UnknownSequence if it does not run.
        """
        if request not in self.running:
            raise UnknownSequence(f"{request} does not run; it may have finished already")
        self.running.remove(request)
        self.manager.free(request.request_id)
        self._note("finish", request, reason=reason)

    def abort(self, request_id: str) -> None:
        """Drop a request in whatever state it is. Raises UnknownSequence if it neither waits nor runs."""
        for request in self.running:
            if request.request_id == request_id:
                return self.finish(request, "abort")
        for request in self.waiting:
            if request.request_id == request_id:
                self.waiting.remove(request)
                return self._note("finish", request, reason="abort")
        raise UnknownSequence(f"no request {request_id!r} waits or runs; it may have finished already")

    def _grow_running(self, step: Step) -> None:
        while len(step.decodes) < len(self.running):
            request = self.running[len(step.decodes)]
            try:
                copy = self.manager.append(request.request_id)
            except OutOfBlocks:
                self._preempt_latest(step)  # perhaps the request itself, which then ends the loop
                continue
            if copy:
                step.copies.append(copy)
            step.decodes.append(request)

    def _preempt_latest(self, step: Step) -> None:
        request = self.running.pop()
        self.manager.free(request.request_id)
        self.waiting.appendleft(request)
        step.preempted.append(request)
        self._note("preempt", request, how="recompute")

    def _admit_waiting(self, step: Step) -> None:
        budget = self.max_num_batched_tokens - len(step.decodes)
        while self.waiting and len(self.running) < self.max_num_seqs:
            request = self.waiting[0]
            alone = not step.prefills and not step.decodes
            if (request.num_tokens > budget and not alone) or not self.manager.can_admit(request.num_tokens):
                return
            self.manager.admit(request.request_id, request.num_tokens)
            self.running.append(self.waiting.popleft())
            step.prefills.append(request)
            budget -= request.num_tokens

    def _note(self, kind: str, request: Request, **fields: str) -> None:
        if self.log is not None:
            self.log.add(kind, seq=request.request_id, **fields)
