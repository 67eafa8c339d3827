"""What is asked of a server, and when: arrivals in order of time, one after the other, never all in memory."""

import math

from kvlib.chance import Chance
from kvlib.checks import whole
from kvlib.errors import BadConfig, BadInput
from kvlib.serving.lengths import checked_pair

TYPE_CHECKING = False  # a browser's small Python has no collections.abc, and evaluates no annotation
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ARRIVALS = 1  # the stream of chance that times are drawn from


class Arrival:
    """One request of a workload. A workload is any iterable of these in order of time.

    `time_s` is in seconds from the workload's start; `num_prompt_tokens` are given and `num_output_tokens` will be
    written. `block_ids` name the blocks of the prompt where the trace does (Mooncake's): equal ids mean equal text
    from the prompt's start to the block's end. Elsewhere the tuple is empty. Unpacks as (time_s, num_prompt_tokens,
    num_output_tokens, block_ids).
    """

    __slots__ = ("block_ids", "num_output_tokens", "num_prompt_tokens", "time_s")

    def __init__(
        self, time_s: float, num_prompt_tokens: int, num_output_tokens: int, block_ids: tuple[int, ...] = ()
    ) -> None:
        self.time_s = time_s
        self.num_prompt_tokens = num_prompt_tokens
        self.num_output_tokens = num_output_tokens
        self.block_ids = block_ids

    def __iter__(self) -> "Iterator[object]":
        return iter((self.time_s, self.num_prompt_tokens, self.num_output_tokens, self.block_ids))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Arrival) and tuple(self) == tuple(other)

    def __repr__(self) -> str:
        return f"Arrival({self.time_s!r} s, {self.num_prompt_tokens} + {self.num_output_tokens} tokens)"


def poisson(
    lengths: "Iterable[tuple[int, int]]",
    rate_per_s: float,
    seed: int,
    *,
    duration_s: float | None = None,
    num_requests: int | None = None,
) -> "Iterator[Arrival]":
    """Requests that come independently of each other, `rate_per_s` a second on average (Kwon et al., section 6.1).

    `lengths` yields (num_prompt_tokens, num_output_tokens), one pair a request. The workload ends with the last
    arrival before `duration_s`, or after `num_requests`, whichever is first; at least one must be given.
    Settings are checked at the call: BadConfig. Pairs are checked when their turn comes: BadInput for one that is
    not two counts of at least 1, or if they run out before the end.
    """
    mean_gap_s = 1.0 / _positive("rate_per_s", rate_per_s, "requests a second")
    if duration_s is None and num_requests is None:
        raise BadConfig("neither duration_s nor num_requests is given, so the workload would never end; give one")
    end_s = math.inf if duration_s is None else _positive("duration_s", duration_s, "seconds")
    if num_requests is not None:
        whole("num_requests", num_requests)
    return _poisson(lengths, mean_gap_s, Chance(seed, ARRIVALS), end_s, num_requests)


def all_at_once(lengths: "Iterable[tuple[int, int]]", num_requests: int) -> "Iterator[Arrival]":
    """`num_requests` requests that all wait at time 0. `lengths` and errors are as in `poisson`."""
    pairs = _checked(lengths)
    return (Arrival(0.0, *next(pairs)) for _ in range(whole("num_requests", num_requests)))


def _poisson(
    lengths: "Iterable[tuple[int, int]]", mean_gap_s: float, chance: Chance, end_s: float, num_requests: int | None
) -> "Iterator[Arrival]":
    pairs = _checked(lengths)
    time_s = 0.0
    while chance.index != num_requests:
        time_s += chance.exponential(mean_gap_s)
        if time_s >= end_s:
            return
        yield Arrival(time_s, *next(pairs))


def _checked(lengths: "Iterable[tuple[int, int]]") -> "Iterator[tuple[int, int]]":
    number = 0
    for number, pair in enumerate(lengths, 1):
        yield checked_pair(number, pair)
    raise BadInput(
        f"the lengths ended after {number} pairs and the workload needs more; ask for fewer requests or a shorter "
        "time, or resample them with kvlib.serving.lengths.from_pairs"
    )


def _positive(name: str, value: float, unit: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1e-9 <= value <= 1e9:
        raise BadConfig(f"{name} is {value!r}; give a number of {unit}, above 0 and finite (1e-9 to 1e9)")
    return value
