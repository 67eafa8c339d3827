"""The checks of lab 3: whose fault it is, what a copied table costs, and words for nonsense."""

import pytest

from kvlib.errors import DoubleFree, OutOfBlocks
from kvlib.grading.exercises.allocator.checks import EXERCISES, check
from kvlib.grading.exercises.allocator.slots import CountedTable

IN_POOL = "check('pool', Pool) finds a fault in your Pool, so mend that first."
IN_MANAGER = "check('manager', Manager) finds a fault in your Manager, so mend that first."


class Pool:
    def __init__(self, num_blocks):
        self.owned = dict.fromkeys(range(1, num_blocks + 1), False)

    @property
    def num_free(self):
        return list(self.owned.values()).count(False)

    def take(self, count):
        taken = [block for block in self.owned if not self.owned[block]][:count]
        if len(taken) < count:
            raise OutOfBlocks(count)
        self.owned.update(dict.fromkeys(taken, True))
        return taken

    def give_back(self, blocks):
        if len(set(blocks)) < len(blocks) or not all(map(self.owned.get, blocks)):
            raise DoubleFree(blocks)
        self.owned.update(dict.fromkeys(blocks, False))


class LosingPool(Pool):
    def give_back(self, blocks):
        super().give_back(blocks[1:])


class RaisingPool(Pool):
    def give_back(self, blocks):
        raise DoubleFree(blocks)


class Manager:
    pool_class = Pool

    def __init__(self, num_blocks, block_size):
        self.block_size, self.pool = block_size, self.pool_class(num_blocks)
        self.tables, self.lengths = {}, {}

    def can_admit(self, num_tokens):
        return -(-num_tokens // self.block_size) <= self.pool.num_free

    def admit(self, seq, num_tokens):
        self.tables[seq] = self.pool.take(-(-num_tokens // self.block_size))
        self.lengths[seq] = num_tokens

    def free(self, seq):
        self.pool.give_back(self.tables.pop(seq))
        del self.lengths[seq]


def append(self, seq):
    if self.lengths[seq] % self.block_size == 0:
        self.tables[seq] += self.pool.take(1)
    self.lengths[seq] += 1


def growing(base):
    return type("GrowingManager", (base,), {"append": append})


def named_manager(**overridden):
    return type("Manager", (Manager,), overridden)


def words(name, answer):
    return check(name, answer).words


def test_right_parts_make_a_right_whole():
    assert check("pool", Pool).is_right
    assert check("manager", Manager).is_right
    assert check("growing", growing(Manager)).is_right


@pytest.mark.parametrize("pool", [LosingPool, RaisingPool])
def test_a_fault_of_the_pool_is_said_to_be_its_own(pool):
    assert words("manager", named_manager(pool_class=pool)).startswith(IN_POOL)
    assert words("growing", growing(named_manager(pool_class=pool))).startswith(IN_POOL)


def test_a_fault_of_the_manager_is_said_to_be_its_own():
    keeping = named_manager(free=lambda self, seq: None)
    assert words("growing", growing(keeping)).startswith(IN_MANAGER)


def test_a_fault_above_right_parts_is_blamed_on_none_of_them():
    idle = type("GrowingManager", (Manager,), {"append": lambda self, seq: None})
    assert "finds a fault" not in words("manager", named_manager(free=lambda self, seq: None))
    assert "finds a fault" not in words("growing", idle)


def test_what_is_not_written_yet_is_blamed_on_nobody():
    def unwritten(self, num_tokens):
        raise NotImplementedError

    over_a_fault = named_manager(pool_class=LosingPool, can_admit=unwritten)
    assert words("manager", over_a_fault).startswith("Nothing is written yet")


@pytest.mark.parametrize(
    "copied",
    [
        lambda table: table.copy(),
        lambda table: table[:],
        lambda table: list(table),
        lambda table: table + [],  # noqa: RUF005
        lambda table: [] + table,  # noqa: RUF005
        lambda table: table * 1,
        lambda table: 1 * table,
        lambda table: list(reversed(table))[::-1],
        lambda table: [*table],
    ],
)
def test_a_copy_of_a_table_looks_up_all_its_entries_once(copied):
    table = CountedTable([5, 2, 8])
    assert copied(table) == [5, 2, 8]
    assert table.num_read == 3


@pytest.mark.parametrize("name", EXERCISES.names)
@pytest.mark.parametrize("nonsense", [None, 3, [1, 2], lambda **_: None, lambda **_: "12", lambda wrong: 1, Pool(3)])
def test_nonsense_is_wrong_in_words(name, nonsense):
    verdict = check(name, nonsense)
    assert not verdict.is_right
    assert verdict.words.endswith(".")


def test_an_object_in_place_of_its_class_is_told_so():
    said = "It is Pool and cannot be called; the check calls answer(num_blocks=...): give the name alone, "
    assert words("pool", Pool(3)) == f"{said}without brackets."
