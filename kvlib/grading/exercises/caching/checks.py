"""The exercises of lab 1, *A KV cache from nothing*."""

from kvlib.grading.exercise import Exercise, Exercises
from kvlib.grading.exercises.caching.attention import one_row, rows
from kvlib.grading.exercises.caching.passes import forward, generate
from kvlib.grading.exercises.caching.room import cache

EXERCISES = Exercises(
    {
        "attend": Exercise(one_row, "A share for each token, all shares one, and large scores do no harm."),
        "causal": Exercise(rows, "A row alone is that row of the whole, and nothing later changes it."),
        "cache": Exercise(cache, "Every layer gives back all its tokens, in order."),
        "forward": Exercise(forward, "Five passes foretell what one over the whole text does."),
        "generate": Exercise(generate, "Each token of the text goes in once."),
    }
)
check, observe = EXERCISES.check, EXERCISES.observe
