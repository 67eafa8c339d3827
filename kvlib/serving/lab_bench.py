"""The lab bench of chapter 14: one small memory, sequences that come, write and leave, and three readings.

The memory has 176 slots and the sequences at most 20 tokens, as in plate F55 of Laplace's miniature world. Its laws
are those of this module:

- Arrival: four sequences come before each round, until all have come. They are let in in that order; the first that has
  to wait holds up those behind it.
- Length: a prompt of 2 to 6 tokens, each number equally likely; then the whole text is one token longer than the
  prompt, or two, up to 20 in all, each length equally likely.
- Room: with blocks, enough of them for the tokens that a sequence has now; with rows, a row.
- Writing: a round stores the prompt of each sequence that is let in, and one more token of each that was in. One that
  has stored all its tokens leaves at the round's end: the mark of the end, which it writes last, is never read and has
  no slot.
- Shortage: if a sequence that is in needs a block and none is free, the one of them that came last yields all its
  blocks. When it is let in again it stores at once what it had and the next token. While somebody yields nobody is let
  in. A row is never yielded.

A round is read when all of it is stored and before anybody leaves.
"""

import json
from collections import namedtuple

from kvlib.chance import Chance
from kvlib.checks import whole
from kvlib.errors import BadConfig
from kvlib.events import EventLog
from kvlib.serving.lab_memories import LabBlocks, LabRows
from kvlib.shown import shown
from kvlib.texts import openings, quatrains

TYPE_CHECKING = False  # a browser's small Python has no collections.abc
if TYPE_CHECKING:
    from collections.abc import Iterator

NUM_SLOTS = 176
LONGEST = 20  # tokens of a sequence at most: the slots of a row
SHORTEST_PROMPT, LONGEST_PROMPT = 2, 6
ARRIVALS_A_ROUND = 4
ALLOCATIONS = (1, 2, 4, 8, 16, "longest")  # tokens of a block, or a row for the longest
NUMS_SEQUENCES = (8, 12, 16, 24, 32, 48, 64)
LENGTHS = 14  # the stream of chance that lengths are drawn from


class Reading(namedtuple("Reading", "position num_sequences num_stored num_held")):
    """A round as it is read: the events of the log so far, the sequences that hold memory, the slots that hold tokens,
    and the slots that are held."""

    __slots__ = ()


class Run:
    """What happened: the event `log`, with texts, and one Reading for each round."""

    def __init__(self, log: EventLog, readings: list[Reading]) -> None:
        self.log = log
        self.readings = readings

    @property
    def num_rounds(self) -> int:
        """Rounds until all is written."""
        return len(self.readings)

    @property
    def most_at_once(self) -> int:
        """The most sequences that held memory in one round."""
        return max(reading.num_sequences for reading in self.readings)

    @property
    def num_stored(self) -> int:
        """Slots that hold tokens, summed over all rounds."""
        return sum(each.num_stored for each in self.readings)

    @property
    def num_held(self) -> int:
        """Slots that are held, summed over all rounds."""
        return sum(each.num_held for each in self.readings)

    @property
    def mean_share(self) -> float:
        """Slots that hold tokens over slots that are held, each summed over all rounds: 0 to 1."""
        return self.num_stored / self.num_held

    def to_json(self) -> str:
        """The log, as its own JSON object, and the readings, as lists of four numbers."""
        readings = json.dumps([list(each) for each in self.readings])
        return f'{{"log": {self.log.to_json()}, "readings": {readings}}}'


def run(allocation: int | str, num_sequences: int, seed: int = 0) -> Run:
    """Let `num_sequences` sequences, 1 or more, come and write, until the last has left.

    `allocation` is one of ALLOCATIONS. The sequences depend on `seed` alone, and the first few are the same whatever
    their number. Raises BadConfig for anything else.
    """
    if type(allocation) not in (int, str) or allocation not in ALLOCATIONS:
        raise BadConfig(f"allocation is {shown(allocation)}; choose one of {ALLOCATIONS}")
    to_come = sequences(num_sequences, seed)
    log = EventLog()
    return Run(log, list(rounds(_memory(allocation, log), to_come, log)))


def _memory(allocation: int | str, log: EventLog) -> LabBlocks | LabRows:
    if isinstance(allocation, int):
        return LabBlocks(NUM_SLOTS, allocation, log)
    return LabRows(NUM_SLOTS, LONGEST, log)


class ComingSequence(namedtuple("ComingSequence", "name num_prompt_tokens tokens")):
    """A sequence before it comes: its name, and its tokens, of which the first `num_prompt_tokens` are its prompt."""

    __slots__ = ()


def sequences(num_sequences: int, seed: int = 0) -> list[ComingSequence]:
    """The first `num_sequences` that come: lengths by the law above, texts in turn, an opening and a quatrain."""
    whole("num_sequences", num_sequences)
    chance = Chance(seed, LENGTHS)
    texts = [text for pair in zip(openings(), quatrains()) for text in pair]
    drawn = []
    for number in range(num_sequences):
        num_prompt_tokens = SHORTEST_PROMPT + chance.below(LONGEST_PROMPT - SHORTEST_PROMPT + 1)
        num_tokens = num_prompt_tokens + 1 + chance.below(LONGEST - num_prompt_tokens)
        tokens = texts[number % len(texts)].tokens[:num_tokens]
        drawn.append(ComingSequence(f"s{number + 1}", num_prompt_tokens, tokens))
    return drawn


def rounds(memory: LabBlocks | LabRows, to_come: list[ComingSequence], log: EventLog) -> "Iterator[Reading]":
    """Each round as it is read, until all of `to_come` have come and left; `log` receives what they write."""
    while to_come or memory.is_busy():
        for sequence in to_come[:ARRIVALS_A_ROUND]:
            memory.add(sequence.name, sequence.num_prompt_tokens, len(sequence.tokens))
            log.say(sequence.name, sequence.tokens)
        del to_come[:ARRIVALS_A_ROUND]
        memory.write()
        yield Reading(len(log), len(memory.manager.sequences), memory.num_stored(), memory.num_held())
        memory.end()
