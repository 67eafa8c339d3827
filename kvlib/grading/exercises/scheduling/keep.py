"""Who may join while others grow, as lab 7 asks for it: a rule of the learner's in kvlib's own simulation."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, Wrong, check_callable
from kvlib.grading.exercises.scheduling.drive import UNLIMITED, Journal, OneSecond, ours
from kvlib.serving.batch import SimulatedRequest
from kvlib.serving.counted import CountedBlocks
from kvlib.serving.simulator import Simulation
from kvlib.serving.workload import Arrival

ALLOWED = 1.25  # times the iterations that it takes with nothing kept back
KEPT_BACK = 0.2  # share of the blocks, in the score that is known to do


class Crowd(NamedTuple):
    """Requests that wait from the start, and the memory that is there for all of them."""

    arrivals: list[Arrival]
    num_blocks: int
    block_size: int

    @property
    def most_iterations(self) -> int:
        """How many a rule may take."""
        return int(ALLOWED * ours(*self).iteration)


def crowd(chance: Chance) -> Crowd:
    """A hundred requests, and 60 to 79 blocks of 16 tokens."""
    arrivals = [Arrival(0.0, 8 + chance.below(57), 16 + chance.below(113)) for _ in range(100)]
    return Crowd(arrivals, 60 + chance.below(20), 16)


def keep(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """A rule for who may join: it never lets too many in, ends in time, and spares tokens."""
    waiting = crowd(chance)
    journal = ruled(answer, waiting)
    if journal.iteration > waiting.most_iterations:
        raise Wrong(
            f"{len(waiting.arrivals)} requests take {journal.iteration} iterations; at most {waiting.most_iterations} "
            "are allowed, a quarter more than with nothing kept back. Memory that nobody may use serves nobody: keep "
            "less of it back."
        )
    prompts = [waiting.arrivals[number - 1].num_prompt_tokens for number in journal.began]
    yield Seen("all requests end in time, and their first tokens come in the order of arrival", prompts)
    best = ours(*waiting, watermark=KEPT_BACK).num_recomputed
    yield Score("tokens computed again", journal.num_recomputed, best)


def ruled(rule: Any, waiting: Crowd) -> Journal:
    """What happens when `rule` says who may join. Raises Wrong, in words, where it cannot be followed."""
    check_callable(rule, "num_tokens", "running", "num_blocks", "block_size")
    memory = _Asking(waiting.num_blocks, waiting.block_size, rule)
    simulation = Simulation(waiting.arrivals, memory, OneSecond(), max_num_seqs=UNLIMITED, max_prompt_tokens=UNLIMITED)
    simulation.batch = memory.batch
    while simulation.step():
        pass
    return memory.batch


class _Asking(CountedBlocks):
    """A memory that asks the learner's rule who may join."""

    def __init__(self, num_blocks: int, block_size: int, rule: Callable[..., Any]) -> None:
        super().__init__(num_blocks, block_size, watermark=0)
        self.batch = Journal()
        self._rule = rule

    def can_admit(self, request: SimulatedRequest) -> bool:
        """What the rule says; Wrong where it cannot be followed."""
        running = [each.offset + self.batch.iteration for each in self.batch.running]
        may = self._rule(
            num_tokens=request.num_tokens, running=running, num_blocks=self.num_blocks, block_size=self.block_size
        )
        case = f"{request.num_tokens} tokens beside {len(running)} running requests"
        if may not in (True, False):
            raise Wrong(f"For {case} it returned {may!r:.60}; expected True or False.")
        if may and not super().can_admit(request):
            raise Wrong(
                f"Yours lets {case} in. They take {self._blocks_for(request.num_tokens)} blocks of {self.block_size}, "
                f"and {self.num_free_blocks} of {self.num_blocks} are free."
            )
        if not may and not running:
            raise Wrong(f"Nobody runs, and yours keeps {case} out. Then nobody would ever run again.")
        return bool(may)
