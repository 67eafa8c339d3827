"""The graders graded: right answers of several builds pass, and each known wrong one fails with its own message."""

import pytest
import torch

from kvlib.attention.triton import naive, paged_decode
from kvlib.errors import BadInput
from kvlib.grading.kernel_checks import CHECKS, check, work

from .answers import edited, module, sources, without_solution
from .other_kernels import one_after_another, token_by_token

V_MASK = "tl.load(value_cache + at, mask={}[:, None], other=0)"

# exercise: {fault: (edits, words of the verdict)}
WRONG = {
    "first": {
        "values not masked": ([(V_MASK.format("filled"), "tl.load(value_cache + at)")], "sequence 1 (5 tokens"),
        "score of empty slots not masked": (
            [("tl.where(filled, tl.exp(tl.sum(key * row[None, :], 1) * scale), 0.0)",
              "tl.exp(tl.sum(key * row[None, :], 1) * scale)")],
            "slots without a token weigh too",
        ),
        "logical block for the physical": (
            [("block = tl.load(table + logical_block)", "block = logical_block")],
            "block 0 was read",
        ),
        "table of another sequence": (
            [("block_tables + sequence * table_row", "block_tables")], "row of its own sequence"
        ),
        "turns rounded down": (
            [("tl.cdiv(context_len, BLOCK_SIZE)", "context_len // BLOCK_SIZE")], "round the number of turns up"
        ),
        "one turn too many, nothing masked": (
            [("tl.cdiv(context_len, BLOCK_SIZE)", "tl.cdiv(context_len, BLOCK_SIZE) + 1"),
             (", mask=filled[:, None], other=0", "")],
            "outside all of its arguments",
        ),
        "scale left out": ([(", 1) * scale", ", 1)")], "the scale is left out"),
        "wrong KV head": ([("head // GROUP", "head % GROUP")], "it belongs to KV head 0"),
        "not divided": ([("weighted / tl.where(total > 0, total, 1.0)", "weighted")], "not divided by their sum"),
        "zero by zero": ([("tl.where(total > 0, total, 1.0)", "total")], "the sum of its weights is 0"),
        "only the last block": (
            [("weighted += ", "weighted = "), ("total += ", "total = ")], "of all tokens only 32 to 39 count"
        ),
        "exp2": ([("tl.exp(", "tl.exp2(")], "tl.exp2 stands for tl.exp"),
        "stored every turn": (
            [("        weighted += tl.sum(weight[:, None] * value, 0)\n",
              "        weighted += tl.sum(weight[:, None] * value, 0)\n        tl.store(output + place, weighted)\n")],
            "is written 2 times",
        ),
        "half a row": (
            [("tl.store(output + place, attended)", "tl.store(output + place, attended, mask=dim < 8)")],
            "not written, or not whole",
        ),
        "a row of zeros written over the query": (
            [("tl.store(output + place, attended)",
              "tl.store(output + place, attended)\n    tl.store(query + place, attended)")],
            "writes into query",
        ),
        "rows of another program": (
            [("tl.load(query + place)", "tl.load(query + (place + HEAD_SIZE) % (16 * HEAD_SIZE))")],
            "has the row of head 1 of sequence 0",
        ),
        "a name that is not there": ([("tl.cdiv(context_len", "tl.cdiv(context_length")], "It raises NameError"),
    },
    "online": {
        "no maximum": (
            [("tl.exp(score - new_maximum)", "tl.exp(score)"), ("tl.exp(maximum - new_maximum)", "1.0")],
            "subtract the largest score",
        ),
        "weighted values not rescaled": (
            [("weighted = weighted * rescale", "weighted = weighted")], "weighted values are not rescaled"
        ),
        "total not rescaled": ([("total = total * rescale", "total = total")], "the total are not rescaled"),
        "nothing rescaled": (
            [("rescale = tl.exp(maximum - new_maximum)", "rescale = 1.0")], "weighted values and the total are not"
        ),
        "maximum of this turn alone": (
            [("tl.maximum(maximum, tl.max(score, 0))", "tl.max(score, 0)")], "e to more than 88 is infinite"
        ),
        "masked scores are zero": ([('* scale, float("-inf"))', "* scale, 0.0)")], "slots without a token weigh too"),
    },
    "tiled": {
        "offset in the block forgotten": ([(" + position % BLOCK_SIZE", "")], "(50 tokens in 3 blocks of 24)"),
        "one token a turn": ([("TOKENS=16", "TOKENS=1")], "It takes 40 turns for 40 tokens"),
        "table read past its end": (
            [("position // BLOCK_SIZE, mask=seen, other=0)", "position // BLOCK_SIZE)")], "outside all of its arguments"
        ),
        "block by shift": ([("position // BLOCK_SIZE", "(position >> 4)")], "program (0, 0, 0)"),
        "the last tile left out": (
            [("range(0, context_len, TOKENS)", "range(0, context_len // TOKENS * TOKENS, TOKENS)")],
            "the last 2 tokens are left out",
        ),
    },
    "grouped": {
        "the row that is nobody's is stored": ([("attended, mask=mine)", "attended)")], "writes 16 numbers outside"),
        "groups of ROWS heads": ([("kv_head * GROUP + row", "kv_head * ROWS + row")], "outside all of its arguments"),
        "maximum of the whole tile": (
            [("tl.max(score, 1)", "tl.max(score)"), ("new_maximum[:, None]", "new_maximum"),
             ('tl.full([ROWS], float("-inf"), tl.float32)', 'float("-inf")'), ("rescale[:, None]", "rescale")],
            "each head needs a maximum of its own",
        ),
        "columns for rows": ([("tl.where(seen[None, :], score", "tl.where(seen[:, None], score")], "It raises"),
        "values not masked": ([(V_MASK.format("seen"), "tl.load(value_cache + at)")], "is NaN"),
    },
    "combine": {
        "mean of the parts": (
            [("weight = tl.exp(log_sum - tl.where(largest == float(\"-inf\"), 0.0, largest))",
              "weight = tl.where(there, 1.0, 0.0)")],
            "every split has the same weight",
        ),
        "sum of the parts": (
            [("weight = tl.exp(log_sum - tl.where(largest == float(\"-inf\"), 0.0, largest))",
              "weight = tl.where(there, 1.0, 0.0)"), ("tl.where(total > 0, total, 1.0)", "1.0")],
            "the parts are added up",
        ),
        "not divided": ([("tl.where(total > 0, total, 1.0)", "1.0")], "not divided by their sum"),
        "largest not subtracted": (
            [("tl.exp(log_sum - tl.where(largest == float(\"-inf\"), 0.0, largest))", "tl.exp(log_sum)")],
            "subtract the largest first",
        ),
        "no split has a token": (
            [("tl.where(largest == float(\"-inf\"), 0.0, largest)", "largest")], "no split has a token"
        ),
        "splits past the last": (
            [("mask=there, other=float(\"-inf\"))", "mask=split < num_splits + 3, other=float(\"-inf\"))")],
            "outside all of its arguments",
        ),
    },
    "split": {
        "a split reads to the end": (
            [("tl.minimum(context_len, begin + split_len)", "context_len")], "a split reads on to the end"
        ),
        "the last tile reads on": (
            [("seen = position < end", "seen = position < context_len")], "the last tile of a split reads into the next"
        ),
        "a program leaves early": (
            [("    weighted, total = tl.zeros",
              "    if begin >= context_len:\n        return\n    weighted, total = tl.zeros")],
            "log_sums was read where nothing was written",
        ),
        "maximum forgotten": ([("maximum + tl.log(safe)", "tl.log(safe)")], "a log sum is log(total) alone"),
        "total forgotten": ([("maximum + tl.log(safe)", "maximum")], "a log sum is the maximum alone"),
        "parts not divided": ([("weighted / safe[:, None]", "weighted")], "not divided by their sum"),
        "one split whatever is asked": (
            [("split(query, key_cache, output, num_splits, max_context_len, **inputs):",
              "split(query, key_cache, output, num_splits, max_context_len, **inputs):\n    num_splits = 1")],
            "one program still reads 70 tokens",
        ),
    },
}  # fmt: skip


