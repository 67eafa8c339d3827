"""What each exhibit but the last asks for, and what is said of an invariant that is not the one."""

from functools import partial

from kvlib.grading.exercises.museum import mistakes
from kvlib.grading.exercises.museum.exhibits import BLOCKED, EARLY, EVICTED, NOTHING, SHARED, STALE, TWICE
from kvlib.grading.exercises.museum.laws import Claim
from kvlib.grading.exercises.museum.lockstep import work
from kvlib.grading.exercises.museum.queue import arrivals

CLAIMS = {
    "stale": Claim(
        partial(work, STALE),
        "memory",
        ("key_of", "holder"),
        {
            "Two blocks may have one key, and it is found in the first of them. Ask the other way round: of the block "
            "that holder names, what does key_of say?": mistakes.each_block_is_found,
            "Every key of a block can be found, here as well. But holder has one more.": mistakes.each_key_is_found,
        },
    ),
    "early": Claim(
        partial(work, EARLY),
        "memory",
        ("holder", "written"),
        {
            "A block in a table may be empty for a while, or full in part. It matters when others can find it.": (
                mistakes.named_blocks_are_full
            ),
            "What is found has its key, here as well. But what was written there?": (mistakes.each_key_is_found),
        },
    ),
    "evicted": Claim(
        partial(work, EVICTED),
        "memory",
        ("tables",),
        {
            "Sequences that begin alike share blocks, which is what the cache is for. Look at one table.": (
                mistakes.no_block_is_shared
            ),
            "The counts are right, here as well: the block was counted twice, and is named twice. By whom?": (
                mistakes.counts_are_right
            ),
        },
    ),
    "twice": Claim(
        partial(work, TWICE),
        "memory",
        ("free", "cached", "counts", "tables"),
        {
            "A block that two tables name is one block. Its count says how many name it.": mistakes.entries_add_up,
            "Every block is somewhere, and none in two places. But one is in one place twice, which no set knows.": (
                mistakes.each_block_is_somewhere
            ),
        },
    ),
    "shared": Claim(
        partial(work, SHARED),
        "memory",
        ("tables", "words", "num_stored", "written"),
        {
            "After a fork two tables name a block that is not full, and nobody has written yet: that is right.": (
                mistakes.shared_blocks_are_full
            ),
            "Not all words of a sequence are stored: num_stored says how many are.": mistakes.all_words_are_written,
            "Each still finds its own words. But the block holds one that not all of those that name it have stored.": (
                mistakes.own_words_are_found
            ),
        },
    ),
    "nothing": Claim(
        partial(work, NOTHING),
        "memory",
        ("words", "num_stored"),
        {
            "Of a prompt that is admitted and not computed yet, several words may be missing.": (
                mistakes.one_word_is_left
            ),
            "All of its words are stored, and none is left to ask for the next one.": (
                mistakes.no_more_than_all_is_stored
            ),
        },
    ),
    "blocked": Claim(
        partial(arrivals, BLOCKED),
        "queue",
        ("num_blocks", "block_size", "num_free", "waiting"),
        {
            "Those that wait need not fit all at once.": mistakes.all_fit_together,
            "What others hold now comes back. Compare with the whole memory.": mistakes.each_fits_now,
            "A request that needs every block fits.": mistakes.each_leaves_a_block,
            "A block that is begun is needed whole: round up.": mistakes.full_blocks_fit,
        },
    ),
}
