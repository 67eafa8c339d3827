"""The radix manager and the block manager are told the same: where they must agree, they do."""

from hypothesis import given
from hypothesis import strategies as st

from kvlib.errors import OutOfBlocks, RequestTooLarge
from kvlib.memory import BlockManager, PrefixHasher
from kvlib.memory.pages import Pages
from kvlib.memory.radix_manager import RadixManager
from kvlib.serving.request import Request
from kvlib.serving.scheduler import Scheduler

texts = st.lists(st.integers(0, 1), min_size=1, max_size=12)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("admit"), texts),
        st.tuples(st.just("append"), st.integers(0, 9), texts),
        st.tuples(st.just("publish"), st.integers(0, 9)),
        st.tuples(st.just("fork"), st.integers(0, 9)),
        st.tuples(st.just("free"), st.integers(0, 9)),
    ),
    max_size=30,
)


class Twins:
    """A block manager with hashed keys and a radix manager that are told the same."""

    def __init__(self, num_blocks, block_size):
        self.hashed, self.radix = BlockManager(num_blocks, block_size), RadixManager(num_blocks, block_size)
        self.starts = PrefixHasher(block_size).start, Pages(block_size).start
        self.keys = {}  # sequence -> its keys for one and for the other
        self.texts = {}
        self.num_started = 0

    def start(self, text):
        seq = self.num_started
        self.num_started += 1
        self.keys[seq] = [start() for start in self.starts]
        self.texts[seq] = []
        self.extend(seq, text)
        return seq

    def extend(self, seq, text):
        self.texts[seq] += text
        for keys in self.keys[seq]:
            keys.extend(text)

    def both(self, call):
        """What the call returns, the same from both: a value, or the class of the error that says it does not fit."""
        answers = []
        for manager, number in ((self.hashed, 0), (self.radix, 1)):
            try:
                answers.append(call(manager, number))
            except (OutOfBlocks, RequestTooLarge) as error:
                answers.append(type(error))
        assert answers[0] == answers[1]
        return answers[0]

    def play(self, step, publishes):
        kind, *arguments = step
        if kind == "admit":
            seq = self.start(arguments[0])
            self.both(lambda manager, number: manager.admit(seq, len(arguments[0]), self.keys[seq][number].keys))
        elif self.hashed.sequences:
            seq = self.hashed.sequences[arguments[0] % len(self.hashed.sequences)]
            keys = self.keys[seq]
            if kind == "append":
                if self.both(lambda manager, _: manager.append(seq, len(arguments[1]))) is not OutOfBlocks:
                    self.extend(seq, arguments[1])
            elif kind == "publish" and publishes(seq):
                self.both(lambda manager, number: manager.publish(seq, keys[number].keys))
            elif kind == "fork":
                child = self.start(self.texts[seq])
                self.both(lambda manager, _: manager.fork(seq, child))
            elif kind == "free":
                self.both(lambda manager, _: manager.free(seq))

    def has_no_duplicates(self, seq):
        """Whether no block of `seq` holds what another block has under its key."""
        blocks, keys = self.hashed.table(seq).blocks, self.keys[seq][0].keys
        return all(self.hashed.pool.find([key]) in ([], [block]) for block, key in zip(blocks, keys))


@given(steps=steps, block_size=st.integers(1, 4))
def test_in_a_large_pool_it_finds_what_the_block_manager_finds(steps, block_size):
    twins = Twins(1_000, block_size)
    for step in steps:
        twins.play(step, publishes=lambda seq: True)
        assert twins.hashed.sequences == twins.radix.sequences


@given(steps=steps, num_blocks=st.integers(1, 16), block_size=st.integers(1, 4))
def test_without_duplicates_it_hands_out_and_evicts_the_same_blocks_as_the_block_manager(steps, num_blocks, block_size):
    twins = Twins(num_blocks, block_size)
    for step in steps:
        twins.play(step, publishes=twins.has_no_duplicates)
        assert twins.hashed.num_free_blocks == twins.radix.num_free_blocks
        for seq in twins.hashed.sequences:
            assert twins.hashed.table(seq).blocks == twins.radix.table(seq).blocks


def serve(manager, new_keys, prompts):
    """Let a scheduler write five tokens after each prompt -> what each step did, and the tokens found in the cache."""
    scheduler, keys, told = Scheduler(manager), {}, []
    for number, prompt in enumerate(prompts):
        keys[str(number)] = new_keys()
        keys[str(number)].extend(prompt)
        scheduler.add(Request(str(number), len(prompt), 5, keys=keys[str(number)].keys))
    while scheduler.has_unfinished():
        step = scheduler.schedule()
        told.append([str(part) for part in (step.prefills, step.decodes, step.preempted)])
        scheduler.computed(step)
        for request, sequence, _, _ in step.prefills + step.decodes:
            keys[request.request_id].extend([sequence.num_tokens % 2])
            sequence.append()
            if sequence.num_tokens == request.num_prompt_tokens + 5:
                scheduler.finish(request, "length")
    assert manager.num_free_blocks == manager.pool.num_blocks
    return told, scheduler.hits.num_hit


@given(block_size=st.integers(1, 5), prompts=st.lists(texts, min_size=1, max_size=6))
def test_a_scheduler_takes_the_same_steps_over_either_manager(block_size, prompts):
    hashed = serve(BlockManager(200, block_size), PrefixHasher(block_size).start, prompts)
    assert serve(RadixManager(200, block_size), Pages(block_size).start, prompts) == hashed


@given(num_blocks=st.integers(16, 24), prompts=st.lists(texts, min_size=1, max_size=6))
def test_in_a_small_memory_every_request_is_written_to_its_end(num_blocks, prompts):
    told, _ = serve(RadixManager(num_blocks), Pages().start, prompts)
    assert told
