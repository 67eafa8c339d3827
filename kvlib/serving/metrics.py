"""What a simulation is judged by: how many requests run, what the memory holds, how long a token takes."""

from collections import namedtuple


class Result(
    namedtuple(
        "Result",
        [
            "num_finished",
            "num_refused",
            "num_unfinished",
            "num_iterations",
            "simulated_s",
            "mean_running",
            "peak_running",
            "stored",
            "reserved",
            "internal",
            "external",
            "peak_held",
            "normalized_latency_s",
            "num_preemptions",
            "num_preempted",
        ],
    )
):
    """The metrics of Kwon et al., section 6, averages over the simulated time, idle time included.

    ====================  ==================================================================================
    num_finished          requests that wrote their last token
    num_refused           requests left out because they can never fit
    num_unfinished        requests that waited or ran when the simulation was stopped
    num_iterations        forward passes
    simulated_s           seconds from the workload's start to the end of the last iteration
    mean_running          requests running, the paper's batched requests (figure 13)
    peak_running          the most that ran at once
    stored                share of all slots that hold a token (figure 2: token states)
    reserved              share that will hold one before their request ends (figure 2: reservation)
    internal              share that is held and never written (figure 2: internal fragmentation)
    external              the rest: free, lost to rounding, or between the chunks (external and others)
    peak_held             largest share in reservations or blocks
    normalized_latency_s  mean over finished requests of seconds from arrival to end, over tokens written;
                          None if none finished
    num_preemptions       how often a request lost its memory
    num_preempted         how many different requests did
    ====================  ==================================================================================

    Contiguous memory counts a slot for the last token, which is never fed back, as reserved; blocks have none.
    """

    __slots__ = ()


class Metrics:
    """Adds up what `Result` reports, an iteration at a time."""

    def __init__(self) -> None:
        self.num_finished = self.num_refused = self.num_iterations = 0
        self.num_preemptions = self.num_preempted = 0
        self.peak_running = self.peak_held = 0
        self._running_s = self._stored_s = self._held_s = self._unused_s = 0.0  # each times the seconds it lasted
        self._latencies_s = 0.0

    def add_iteration(self, seconds: float, num_running: int, num_stored: int, num_held: int, num_unused: int) -> None:
        """An iteration lasted `seconds`, with so many requests and slots; `num_unused` are never to be filled."""
        self.num_iterations += 1
        self._running_s += seconds * num_running
        self._stored_s += seconds * num_stored
        self._held_s += seconds * num_held
        self._unused_s += seconds * num_unused
        if num_running > self.peak_running:
            self.peak_running = num_running
        if num_held > self.peak_held:
            self.peak_held = num_held

    def add_finished(self, seconds: float, num_output_tokens: int) -> None:
        """A request ended `seconds` after it came."""
        self.num_finished += 1
        self._latencies_s += seconds / num_output_tokens

    def add_preempted(self, is_first: bool) -> None:
        """A request lost its memory; `is_first` says whether it never had before."""
        self.num_preemptions += 1
        self.num_preempted += is_first

    def result(self, simulated_s: float, num_slots: int, num_unfinished: int) -> Result:
        """All of it, over a memory of `num_slots` slots. Shares and means are 0 if no time has passed."""
        seconds = simulated_s or 1.0
        stored, held, unused = (
            slots_s / (seconds * num_slots) for slots_s in (self._stored_s, self._held_s, self._unused_s)
        )
        return Result(
            num_finished=self.num_finished,
            num_refused=self.num_refused,
            num_unfinished=num_unfinished,
            num_iterations=self.num_iterations,
            simulated_s=simulated_s,
            mean_running=self._running_s / seconds,
            peak_running=self.peak_running,
            stored=stored,
            reserved=held - stored - unused,
            internal=unused,
            external=1.0 - held,
            peak_held=self.peak_held / num_slots,
            normalized_latency_s=self._latencies_s / self.num_finished if self.num_finished else None,
            num_preemptions=self.num_preemptions,
            num_preempted=self.num_preempted,
        )
