"""The exercises of lab 4, *Reservation policies and the three wastes*."""

from collections.abc import Iterator
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Exercise, Exercises, Score, Seen, Wrong, check_callable
from kvlib.grading.exercises.reservations.buddy import merge, split
from kvlib.grading.exercises.reservations.kinds import kinds, whole_number
from kvlib.memory import Max, Oracle, Pow2
from kvlib.memory.buddy import next_power_of_two

POLICIES = {"max": Max, "pow2": Pow2, "oracle": Oracle}


def reserve(answer: Any, chance: Chance) -> Iterator[Seen]:
    """Requests of all lengths, among them outputs of powers of two and sequences that just fit."""
    check_callable(answer, "policy", "num_prompt_tokens", "num_output_tokens", "longest")
    for name, policy in POLICIES.items():
        slots, fault = [], ""
        for number in range(12):
            longest = 64 << chance.below(3)
            prompt = 1 + chance.below(longest // 2)
            output = 1 + chance.below(longest - prompt)
            if number % 3 == 0:
                output = min(longest - prompt, 1 << chance.below(5))
            if number % 5 == 4:
                output = longest - prompt
            given = answer(policy=name, num_prompt_tokens=prompt, num_output_tokens=output, longest=longest)
            slots.append(whole_number(given))
            if slots[-1] is None:
                raise Wrong(f"{name!r}: it returns {given!r:.60}, not a number of slots.")
            fault = fault or _reserve_fault(slots[-1], name, prompt, output, policy(longest))
        yield Seen(f"{name} reserves what it knows to be needed, and no more than the longest", slots, fault)


def _reserve_fault(given: int, name: str, prompt: int, output: int, policy: Any) -> str:
    right, longest = policy.reserve(prompt, output), policy.longest
    if given == right:
        return ""
    said = f"{name!r}, a prompt of {prompt}, an output of {output}, longest {longest}: {given} slots. "
    if given > longest:
        return f"{said}No sequence is longer than {longest}, so never reserve more."
    if given < prompt + output:
        return f"{said}That is less than its {prompt + output} tokens; a row cannot grow."
    if name == "pow2" and given == min(longest, next_power_of_two(prompt + output)):
        return f"{said}Pow2 rounds the output alone; the prompt is known. It is {right}."
    if name == "pow2" and given == min(longest, prompt + 2 * (right - prompt)):
        return f"{said}An output of {output} needs no larger power of two than {right - prompt}."
    return f"{said}It is {right}."


def blocks(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """Texts, and how many entries their tables may have."""
    check_callable(answer, "lengths", "most_entries")
    wasted, fewest = [], []
    for number in range(6):
        lengths = [1 + chance.below(60) for _ in range(8)]
        most_entries = len(lengths) + chance.below(60) if number else len(lengths)
        allowed = [size for size in range(1, max(lengths) + 1) if _entries(lengths, size) <= most_entries]
        given = answer(lengths=list(lengths), most_entries=most_entries)
        size, said = whole_number(given), f"Texts of {lengths} tokens, {most_entries} entries at most: "
        if size is None or size < 1:
            raise Wrong(f"{said}it returns {given!r:.60}, not a block size of 1 or more.")
        if _entries(lengths, size) > most_entries:
            raise Wrong(f"{said}blocks of {size} make {_entries(lengths, size)} entries.")
        wasted.append(_entries(lengths, size) * size - sum(lengths))
        fewest.append(min(_entries(lengths, each) * each for each in allowed) - sum(lengths))
    yield Seen("the tables have no more entries than they may", fewest)
    yield Score("slots wasted", sum(wasted), sum(fewest))


def _entries(lengths: list[int], block_size: int) -> int:
    return sum(-(-length // block_size) for length in lengths)


EXERCISES = Exercises(
    {
        "reserve": Exercise(reserve, "Max, Pow2 and Oracle, each by what it knows."),
        "split": Exercise(split, "The smallest chunk that is large enough, halved until it fits."),
        "merge": Exercise(merge, "Buddies join, and so do theirs."),
        "kinds": Exercise(kinds, "Every slot is of one kind, in 18 memories."),
        "blocks": Exercise(blocks, "No table is longer than it may be."),
    }
)
check, observe = EXERCISES.check, EXERCISES.observe
