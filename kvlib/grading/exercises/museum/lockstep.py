"""The same work on a sound memory and on a faulty one, up to the step in which they first differ."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kvlib.chance import Chance
from kvlib.grading.exercises.museum.exhibit import Exhibit
from kvlib.grading.exercises.museum.memory import Memory

NUM_STEPS = 40
LONGEST_CALM = 12  # steps in which no prompt fills a block
WORDS = ("the", "old", "fox", "saw", "a", "red", "king", "and")
CONVERSATIONS = 3


class Shot(NamedTuple):
    """What was done in a step, and the state after it."""

    what: str
    state: Any


class Film(NamedTuple):
    """What sound code did, a shot a step, and where the fault struck.

    struck: the shot of the faulty code in step `number`, counted from 0, the first whose state is not the sound one;
    None, and -1, if there is none.
    """

    sound: list[Shot]
    struck: Shot | None
    number: int


def filmed(steps: Iterator[tuple[str, Any, Any]]) -> Film:
    """The film of steps, each (what was done, the sound state, the faulty state). The faulty one is looked at until it
    differs."""
    film = Film([], None, -1)
    for number, (what, sound, faulty) in enumerate(steps):
        film.sound.append(Shot(what, sound))
        if film.struck is None and faulty != sound:
            film = film._replace(struck=Shot(what, faulty), number=number)
    return film


def work(exhibit: Exhibit, chance: Chance) -> Iterator[tuple[str, Any, Any]]:
    """The steps of one memory's work, sound and with the fault of an exhibit, as `filmed` takes them."""
    return _Work(exhibit, chance).steps()


class _Work:
    """Requests with some beginnings in common come, are computed, go on, fork and end, as chance has it."""

    def __init__(self, exhibit: Exhibit, chance: Chance) -> None:
        self._chance, self._size, self._num_seqs = chance, 2 + chance.below(2), 0
        num_blocks = 6 + chance.below(3)
        self._sound = Memory(num_blocks, self._size)
        self._faulty: Memory | None = Memory(num_blocks, self._size, exhibit)
        self._calm = chance.below(LONGEST_CALM)
        self._talks = [[self._word() for _ in range(4 * self._size)] for _ in range(CONVERSATIONS)]

    def steps(self) -> Iterator[tuple[str, Any, Any]]:
        """Each step that was done, with both states; that of a memory that has differed is None from then on."""
        for number in range(NUM_STEPS):
            call, *arguments = self._choose(4 * self._size if number >= self._calm else self._size - 1)
            getattr(self._sound, call)(*arguments)
            sound, faulty = self._sound.snapshot(), None
            if self._faulty is not None:
                getattr(self._faulty, call)(*arguments)
                faulty = self._faulty.snapshot()
                self._faulty = self._faulty if faulty == sound else None
            yield f"{call}({', '.join(map(repr, arguments))})", sound, faulty

    def _choose(self, longest: int) -> Sequence[Any]:
        """A call that the sound memory can serve, with prompts of at most `longest` words."""
        seqs = self._sound.sequences
        running = [seq for seq in seqs if self._sound.is_computed(seq)]
        waiting = [seq for seq in seqs if seq not in running]
        possible = [(self._admit, [self._prompt(longest)], 4), (self._compute, waiting, 4), (self._say, running, 4)]
        possible += [(self._fork, running, 2), (self._free, seqs, 4)]
        calls = [(call, several) for call, several, weight in possible if several for _ in range(weight)]
        call, several = self._one(calls)
        return call(self._one(several)) or self._choose(longest)

    def _admit(self, prompt: list[str]) -> Sequence[Any] | None:
        return ("admit", self._name(), prompt) if self._sound.can_admit(prompt) else None

    def _compute(self, seq: str) -> Sequence[Any]:
        return ("compute", seq, self._word())

    def _fork(self, seq: str) -> Sequence[Any]:
        return ("fork", seq, self._name(), self._word())

    def _say(self, seq: str) -> Sequence[Any] | None:
        return ("say", seq, self._word()) if self._sound.can_say(seq) else None

    def _free(self, seq: str) -> Sequence[Any]:
        together = self._sound.shared_with(seq) if self._chance.below(2) else [seq]
        return ("free", *together)

    def _prompt(self, longest: int) -> list[str]:
        """The beginning of a conversation, often one that fills its blocks."""
        num_words = 1 + self._chance.below(longest)
        return self._one(self._talks)[: num_words if self._chance.below(3) else min(longest, 2 * self._size)]

    def _name(self) -> str:
        self._num_seqs += 1
        return f"s{self._num_seqs}"

    def _word(self) -> str:
        return self._one(WORDS)

    def _one(self, several: Sequence[Any]) -> Any:
        return several[self._chance.below(len(several))]
