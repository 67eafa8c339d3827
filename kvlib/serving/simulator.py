"""Requests come, a memory decides who runs, a cost law says how long, and the metrics follow.

One loop for every memory. It visits no running request: what happens in an iteration is a few sums, so an hour of a
server takes a second or so (Kwon et al., sections 4.5 and 6 for the rules and the metrics).
"""

from collections import deque

from kvlib.checks import whole
from kvlib.errors import BadConfig, BlocksInUse, RequestTooLarge
from kvlib.serving.batch import Batch, SimulatedRequest
from kvlib.serving.incoming import NEVER, Incoming
from kvlib.serving.metrics import Metrics, Result

TYPE_CHECKING = False  # a browser's small Python has no collections.abc
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvlib.serving.cost import IterationCost
    from kvlib.serving.counted import CountedBlocks
    from kvlib.serving.reserved import Reservations
    from kvlib.serving.workload import Arrival


def simulate(
    arrivals: "Iterable[Arrival]",
    memory: "CountedBlocks | Reservations",
    cost: "IterationCost",
    *,
    max_num_seqs: int = 256,
    max_prompt_tokens: int = 2560,
    until_s: "float | None" = None,
    skip_too_large: bool = False,
) -> Result:
    """Serve `arrivals`, any iterable in order of time and read as time goes on, until all have their last token.

    First come, first served: the running requests go on, then the queue's head joins while it fits; who is behind
    it waits. At most `max_num_seqs` run. The prompts that join in one iteration have at most `max_prompt_tokens`
    together, recomputed tokens included; only the first of them may be longer. Where blocks are short the latest
    request yields, with all it holds, and goes to the front of the queue; while somebody yields nobody joins.

    `until_s`: stop with the first iteration that ends then or later, so that averages are those of that time and the
    latency that of the requests that have finished. `skip_too_large`: count a request that can never fit and leave
    it out. `memory` must be empty; it is so again at the end, unless the simulation is stopped.

    Raises RequestTooLarge, naming the request, when one comes that can never fit; BadInput as `Incoming` says;
    BadConfig for a setting out of range; BlocksInUse for a memory that is not empty where it must be.
    """
    simulation = Simulation(
        arrivals,
        memory,
        cost,
        max_num_seqs=max_num_seqs,
        max_prompt_tokens=max_prompt_tokens,
        until_s=until_s,
        skip_too_large=skip_too_large,
    )
    while simulation.step():
        pass
    return simulation.result()


class Simulation:
    """`simulate`, one iteration at a time: settings and errors are as there.

    `queue` are the requests that wait, `batch` those that run, `now_s` the seconds since the workload's start.
    """

    def __init__(
        self,
        arrivals: "Iterable[Arrival]",
        memory: "CountedBlocks | Reservations",
        cost: "IterationCost",
        *,
        max_num_seqs: int = 256,
        max_prompt_tokens: int = 2560,
        until_s: "float | None" = None,
        skip_too_large: bool = False,
    ) -> None:
        if until_s is not None and (type(until_s) not in (int, float) or not until_s > 0):
            raise BadConfig(f"until_s is {until_s!r}; give a number of seconds above 0, or None for all requests")
        self.end_s = NEVER if until_s is None else until_s
        self.max_num_seqs = whole("max_num_seqs", max_num_seqs)
        self.max_prompt_tokens = whole("max_prompt_tokens", max_prompt_tokens)
        self.skip_too_large = skip_too_large
        self.memory = memory
        self.cost = cost
        self.now_s = 0.0
        self.queue: deque[SimulatedRequest] = deque()
        self.batch = Batch()
        self.metrics = Metrics()
        self.incoming = Incoming(arrivals)
        self._check_empty()

    def step(self) -> bool:
        """One iteration; False where none is left: nobody waits, runs or will come, or `until_s` is reached."""
        if not self._find_work():
            return False
        batch, memory = self.batch, self.memory
        batch.iteration += 1
        self._make_room()
        num_decodes = len(batch.running)
        batch.num_stored += num_decodes
        memory.grow(batch.iteration)
        num_prompt_tokens = self._admit()
        num_running = len(batch.running)
        seconds = self.cost.seconds(num_running, num_decodes + num_prompt_tokens, batch.num_stored)
        self.now_s += seconds
        self.metrics.add_iteration(seconds, num_running, batch.num_stored, memory.num_held, memory.num_unused)
        for request in batch.end():
            memory.free(request, request.num_final_tokens)
            self.metrics.add_finished(self.now_s - request.arrived_s, request.num_output_tokens)
        return True

    def result(self) -> Result:
        """The metrics so far."""
        num_unfinished = len(self.queue) + len(self.batch.running)
        return self.metrics.result(self.now_s, self.memory.num_slots, num_unfinished)

    def _find_work(self) -> bool:
        """Queue who has come by now; where nobody waits or runs, let time pass until somebody comes."""
        while self.now_s < self.end_s:
            while self.incoming.next_s <= self.now_s:
                self._receive(self.incoming.take())
            if self.queue or self.batch.running:
                return True
            if self.incoming.next_s == NEVER:
                self._check_empty()
                return False
            self.now_s = min(self.incoming.next_s, self.end_s)
        return False

    def _receive(self, request: SimulatedRequest) -> None:
        try:
            self.memory.check_fits(request.num_tokens, request.num_output_tokens)
        except RequestTooLarge as error:
            if not self.skip_too_large:
                raise RequestTooLarge(f"request {request.number} can never run: {error}") from None
            self.metrics.num_refused += 1
        else:
            self.queue.append(request)

    def _make_room(self) -> None:
        """Let the latest yield while blocks are short. What it leaves is less than it needs to return at once, and it
        is first in the queue, so nobody joins in this iteration."""
        while self.memory.is_short(self.batch.iteration):
            request = self.batch.preempt_latest()
            self.memory.free(request, request.num_tokens - 1)
            self.queue.appendleft(request)
            self.metrics.add_preempted(is_first=not request.preempted)
            request.preempted = True

    def _admit(self) -> int:
        """Let the queue's head join while it may; returns how many prompt tokens joined."""
        num_prompt_tokens = 0
        while self.queue and len(self.batch.running) < self.max_num_seqs:
            request = self.queue[0]
            is_over = num_prompt_tokens + request.num_tokens > self.max_prompt_tokens
            if (is_over and num_prompt_tokens) or not self.memory.can_admit(request):
                break
            self.batch.start(self.queue.popleft())
            self.memory.admit(request)
            num_prompt_tokens += request.num_tokens
        return num_prompt_tokens

    def _check_empty(self) -> None:
        batch, memory = self.batch, self.memory
        left = (len(batch.running), batch.num_stored, memory.num_held, memory.num_unused)
        if any(left):
            raise BlocksInUse(
                f"nobody runs, yet {left[0]} requests, {left[1]} tokens, {left[2]} held and {left[3]} unused slots are "
                "counted; give each simulation a memory of its own"
            )
