"""The exercises of lab 3, *Your own block allocator*."""

from kvlib.grading.exercise import Exercise, Exercises
from kvlib.grading.exercises.allocator.audit import audit
from kvlib.grading.exercises.allocator.manager import growing, manager
from kvlib.grading.exercises.allocator.parts import MANAGER, POOL, built_on
from kvlib.grading.exercises.allocator.pool import pool
from kvlib.grading.exercises.allocator.slots import slots

EXERCISES = Exercises(
    {
        "pool": Exercise(pool, "Each block has one owner, and what is refused changes nothing."),
        "slots": Exercise(slots, "Every position is in its slot."),
        "manager": Exercise(built_on([POOL], manager), "All blocks at once or none, and all of them back."),
        "growing": Exercise(built_on([POOL, MANAGER], growing), "A new block when the last is full, and not before."),
        "audit": Exercise(audit, "Each block in one place, or it is named."),
    }
)
check, observe = EXERCISES.check, EXERCISES.observe
