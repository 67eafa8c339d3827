"""Model answers with one edge wrong: each is told so, by the check and by what the grader compares."""

import pytest

from .workbook import workbook

SEED = 1_000_003
EDGES = [
    ("03", "pool", "[self.free.pop() for _ in range(count)]", "self.free[-count:]; del self.free[-count:]"),
    ("03", "pool", "self.used = set()", "self.used = {0}"),
    ("03", "growing", "% self.block_size == 0", "% self.block_size == 0 and self.block_size > 1"),
    ("03", "growing", "self.lengths[seq] % self.block_size == 0", "(self.lengths[seq] + 1) % self.block_size == 1"),
    ("03", "audit", "places[block] > 1", "places[block] == 2"),
    ("03", "audit", "for blocks in tables.values()", "for blocks in (tables['A'], tables['B'])"),
    ("05", "append", "[seq] % memory.block_size == 0", "[seq] % memory.block_size == 0 and memory.block_size > 1"),
    ("05", "blocks", "full = num_prompt_tokens // block_size", "full = max(1, num_prompt_tokens // block_size)"),
    ("05", "blocks", "tail = num_prompt_tokens", "tail = len(lengths) > 1 and num_prompt_tokens"),
    ("05", "blocks", "full = num_prompt_tokens // block_size", "full = num_prompt_tokens // max(2, block_size)"),
    ("06", "find", "if key not in holder", "if not holder.get(key)"),
    ("06", "find", "blocks = []", "blocks = []; keys[0]"),
    ("06", "chain", "keys, parent = [], root", "keys, parent = [] if len(token_ids) >= block_size else [root], root"),
    ("06", "key", "token.to_bytes(4", "(token % 2**24).to_bytes(4"),
    ("06", "key", 'token.to_bytes(4, "little")', 'token.to_bytes(4, "little", signed=True)'),
    ("06", "root", "framed.encode()", "str(sorted(extra.items())).encode('ascii', 'ignore')"),
    ("07", "costs", "ceil(num_tokens / block_size)", "num_tokens // block_size + 1"),
    ("07", "room", "num_running = len(stored)", "num_running = len(stored); stored[2]"),
    ("07", "room", "num_running = len(stored)", "num_running = len(stored); assert block_size > 1"),
]  # fmt: skip
NAMES = {"03": "03-your-own-allocator", "05": "05-fork-and-copy-on-write", "06": "06-prefix-caching",
         "07": "07-the-scheduler"}  # fmt: skip


@pytest.mark.parametrize(("lab", "exercise", "right", "wrong"), EDGES)
def test_a_wrong_edge_is_seen(lab, exercise, right, wrong):
    book = workbook(NAMES[lab])
    model = book.model(exercise)
    assert right in model
    ours = book.printed(exercise, model, (SEED,))
    theirs = book.printed(exercise, model.replace(right, wrong), (SEED,))
    assert f"{exercise}: wrong." in theirs.check
    assert theirs.hidden != ours.hidden


def test_a_whole_number_that_comes_as_a_float_is_worth_the_same():
    book = workbook(NAMES["05"])
    as_float = book.model("blocks").replace("return full", "return 1.0 * full")
    assert as_float != book.model("blocks")
    assert book.printed("blocks", as_float, (SEED,)) == book.printed("blocks", book.model("blocks"), (SEED,))
