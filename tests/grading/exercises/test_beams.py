"""The families of a search, as its log tells them, and the memory that counts copies."""

from kvlib.events import EventLog
from kvlib.grading.exercises.sharing.beams import BeamMemory, families
from kvlib.memory import RecordedBlockManager


def test_families_names_the_place_of_each_parent_in_the_step_before():
    log = EventLog()
    manager = RecordedBlockManager(40, 4, log)
    manager.admit("a", 6)
    manager.fork("a", "b")
    log.next_step()
    manager.append_each(["a", "b"])
    manager.free("a")
    manager.fork("b", "c")
    assert families(log) == [[0, 0], [1, 1]]


def test_a_fork_of_a_part_filled_block_costs_one_table_and_one_block():
    memory = BeamMemory(num_prompt_tokens=6, block_size=4)
    child = memory.fork("0")
    memory.append("0")
    memory.append(child)
    assert (memory.num_tables_copied, memory.num_blocks_copied, memory.num_blocks_in_use) == (1, 1, 3)
    assert memory.written("0") != memory.written(child)


def test_a_step_of_the_log_ends_where_a_beam_would_grow_again():
    memory = BeamMemory(num_prompt_tokens=6, block_size=4)
    for _ in range(3):
        memory.append("0")
    memory.fork("0")
    assert memory.log.step == 3
