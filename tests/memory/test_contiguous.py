"""Reservations and the three wastes. The definitions are those of the PagedAttention paper, section 3.1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib import ledger
from kvlib.errors import BadConfig, BadInput, OutOfBlocks, RequestTooLarge, UnknownSequence
from kvlib.memory.buddy import BuddyAllocator
from kvlib.memory.contiguous import ContiguousManager, Split
from kvlib.memory.first_fit import FirstFitAllocator
from kvlib.memory.reservation import Max, Oracle, Pow2

POLICIES = [Max, Pow2, Oracle]


def paper(id):
    return ledger.load()[id].value


def state(manager):
    splits = {seq: manager.split_of(seq) for seq in manager.sequences}
    return splits, manager.split(), manager.split(next_slots=5), dict(manager.allocator._chunks), manager._full_at


@pytest.mark.parametrize(("name", "num_prompt_tokens", "num_output_tokens"), [("a", 7, 3), ("b", 3, 2)])
def test_figure_3_one_token_is_written_the_others_are_to_come_and_the_rest_is_never_used(
    name, num_prompt_tokens, num_output_tokens
):
    longest, unused = paper(f"fig3-longest-{name}"), paper(f"fig3-unused-{name}")
    manager = ContiguousManager(4096, Max(longest))
    manager.admit("it", num_prompt_tokens, num_output_tokens)
    manager.write("it")
    assert manager.split_of("it") == Split(num_prompt_tokens + 1, num_output_tokens - 1, unused, 0, 0)
    manager.write("it", num_output_tokens - 1)
    assert manager.split_of("it") == Split(longest - unused, 0, unused, 0, 0)


def test_seven_longest_sequences_fill_the_memory_of_opt_13b_but_for_gaps():
    manager = ContiguousManager(paper("opt-13b-slots"), Max(2048))
    while manager.can_admit(161, 338):
        manager.admit(len(manager.sequences), 161, 338)
    assert len(manager.sequences) == paper("opt-13b-longest-fit") == paper("orca-max-batched")
    split = manager.split(next_slots=2048)
    assert split == Split(7 * 161, 7 * 338, 7 * (2048 - 161 - 338), 1392, 0)
    assert 100 * split.external / sum(split) == pytest.approx(paper("orca-max-external-derived"))
    assert round(100 * split.external / sum(split), 1) == paper("orca-max-external")
    with pytest.raises(OutOfBlocks):
        manager.admit("one more", 161, 338)


def test_pow2_reserves_32_slots_for_25_output_tokens_and_the_prompt_as_it_is():
    assert Pow2(2048).reserve(100, paper("pow2-example-true")) == 100 + paper("pow2-example-reserved")


@pytest.mark.parametrize(
    ("policy", "num_prompt_tokens", "num_output_tokens", "slots"),
    [
        (Max, 1, 1, 2048),
        (Max, 1024, 1024, 2048),
        (Pow2, 161, 338, 161 + 512),
        (Pow2, 7, 1, 8),
        (Pow2, 1000, 1025, 2048),
        (Oracle, 161, 338, 499),
        (Oracle, 1, 2047, 2048),
    ],
)
def test_what_each_policy_reserves(policy, num_prompt_tokens, num_output_tokens, slots):
    assert policy(2048).reserve(num_prompt_tokens, num_output_tokens) == slots


@given(st.integers(1, 1024), st.integers(1, 1024))
def test_max_reserves_most_and_oracle_least_and_pow2_at_most_twice_the_output(num_prompt_tokens, num_output_tokens):
    most, pow2, exact = (policy(2048).reserve(num_prompt_tokens, num_output_tokens) for policy in POLICIES)
    assert most >= pow2 >= exact == num_prompt_tokens + num_output_tokens
    assert pow2 - num_prompt_tokens < 2 * num_output_tokens


class Naive:
    """Remembers the tokens of every sequence, and looks at all of them each time."""

    def __init__(self):
        self.stored, self.lengths = {}, {}

    def admit(self, seq, num_prompt_tokens, num_output_tokens):
        self.stored[seq], self.lengths[seq] = num_prompt_tokens, num_prompt_tokens + num_output_tokens

    def to_come(self, seq):
        return self.lengths[seq] - self.stored[seq]


CALLS = st.one_of(
    st.tuples(st.just("admit"), st.integers(1, 12), st.integers(1, 12)),
    st.tuples(st.just("write"), st.integers(0, 9), st.integers(1, 6)),
    st.tuples(st.just("tick")),
    st.tuples(st.just("free"), st.integers(0, 9)),
)


@pytest.mark.parametrize("allocator", [BuddyAllocator, FirstFitAllocator])
@pytest.mark.parametrize("policy", POLICIES)
@given(num_slots=st.integers(1, 80), calls=st.lists(CALLS, max_size=50))
def test_the_running_totals_are_what_a_count_of_every_sequence_gives(policy, allocator, num_slots, calls):
    manager, naive = ContiguousManager(num_slots, policy(20), allocator), Naive()
    for number, (name, *arguments) in enumerate(calls):
        before = state(manager)
        sequences = manager.sequences
        try:
            if name == "admit":
                possible = manager.can_admit(*arguments)
                manager.admit(number, *arguments)
                assert possible
                naive.admit(number, *arguments)
            elif name == "tick":
                manager.tick()
                for seq in sequences:
                    naive.stored[seq] += 1
            elif sequences:
                seq = sequences[arguments[0] % len(sequences)]
                if name == "write":
                    manager.write(seq, arguments[1])
                    naive.stored[seq] += arguments[1]
                else:
                    manager.free(seq)
                    del naive.stored[seq], naive.lengths[seq]
        except (OutOfBlocks, RequestTooLarge):
            assert not possible
            assert state(manager) == before
        except BadInput:
            short = 1 if name == "tick" else arguments[1]
            assert any(naive.to_come(seq) < short for seq in (sequences if name == "tick" else [seq]))
            assert state(manager) == before
        assert manager.sequences == list(naive.stored)
        splits = {seq: manager.split_of(seq) for seq in manager.sequences}
        for seq, split in splits.items():
            assert split.stored == naive.stored[seq]
            assert split.reserved == naive.to_come(seq)
            assert sum(split) == manager.chunk(seq)[1]
            assert min(split) >= 0
        total = manager.split()
        assert sum(total) == num_slots
        assert total == Split(*map(sum, zip(*splits.values(), (0, 0, 0, 0, manager.allocator.num_free))))
    for seq in manager.sequences:
        manager.free(seq)
    assert manager.split() == Split(0, 0, 0, 0, num_slots)


@given(lengths=st.lists(st.integers(2, 20), max_size=8), next_slots=st.integers(1, 100))
def test_naming_the_next_request_only_moves_free_slots_to_external(lengths, next_slots):
    manager = ContiguousManager(60, Oracle(20))
    for seq, length in enumerate(lengths):
        if manager.can_admit(1, length - 1):
            manager.admit(seq, 1, length - 1)
    plain, named = manager.split(), manager.split(next_slots=next_slots)
    assert named[:3] == plain[:3]
    assert sum(named) == sum(plain) == 60
    assert (named.free > 0) == manager.allocator.can_allocate(next_slots)


def test_rounding_to_the_chunk_is_external_and_over_reservation_internal():
    manager = ContiguousManager(128, Pow2(64))
    manager.admit("it", 10, 25)
    assert manager.chunk("it") == (0, 64)
    assert manager.split_of("it") == Split(10, 25, 7, 22, 0)
    assert manager.split() == Split(10, 25, 7, 22, 64)


def test_a_tick_stores_one_token_of_every_sequence_and_none_of_a_later_one():
    manager = ContiguousManager(128, Oracle(64))
    manager.admit("early", 4, 6)
    manager.tick()
    manager.write("early", 2)
    manager.admit("late", 5, 9)
    manager.tick()
    assert (manager.split_of("early").stored, manager.split_of("late").stored) == (4 + 1 + 2 + 1, 5 + 1)


def test_a_tick_past_the_end_of_one_sequence_names_it_and_stores_nothing():
    manager = ContiguousManager(128, Oracle(64))
    manager.admit("short", 4, 1)
    manager.admit("long", 4, 9)
    manager.tick()
    with pytest.raises(BadInput, match="'short'"):
        manager.tick()
    assert manager.split_of("long").stored == 5
    manager.free("short")
    manager.tick()
    assert manager.split_of("long").stored == 6


def test_a_write_past_the_last_token_is_refused_though_max_reserved_more():
    manager = ContiguousManager(128, Max(64))
    manager.admit("it", 4, 3)
    with pytest.raises(BadInput, match="4 more tokens, 3 of its 7 are to come"):
        manager.write("it", 4)
    assert manager.split_of("it").stored == 4


@pytest.mark.parametrize("num_tokens", [0, -1, 1.0, None])
def test_a_write_of_no_count_of_tokens_is_refused(num_tokens):
    manager = ContiguousManager(128, Oracle(64))
    manager.admit("it", 4, 3)
    with pytest.raises(BadInput, match="num_tokens is"):
        manager.write("it", num_tokens)


@pytest.mark.parametrize("call", ["write", "free", "chunk", "split_of"])
def test_a_sequence_that_holds_nothing_is_unknown(call):
    manager = ContiguousManager(128, Oracle(64))
    manager.admit("here", 4, 3)
    with pytest.raises(UnknownSequence, match="'gone' holds memory here; those that do: \\['here'\\]"):
        getattr(manager, call)("gone")


def test_an_id_is_admitted_once_until_it_is_freed():
    manager = ContiguousManager(128, Oracle(64))
    manager.admit("it", 4, 3)
    with pytest.raises(BadInput, match="'it' already holds memory"):
        manager.admit("it", 4, 3)
    assert "it" in manager
    manager.free("it")
    assert "it" not in manager
    manager.admit("it", 4, 3)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_sequence_longer_than_the_longest_never_fits(policy):
    manager = ContiguousManager(4096, policy(64))
    manager.check_fits(32, 32)
    for refuse in (manager.check_fits, lambda *lengths: manager.admit("it", *lengths)):
        with pytest.raises(RequestTooLarge, match="are 65, the longest sequence has 64"):
            refuse(32, 33)
    assert not manager.can_admit(32, 33)


def test_a_reservation_larger_than_the_largest_chunk_never_fits():
    manager = ContiguousManager(15, Oracle(64))
    with pytest.raises(RequestTooLarge, match="9 slots want a chunk of 16"):
        manager.check_fits(4, 5)
    assert not manager.can_admit(4, 5)
    ContiguousManager(15, Oracle(64), FirstFitAllocator).check_fits(4, 5)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("lengths", [(0, 1), (1, 0), (-1, 5), (2.0, 5), (5, True), (None, 5)])
def test_lengths_that_are_no_counts_are_refused(policy, lengths):
    manager = ContiguousManager(128, policy(64))
    for refuse in (manager.can_admit, manager.check_fits, lambda *lengths: manager.admit("it", *lengths)):
        with pytest.raises(BadInput, match="_tokens is"):
            refuse(*lengths)
    assert manager.sequences == []


@pytest.mark.parametrize("longest", [0, -1, 1.5, None])
def test_a_longest_sequence_that_is_no_count_is_refused(longest):
    with pytest.raises(BadConfig, match="longest is"):
        Max(longest)


def test_a_next_request_of_no_slots_is_refused():
    with pytest.raises(BadInput, match="next_slots is 0"):
        ContiguousManager(128, Max(64)).split(next_slots=0)


def test_a_policy_that_reserves_too_little_or_is_none_is_refused():
    class TooLittle(Max):
        def reserve(self, num_prompt_tokens, num_output_tokens):
            return 5

    manager = ContiguousManager(100, TooLittle(64))
    with pytest.raises(BadConfig, match="reserves 5 slots for 33 tokens"):
        manager.admit("A", 30, 3)
    assert manager.split().free == 100
    for policy in ("max", None, Max):
        with pytest.raises(BadConfig, match="policy is"):
            ContiguousManager(100, policy)
