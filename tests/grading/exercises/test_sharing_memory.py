"""A film of a memory that keeps no log shows what the memory holds."""

import pytest

from kvlib.chance import Chance
from kvlib.errors import OutOfBlocks
from kvlib.grading.exercises.sharing.append import as_memory
from kvlib.grading.exercises.sharing.memory import Film, Memory
from kvlib.memory import BlockManager
from kvlib.show.board import Board


@pytest.mark.parametrize("seed", range(8))
def test_a_film_holds_what_the_memory_holds_after_every_look(seed):
    chance, manager = Chance(seed), BlockManager(60, 3)
    memory = Memory(60, 3)
    film = Film(memory)
    for number in range(60):
        seqs = list(manager.sequences)
        choice = chance.below(8) if seqs else 0
        seq = seqs[chance.below(len(seqs))] if seqs else ""
        if choice == 0 and len(seqs) < 6:
            manager.admit(str(number), 1 + chance.below(9))
        elif choice == 1 and len(seqs) < 6:
            manager.fork(seq, str(number))
        elif choice == 2:
            manager.free(seq)
        else:
            manager.append(seq)
        vars(memory).update(vars(as_memory(manager)))
        film.look()
        board = Board.at(film.log)
        assert {seq: table.blocks for seq, table in board.tables.items()} == memory.tables
        assert {seq: table.num_tokens for seq, table in board.tables.items()} == memory.num_tokens
        assert board.counts == memory.counts


def test_a_memory_without_a_free_block_says_what_to_do():
    memory = Memory(num_blocks=2, block_size=4)
    memory.admit("A", 8)
    with pytest.raises(OutOfBlocks, match="free a sequence first"):
        memory.take()