@pytest.mark.parametrize("exercise", CHECKS)
def test_the_model_answer_is_right(exercise, tmp_path):
    verdict = check(exercise, getattr(module(tmp_path), exercise))
    assert (str(verdict), verdict.is_right) == (f"{exercise}: right. {CHECKS[exercise][1]}", True)


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("first", naive),
        ("first", token_by_token),
        ("online", naive),
        ("online", token_by_token),
        ("tiled", lambda **inputs: paged_decode(**inputs, max_context_len=50 if len(inputs["query"]) == 3 else 40)),
        ("grouped", lambda **inputs: paged_decode(**inputs, max_context_len=33, num_splits=1)),
        ("combine", one_after_another),
        ("split", paged_decode),
    ],
)
def test_a_right_answer_of_another_build_is_right(exercise, answer):
    assert str(check(exercise, answer)) == f"{exercise}: right. {CHECKS[exercise][1]}"


@pytest.mark.parametrize(
    ("exercise", "fault"), [(exercise, fault) for exercise, faults in WRONG.items() for fault in faults]
)
def test_a_wrong_answer_is_caught_with_its_own_message(exercise, fault, tmp_path):
    edits, words = WRONG[exercise][fault]
    answers = module(tmp_path, **{exercise: edited(exercise, *edits)})
    verdict = check(exercise, getattr(answers, exercise))
    assert not verdict.is_right
    assert words in verdict.words
    assert "\n" not in str(verdict)


