"""The check of an invariant: True in every state of sound code, and False in the step in which the fault strikes."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, Wrong, check_callable
from kvlib.grading.exercises.museum.lockstep import Film, Shot, filmed
from kvlib.shown import shown

NUM_STRUCK = 3  # films in which the fault strikes
MOST_FILMS = 400
SOUND = "the invariant holds in every state of sound code"
STRUCK = "it is broken in the step in which the fault strikes"

Law = Callable[[Any], bool]


class Claim(NamedTuple):
    """What an exercise asks for: an invariant of the states of `steps`, which makes those of one film.

    of: the name by which it is called with a state. fields: what is told of one. mistakes: by the words for it, an
    invariant that is not the right one.
    """

    steps: Callable[[Chance], Iterator[tuple[str, Any, Any]]]
    of: str
    fields: tuple[str, ...]
    mistakes: Mapping[str, Law]

    def probe(self, answer: Any, chance: Chance) -> Iterator[Seen | Score]:
        """Call the answer for every state of films that chance draws, until the fault has struck in enough of them."""
        check_callable(answer, self.of)
        num_held, broken_at, sound_fault, struck_fault = 0, [], "", ""
        for film in self._films(chance):
            held = [truth(answer(**{self.of: shot.state})) for shot in film.sound]
            num_held += sum(held)
            if not all(held):
                sound_fault = sound_fault or self._too_strong(film, held, film.sound[held.index(False)])
            if film.struck is not None:
                verdicts = [*held[: film.number], truth(answer(**{self.of: film.struck.state}))]
                broken_at.append(verdicts.index(False) if False in verdicts else "never")
                if verdicts[-1]:
                    struck_fault = struck_fault or self._too_weak(film, held, film.struck)
        yield Seen(SOUND, num_held, sound_fault)
        yield Seen(STRUCK, broken_at, struck_fault)

    def _films(self, chance: Chance) -> Iterator[Film]:
        num_struck = 0
        for _ in range(MOST_FILMS):
            film = filmed(self.steps(Chance(chance.bits())))
            yield film
            num_struck += film.struck is not None
            if num_struck == NUM_STRUCK:
                return

    def _too_strong(self, film: Film, held: list[bool], shot: Shot) -> str:
        told = "; ".join(f"{field} is {getattr(shot.state, field)}" for field in self.fields)
        return (
            f"After {shot.what} it is False, and nothing is wrong: {told}. {self._mistake(film, held, verdict=None)}"
        ).strip()

    def _too_weak(self, film: Film, held: list[bool], shot: Shot) -> str:
        sound = film.sound[film.number].state
        told = "; ".join(
            f"{field} is {getattr(shot.state, field)}, in sound code {getattr(sound, field)}"
            for field in self.fields
            if getattr(shot.state, field) != getattr(sound, field)
        )
        return (
            f"After {shot.what} the fault has struck, and it is still True: {told}. "
            f"{self._mistake(film, held, verdict=True)}"
        ).strip()

    def _mistake(self, film: Film, held: list[bool], verdict: bool | None) -> str:
        """The words for the known mistake that says the same of all these states, or ""."""
        for words, law in self.mistakes.items():
            same = [bool(law(shot.state)) for shot in film.sound] == held
            if same and (verdict is None or film.struck is None or bool(law(film.struck.state)) == verdict):
                return words
        return ""


def truth(value: Any) -> bool:
    """`value` as a bool, where it is one or worth the same. Raises Wrong for anything else."""
    item = getattr(value, "item", None)
    plain = item() if callable(item) else value
    if plain is None:
        raise Wrong("It returns None; is a `return` missing on some way through it? Give True or False.")
    if not isinstance(plain, int) or plain not in (0, 1):
        raise Wrong(f"It returns {shown(value)}; give True where the invariant holds, and False where not.")
    return bool(plain)
