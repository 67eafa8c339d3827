"""The check of a beam search's step, the memory it works on, and the families of real searches to try it on."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from kvlib.chance import Chance
from kvlib.events import EventLog
from kvlib.grading.exercise import Exercise, Exercises, Score, Seen, check_callable
from kvlib.memory import RecordedBlockManager
from kvlib.show.genealogy import generations

ORIGIN = "a beam holds the tokens of the parent that was chosen for it, and room for one more"
RELEASED = "what no beam needs is free"


class BeamMemory:
    """The sequences of one search in kvlib's block manager. It begins with one beam, "0": the prompt.

    `num_blocks_copied` and `num_tables_copied` count what the search has cost so far; `log` tells all of it.
    """

    def __init__(self, num_prompt_tokens: int, block_size: int, num_blocks: int = 400) -> None:
        self.log = EventLog()
        self.num_blocks_copied = self.num_tables_copied = 0
        self._manager = RecordedBlockManager(num_blocks, block_size, self.log)
        self._manager.admit("0", num_prompt_tokens)
        self._written: dict[str, tuple[int, ...]] = {"0": ()}  # beam -> the events that wrote its tokens
        self._grown: set[str] = set()  # in the step that goes on

    @property
    def beams(self) -> list[str]:
        """The sequences that hold memory."""
        return list(self._written)

    @property
    def num_blocks_in_use(self) -> int:
        """Blocks that a table names."""
        return self._manager.pool.num_blocks - self._manager.num_free_blocks

    def fork(self, beam: str) -> str:
        """A new sequence with the blocks of `beam`; returns its name."""
        self._begin_step(bool(self._grown))
        child = f"{len(self.log)}"
        self._manager.fork(beam, child)
        self._written[child] = self._written[beam]
        self.num_tables_copied += 1
        return child

    def free(self, beam: str) -> None:
        """Give back what `beam` holds; its name means nothing any more."""
        self._begin_step(bool(self._grown))
        self._manager.free(beam)
        del self._written[beam]

    def append(self, beam: str) -> None:
        """Make room for the next token of `beam`, in a copy of its last block if others name that."""
        self._begin_step(beam in self._grown)
        self._grown.add(beam)
        if self._manager.append(beam):
            self.num_blocks_copied += 1
        self._written[beam] += (len(self.log),)

    def written(self, beam: str) -> tuple[int, ...]:
        """What tells the beams apart: a number for each token that was written since the prompt."""
        return self._written[beam]

    def _begin_step(self, is_new: bool) -> None:
        """In a step beams are forked and freed, then each grows once: what does not fit that belongs to the next."""
        if is_new:
            self._grown.clear()
            self.log.next_step()


def families(log: EventLog) -> list[list[int]]:
    """Of a search's log, for each step: the place, among the beams of the step before, of each next beam's parent."""
    rows = generations(log)
    found = [[0] * len(rows[0])]
    for before, row in pairwise(rows):
        places = {beam.seq: place for place, beam in enumerate(before)}
        found.append([places[beam.parent] for beam in row if beam.parent is not None])
    return found


def _advance(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    check_callable(answer, "memory", "beams", "parents")
    width, block_size = 3 + chance.below(3), 2 + chance.below(4)
    num_tokens = block_size * (1 + chance.below(3)) + 1
    memory, beams, in_use = BeamMemory(num_tokens, block_size), ["0"], []
    fewest_blocks = fewest_tables = 0
    for step in range(14):
        parents = [chance.below(len(beams)) for _ in range(width)]
        before = [memory.written(beam) for beam in beams]
        wanted = [before[parent] for parent in parents]
        given = answer(memory=memory, beams=list(beams), parents=list(parents))
        case = f"advance(memory, {beams}, {parents})"
        fault, law = _misborn(memory, case, given, wanted), ORIGIN
        if not fault and set(memory.beams) != set(given):
            left = [beam for beam in memory.beams if beam not in given]
            fault, law = f"After {case}, {left} still hold memory, and no beam goes on from them.", RELEASED
        if fault:
            yield Seen(law, "broken", fault)
            return
        doubled = width - len(set(parents))
        fewest_tables += doubled
        fewest_blocks += doubled if (num_tokens + step) % block_size else 0
        beams = list(given)
        in_use.append(memory.num_blocks_in_use)
    yield Seen(ORIGIN, [len(memory.written(beam)) for beam in beams])
    yield Seen(RELEASED, in_use)
    yield Score("blocks copied", memory.num_blocks_copied, fewest_blocks)
    yield Score("tables copied", memory.num_tables_copied, fewest_tables)


def _misborn(memory: BeamMemory, case: str, given: Any, wanted: list) -> str:
    if not isinstance(given, list | tuple) or len(given) != len(wanted):
        return f"{case} returns {given!r:.80}; expected a list of {len(wanted)} beams, one for each of the parents."
    if len(set(given)) < len(given):
        return f"{case} returns {given}: one sequence cannot be two beams, whose next tokens differ. Fork it."
    for place, (beam, tokens) in enumerate(zip(given, wanted)):
        if beam not in memory.beams:
            return f"{case} returns {beam!r}, which holds no memory: it was freed, or never was."
        got = memory.written(beam)
        if got == tokens:
            return f"After {case}, beam {beam!r} has no room for its next token: append to each next beam."
        if got[: len(tokens)] == tokens and len(got) > len(tokens) + 1:
            return f"After {case}, beam {beam!r} has grown twice: it was forked after its parent had grown."
        if got[:-1] != tokens:
            return f"After {case}, next beam {place}, {beam!r}, does not hold what its parent held."
    return ""


EXERCISES = Exercises({"advance": Exercise(_advance, "42 steps, each beam from its parent, and nothing kept besides.")})
check, observe = EXERCISES.check, EXERCISES.observe
