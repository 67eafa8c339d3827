"""The requests that run together, counted: what an iteration changes for all of them is changed in one sum."""

from collections import OrderedDict

TYPE_CHECKING = False  # a browser's small Python has no collections.abc
if TYPE_CHECKING:
    from kvlib.serving.workload import Arrival


class SimulatedRequest:
    """One request on its way: `number` is its place in the workload, from 1.

    `num_tokens` are those known when it was admitted last, its prompt and what it had written: an admission stores
    them all. `num_final_tokens` are stored when it ends; the last token written is never fed back. While it runs,
    `offset + iteration` tokens are stored at an iteration's end.
    """

    __slots__ = ("arrived_s", "num_final_tokens", "num_output_tokens", "num_tokens", "number", "offset", "preempted")

    def __init__(self, number: int, arrival: "Arrival") -> None:
        self.number = number
        self.arrived_s = arrival.time_s
        self.num_output_tokens = arrival.num_output_tokens
        self.num_tokens = arrival.num_prompt_tokens
        self.num_final_tokens = arrival.num_prompt_tokens + arrival.num_output_tokens - 1
        self.offset = 0
        self.preempted = False


class Batch:
    """The running requests, oldest first, with the tokens they store, in iteration number `iteration`.

    Each running request stores one more token an iteration, so a sum and a calendar of endings take the place of a
    walk over them: starting, ending and preempting a request are O(1), and so is an iteration.
    """

    def __init__(self) -> None:
        self.iteration = 0
        self.num_stored = 0  # tokens
        self.running: OrderedDict[SimulatedRequest, None] = OrderedDict()
        self._ending: dict[int, list[SimulatedRequest]] = {}  # by the iteration that writes their last token

    def start(self, request: SimulatedRequest) -> None:
        """Let a request join, storing all its known tokens in this iteration."""
        request.offset = request.num_tokens - self.iteration
        self.num_stored += request.num_tokens
        self.running[request] = None
        self._ending.setdefault(request.num_final_tokens - request.offset, []).append(request)

    def preempt_latest(self) -> SimulatedRequest:
        """Take the latest request out, before this iteration has stored a token of it."""
        request, _ = self.running.popitem()
        ending = request.num_final_tokens - request.offset
        self._ending[ending].remove(request)
        request.num_tokens = request.offset + self.iteration  # one of them is not stored yet
        self.num_stored -= request.num_tokens - 1
        return request

    def end(self) -> list[SimulatedRequest]:
        """Take out the requests that wrote their last token in this iteration."""
        ended = self._ending.pop(self.iteration, [])
        for request in ended:
            del self.running[request]
            self.num_stored -= request.num_final_tokens
        return ended
