"""The allocators of contiguous chunks, against a map of every slot that cannot be wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.errors import BadConfig, BadInput, DoubleFree, OutOfBlocks, RequestTooLarge
from kvlib.memory.buddy import BuddyAllocator, next_power_of_two
from kvlib.memory.first_fit import FirstFitAllocator

BOTH = [BuddyAllocator, FirstFitAllocator]
OPT_13B_SLOTS = 15_728


def chunks_of_the_empty_memory(num_slots):
    """(start, size) of the powers of two that add up to num_slots, the largest first."""
    start = 0
    for size in (1 << bit for bit in range(num_slots.bit_length(), -1, -1)):
        if num_slots & size:
            yield start, size
            start += size


def free_buddies(used, start, size):
    """(start, size) of the free chunks in a chunk that was halved only where something is used."""
    if not any(used[start : start + size]):
        yield start, size
    elif size > 1:
        yield from free_buddies(used, start, size // 2)
        yield from free_buddies(used, start + size // 2, size // 2)


def free_runs(used):
    """(start, size) of the longest ranges of free slots."""
    start = 0
    for slot, taken in enumerate([*used, True]):
        if taken:
            if slot > start:
                yield start, slot - start
            start = slot + 1


def gaps(kind, used):
    if kind is FirstFitAllocator:
        return list(free_runs(used))
    roots = chunks_of_the_empty_memory(len(used))
    return [gap for start, size in roots for gap in free_buddies(used, start, size)]


def best(kind, fitting):
    """The gap that is to be taken: the lowest, for the buddy the lowest of the smallest."""
    return min(fitting, key=lambda gap: gap if kind is FirstFitAllocator else gap[::-1])


def state(allocator):
    return allocator.num_free, sorted(allocator._gaps()), dict(allocator._chunks)


CALLS = st.lists(st.tuples(st.booleans(), st.integers(1, 3) | st.integers(1, 20)), min_size=12, max_size=40)


@pytest.mark.parametrize("kind", BOTH)
@given(num_slots=st.integers(1, 40), calls=CALLS)
def test_chunks_are_given_and_joined_as_a_map_of_all_slots_says(kind, num_slots, calls):
    allocator, used, chunks = kind(num_slots), [False] * num_slots, []
    for takes, number in calls:
        if takes:
            slots = next_power_of_two(number) if kind is BuddyAllocator else number
            fitting = [gap for gap in gaps(kind, used) if gap[1] >= slots]
            assert allocator.can_allocate(number) == bool(fitting)
            before = state(allocator)
            try:
                start = allocator.allocate(number)
            except RequestTooLarge:
                assert not [size for _, size in gaps(kind, [False] * num_slots) if size >= slots]
                assert state(allocator) == before
            except OutOfBlocks:
                assert not fitting
                assert state(allocator) == before
            else:
                assert start == best(kind, fitting)[0]
                used[start : start + slots] = [True] * slots
                chunks.append((start, slots))
        elif chunks:
            start, slots = chunks.pop(number % len(chunks))
            allocator.free(start)
            used[start : start + slots] = [False] * slots
        assert allocator.free_chunks == sorted(gaps(kind, used))
        sizes = [size for _, size in gaps(kind, used)]
        assert allocator.num_free == used.count(False)
        assert allocator.largest_free == max(sizes, default=0)
        assert allocator.stranded(5) == sum(size for size in sizes if size < allocator.chunk_size(5))
    for start, _ in chunks:
        allocator.free(start)
    assert state(allocator) == state(kind(num_slots))


@given(num_slots=st.integers(1, 100_000))
def test_the_empty_buddy_memory_is_the_powers_of_two_that_add_up_to_it(num_slots):
    allocator = BuddyAllocator(num_slots)
    for start, size in chunks_of_the_empty_memory(num_slots):
        assert start % size == 0
        assert allocator.allocate(size) == start
    assert allocator.num_free == allocator.largest_free == 0


def test_opt_13b_slots_begin_as_eight_chunks():
    sizes = [size for _, size in chunks_of_the_empty_memory(OPT_13B_SLOTS)]
    assert sizes == [8192, 4096, 2048, 1024, 256, 64, 32, 16]
    assert [size for _, size in BuddyAllocator(OPT_13B_SLOTS).free_chunks] == sizes


def test_a_chunk_is_halved_down_to_the_request_and_joined_again():
    allocator = BuddyAllocator(16)
    assert [allocator.allocate(size) for size in (3, 4, 1)] == [0, 4, 8]
    assert sorted(size for _, size in allocator.free_chunks) == [1, 2, 4]
    allocator.free(4)
    allocator.free(8)
    assert allocator.largest_free == 8  # slots 4 to 7 wait for their buddy
    allocator.free(0)
    assert allocator.largest_free == 16


def test_neighbours_that_are_no_buddies_stay_apart():
    allocator = BuddyAllocator(16)
    starts = [allocator.allocate(4) for _ in range(4)]
    allocator.free(starts[1])
    allocator.free(starts[2])
    assert (allocator.num_free, allocator.largest_free) == (8, 4)
    with pytest.raises(OutOfBlocks, match="8 of 16 slots are free, at most 4 of them in one chunk"):
        allocator.allocate(8)


def test_of_equal_chunks_the_one_with_the_lowest_address_is_taken_whatever_was_freed_last():
    allocator = BuddyAllocator(16)
    starts = [allocator.allocate(4) for _ in range(4)]
    allocator.free(starts[0])
    allocator.free(starts[2])
    assert [allocator.allocate(4), allocator.allocate(4)] == [0, 8]


def test_first_fit_joins_all_neighbours_and_takes_the_lowest_gap_though_a_later_one_fits_better():
    allocator = FirstFitAllocator(16)
    starts = [allocator.allocate(size) for size in (5, 3, 3, 5)]
    assert starts == [0, 5, 8, 11]
    allocator.free(0)
    allocator.free(8)
    assert allocator.allocate(3) == 0
    allocator.free(5)
    assert allocator.largest_free == 8


@pytest.mark.parametrize(("number", "power"), [(1, 1), (2, 2), (3, 4), (25, 32), (32, 32), (33, 64), (2048, 2048)])
def test_next_power_of_two(number, power):
    assert next_power_of_two(number) == power


@pytest.mark.parametrize(("kind", "largest"), [(BuddyAllocator, 8192), (FirstFitAllocator, OPT_13B_SLOTS)])
def test_a_chunk_larger_than_the_empty_memory_has_is_refused_for_good(kind, largest):
    allocator = kind(OPT_13B_SLOTS)
    allocator.check_fits(largest)
    with pytest.raises(RequestTooLarge, match=f"have at most one of {largest}"):
        allocator.allocate(largest + 1)
    assert not allocator.can_allocate(largest + 1)
    assert allocator.allocate(largest) == 0


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("size", [0, -1, 2.0, True, "2", None])
def test_a_size_that_is_no_count_is_refused_by_every_call(kind, size):
    allocator = kind(16)
    for call in (allocator.allocate, allocator.can_allocate, allocator.check_fits, allocator.stranded):
        with pytest.raises(BadInput, match="size is"):
            call(size)
    assert state(allocator) == state(kind(16))


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("num_slots", [0, -5, 1.5, None])
def test_a_memory_without_a_slot_is_refused(kind, num_slots):
    with pytest.raises(BadConfig, match="num_slots is"):
        kind(num_slots)


@pytest.mark.parametrize("kind", BOTH)
def test_a_chunk_is_freed_once_and_only_from_its_first_slot(kind):
    allocator = kind(16)
    start = allocator.allocate(4)
    for wrong in (start + 1, 99):
        with pytest.raises(DoubleFree, match=f"begins at slot {wrong}"):
            allocator.free(wrong)
    with pytest.raises(BadInput, match="start is"):
        allocator.free([start])
    assert allocator.num_free == 12
    allocator.free(start)
    with pytest.raises(DoubleFree):
        allocator.free(start)
    assert state(allocator) == state(kind(16))
