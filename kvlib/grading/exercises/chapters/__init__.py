"""The checks of the book's own exercises, one a chapter. They need nothing but kvlib."""

from kvlib.grading.exercise import Exercise, Exercises
from kvlib.grading.exercises.chapters.blocks import ENTRIES, FILLED, NUM_FREED, STEPS_LEFT, WHOSE
from kvlib.grading.exercises.chapters.rates import GAINED, MEAN_RUNNING, TO_COME
from kvlib.grading.exercises.chapters.replayed import NUM_ROUNDS, REBUILT
from kvlib.grading.exercises.chapters.tokens import FIRST_CHUNKS, NUM_FOUND, SCORES, TOKEN_BYTES

EXERCISES = Exercises(
    {
        "filled": Exercise(FILLED, "Tokens over the slots given."),
        "scores": Exercise(SCORES, "Each pair counted once."),
        "token_bytes": Exercise(TOKEN_BYTES, "No head is cut."),
        "first_chunks": Exercise(FIRST_CHUNKS, "Each power once."),
        "to_come": Exercise(TO_COME, "Long ones count more often."),
        "whose": Exercise(WHOSE, "Each slot, back to its text."),
        "entries": Exercise(ENTRIES, "Only the last is part full."),
        "num_freed": Exercise(NUM_FREED, "What nobody else names."),
        "steps_left": Exercise(STEPS_LEFT, "Room first, then blocks."),
        "mean_running": Exercise(MEAN_RUNNING, "All stays over time."),
        "num_found": Exercise(NUM_FOUND, "Whole blocks in common."),
        "gained": Exercise(GAINED, "While reading is longer."),
        "rebuilt": Exercise(REBUILT, "Every flap, from the log."),
        "num_rounds": Exercise(NUM_ROUNDS, "As many as on the bench."),
    }
)
check, observe = EXERCISES.check, EXERCISES.observe
