import pytest

from kvlib.errors import BadInput
from kvlib.show.programs import pieces, programs, walk


def test_the_walk_visits_the_blocks_of_the_table_in_order():
    picture = walk([7, 2, 5], context_len=10, block_size=4, num_blocks=9)
    assert picture.alt == (
        "A row of 9 physical blocks. The program visits block 7 in turn 0, 2 in turn 1, 5 in turn 2."
    )


def test_entries_past_the_context_are_not_visited():
    assert "visits block 7 in turn 0, 2 in turn 1." in walk([7, 2, 5], 8, 4, 9).alt


def test_only_filled_slots_are_full():
    def full(context_len):
        return walk([1, 2], context_len, 4, 3).svg.count("fill: var(--kv-seq-a")

    assert full(8) - full(5) == 3


def test_a_larger_score_rescales_what_was_summed_before():
    picture = pieces([0.0, 1.0, 2.0, 0.0, 1.0, 2.0], tile=2)
    assert picture.alt == (
        "Scores of 6 tokens in turns of 2. What was summed before is rescaled: turn 1 has the factor 0.37; "
        "turn 2 has the factor 1.00."
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tile": 8}, "8 programs of 1 head each, at most 12 turns of 8 tokens in each."),
        ({"tile": 16}, "8 programs of 1 head each, at most 6 turns of 16 tokens in each."),
        ({"tile": 16, "heads_a_program": 4}, "2 programs of 4 heads each, at most 6 turns"),
        ({"tile": 16, "heads_a_program": 4, "num_splits": 4}, "8 programs of 4 heads each, at most 2 turns"),
    ],
)
def test_programs_and_turns_are_counted(options, said):
    picture = programs(context_len=96, block_size=8, num_heads=8, group_size=4, **options)
    assert picture.alt.startswith("96 tokens in blocks of 8, read by 8 query heads, 4 to a KV head: ")
    assert said in picture.alt


@pytest.mark.parametrize("name", ["context_len", "block_size", "num_heads", "group_size", "tile", "num_splits"])
def test_a_size_below_one_is_refused(name):
    sizes = {"context_len": 96, "block_size": 8, "num_heads": 8, "group_size": 4, "tile": 8}
    with pytest.raises(BadInput, match=f"{name} is 0"):
        programs(**{**sizes, name: 0})


@pytest.mark.parametrize(
    ("block_table", "said"),
    [
        ([7, 2], "block_table has 2 blocks of 4 for 10 tokens; give 3"),
        ([7, 2, 9], "block_table has block 9; the 9 blocks are 0 to 8"),
        ([7, -2, 5], "an entry of block_table is -2"),
    ],
)
def test_a_walk_through_blocks_that_are_not_there_is_refused(block_table, said):
    with pytest.raises(BadInput, match=said):
        walk(block_table, context_len=10, block_size=4, num_blocks=9)


def test_pieces_of_nothing_are_refused():
    with pytest.raises(BadInput, match="scores is empty"):
        pieces([], tile=4)


def test_more_turns_than_a_picture_shows_are_refused():
    with pytest.raises(BadInput, match="5000 tokens and 32 heads make 20000 turns; a picture shows 2000 at most"):
        programs(context_len=5000, block_size=8, num_heads=32, group_size=4, tile=8)
