"""The exercises of lab 11, *The bug museum*."""

from kvlib.grading.exercise import Exercise, Exercises
from kvlib.grading.exercises.museum.claims import CLAIMS
from kvlib.grading.exercises.museum.tail import tail

RIGHT = {
    "stale": "What is found under a key has that key.",
    "early": "Nobody finds a block before it is written.",
    "evicted": "A table names no block twice.",
    "twice": "Every block is in one place, and there once.",
    "shared": "All who name a block agree on what is in it.",
    "nothing": "There is always a word left to compute.",
    "blocked": "Whoever waits would fit, were it alone.",
}
EXERCISES = Exercises(
    {name: Exercise(claim.probe, RIGHT[name]) for name, claim in CLAIMS.items()}
    | {"tail": Exercise(tail, "Three faults are told by what unused slots hold.")}
)
check, observe = EXERCISES.check, EXERCISES.observe