def test_every_exercise_has_wrong_answers_with_messages_of_their_own():
    assert set(WRONG) == set(CHECKS)
    for faults in WRONG.values():
        assert len({words for _, words in faults.values()}) >= 2


@pytest.mark.parametrize("exercise", CHECKS)
def test_a_cell_without_its_solution_fails(exercise, tmp_path):
    answers = module(tmp_path, **{exercise: without_solution(exercise)})
    assert not check(exercise, getattr(answers, exercise)).is_right


@pytest.mark.parametrize("exercise", CHECKS)
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda **_: None, "No kernel was launched"),
        (lambda **inputs: inputs["output"].zero_(), "No kernel was launched"),
        (lambda: None, "It raises TypeError"),
        (None, "It raises TypeError"),
    ],
)
def test_what_launches_no_kernel_is_wrong(exercise, answer, words):
    verdict = check(exercise, answer)
    assert (verdict.is_right, words in verdict.words) == (False, True)


def test_a_verdict_does_not_depend_on_answers_before_it(tmp_path):
    right = module(tmp_path).first

    def spoils(**inputs):
        for tensor in inputs.values():
            if isinstance(tensor, torch.Tensor):
                tensor.zero_()

    assert not check("first", spoils).is_right
    assert check("first", right).is_right


def test_an_exercise_that_is_not_known_is_refused():
    with pytest.raises(BadInput, match="exercise is 'second'; known are first, online"):
        check("second", print)


def test_work_counts_programs_turns_and_reads(tmp_path):
    answers = module(tmp_path)
    assert work(answers.first) == work(answers.online) == (16, 12, 4.0)
    assert work(answers.tiled) == (16, 6, 4.0)
    assert work(answers.grouped) == (4, 6, 1.0)
    assert work(answers.split, num_splits=4, max_context_len=96) == (4 * 4 + 16, 2, 1.0)


def test_work_of_a_wrong_answer_is_not_counted(tmp_path):
    wrong = module(tmp_path, first=edited("first", (", 1) * scale", ", 1)")))
    assert work(wrong.first).startswith("Not counted, as it is wrong. Head 0 of sequence 0")


def test_the_answers_of_the_lab_are_those_of_the_checks():
    assert set(sources()) - {""} == set(CHECKS)
