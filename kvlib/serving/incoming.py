"""A workload as the simulator reads it: one request ahead, each checked when its turn comes."""

from kvlib.checks import whole
from kvlib.errors import BadInput
from kvlib.serving.batch import SimulatedRequest

TYPE_CHECKING = False  # a browser's small Python has no collections.abc
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvlib.serving.workload import Arrival

NEVER = float("inf")


class Incoming:
    """The requests of `arrivals`, an iterable in order of time; `next_s` is when the next one comes, NEVER after the
    last. Raises BadInput, naming the request by its place from 1, for one whose time runs backwards or whose tokens
    are not counts of at least 1, and if there is none at all.
    """

    def __init__(self, arrivals: "Iterable[Arrival]") -> None:
        self._arrivals = iter(arrivals)
        self._num_read = 0
        self._next: Arrival | None = None
        self.next_s = 0.0
        self._read()
        if self._next is None:
            raise BadInput("the workload holds no request; give at least one")

    def take(self) -> SimulatedRequest:
        """The next request; there must be one."""
        assert self._next is not None
        request = SimulatedRequest(self._num_read, self._next)
        self._read()
        return request

    def _read(self) -> None:
        for arrival in self._arrivals:
            self._num_read += 1
            self._check(arrival)
            self._next, self.next_s = arrival, arrival.time_s
            return
        self._next, self.next_s = None, NEVER

    def _check(self, arrival: "Arrival") -> None:
        name = f"request {self._num_read}"
        if not hasattr(arrival, "time_s"):
            raise BadInput(f"{name} is {arrival!r:.80}; give Arrivals, with a time and two numbers of tokens")
        time_s = arrival.time_s
        if isinstance(time_s, bool) or not isinstance(time_s, (int, float)) or not 0 <= time_s < NEVER:
            raise BadInput(f"{name} comes at {time_s!r}; give seconds from the workload's start, at least 0 and finite")
        if time_s < self.next_s:
            raise BadInput(f"{name} comes at {time_s} s, the one before it at {self.next_s} s; sort them by time")
        whole(f"num_prompt_tokens of {name}", arrival.num_prompt_tokens, 1, BadInput)
        whole(f"num_output_tokens of {name}", arrival.num_output_tokens, 1, BadInput)
