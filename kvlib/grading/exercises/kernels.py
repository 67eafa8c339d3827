"""The checks of the lab *Write the kernel*: what the kernel of each step has to do."""

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import torch

from kvlib.bench.kernels.problems import BOUNDS, Case, error
from kvlib.chance import Chance
from kvlib.grading.exercise import Exercise, Exercises, Seen, Wrong
from kvlib.grading.kernels.exact import Exact, exact, exact_parts
from kvlib.grading.kernels.reasons import combine_reason
from kvlib.grading.kernels.trials import Answer, Trial, attend, run

HARD = (0, 200, -1000)
"""e to the second is infinite in float32, and to the third zero."""


class Work(NamedTuple):
    """What kernels did for one problem: programs; the turns of the longest; how often a key was read, on average."""

    num_programs: int
    turns: int
    reads: float

    def __str__(self) -> str:
        programs = "1 program" if self.num_programs == 1 else f"{self.num_programs} programs"
        turns = "1 turn" if self.turns == 1 else f"{self.turns} turns"
        return f"{programs + ',':13} {turns + ' at most,':17} each key read {self.reads:.1f} times"


def work(attention: Answer, **options: int) -> Work | str:
    """What `attention` does for two sequences of 96 and 40 tokens in blocks of 8, with 2 KV heads and 8 query heads.

    In words why it is not known, where the answer is wrong or its kernel is compiled.
    """
    try:
        trial = attend(attention, Case(((1, 96), (1, 40)), 8, 2, 4, 16, torch.float16), options)
    except Wrong as wrong:
        return f"Not counted, as it is wrong. {wrong}"
    if not trial.watch.sees:
        return "Not counted: only Triton's interpreter can be watched."
    return _counted(trial)


def _counted(trial: Trial) -> Work:
    watch, keys = trial.watch, trial.problem.key_cache
    reads = watch.reads(keys)
    num_programs = sum(launch.num_programs for launch in watch.launches)
    return Work(num_programs, watch.turns(keys), float(reads[reads > 0].mean()))


def _first(attention: Answer, chance: Chance) -> Iterator[Seen]:
    attend(attention, Case(((1, 16), (1, 5), (1, 40), (1, 0)), 16, 2, 3, 32, torch.float16))
    yield _means(attention, exact(chance, 16, 2, 2, 32))


def _online(attention: Answer, chance: Chance) -> Iterator[Seen]:
    case = Case(((1, 5), (1, 40), (1, 40), (1, 5), (1, 0)), 16, 2, 2, 32, torch.float16)
    attend(attention, case, sharp=[2], low=[3])
    yield _means(attention, exact(chance, 16, 2, 2, 32, HARD))


def _tiled(attention: Answer, chance: Chance) -> Iterator[Seen]:
    case = Case(((1, 50), (1, 24), (1, 5), (1, 0)), 24, 1, 3, 32, torch.float16)
    attend(attention, case, sharp=[1], low=[2])
    problem, _, watch = attend(attention, Case(((1, 40),), 1, 2, 1, 32, torch.float16))
    turns = watch.turns(problem.key_cache)
    if turns > 10:
        raise Wrong(f"It takes {turns} turns for 40 tokens in blocks of 1; take a tile of 16 tokens a turn.")
    yield _means(attention, exact(chance, 24, 1, 2, 32, HARD))


def _grouped(attention: Answer, chance: Chance) -> Iterator[Seen]:
    case = Case(((1, 20), (1, 0), (1, 33), (1, 33), (1, 7)), 5, 2, 3, 32, torch.float16)
    problem, _, watch = attend(attention, case, sharp=[3], low=[4])
    most = watch.reads(problem.key_cache).max()
    if most > 1:
        raise Wrong(f"Every row is right, but a key is read {most} times; read it once for all heads of its group.")
    yield _means(attention, exact(chance, 5, 2, 4, 32, HARD))


def _combine(combine: Answer, chance: Chance) -> Iterator[Seen]:
    random = torch.Generator().manual_seed(0)
    parts = torch.randn(2, 3, 5, 32, generator=random)  # [num_seqs, num_heads, num_splits, head_size]
    log_sums = 2 * torch.randn(2, 3, 5, generator=random)
    log_sums[0, 1] += 200  # e to these is infinite in float32
    log_sums[0, 2] -= 200  # and to these zero
    log_sums[1, 0, 3:] = log_sums[1, 1] = -math.inf
    parts[log_sums == -math.inf] = 0
    weights = log_sums.double().softmax(-1).nan_to_num(0)  # [num_seqs, num_heads, num_splits]
    expected = (weights[..., None] * parts.double()).sum(2)
    output = torch.full_like(expected, math.nan, dtype=torch.float32)
    run(combine, {"parts": parts, "log_sums": log_sums}, output)
    for sequence, head in product(range(2), range(3)):
        got, right = output[sequence, head], expected[sequence, head]
        if error(got[None], right[None]) > BOUNDS[torch.float32]:
            why = combine_reason(got, right, parts[sequence, head], log_sums[sequence, head])
            raise Wrong(f"Head {head} of sequence {sequence} {why}.")
    yield _means(combine, exact_parts(chance, 2 + chance.below(7), 16), scaled=False)


def _split(attention: Answer, chance: Chance) -> Iterator[Seen]:
    case = Case(((1, 40), (1, 0), (1, 5), (1, 70)), 3, 2, 3, 32, torch.float16)
    for num_splits in (1, 3, 8):
        options = {"num_splits": num_splits, "max_context_len": 70}
        split_len = -(-70 // num_splits)
        problem, _, watch = attend(attention, case, options, sharp=[3], low=[2], split_len=split_len)
        most = watch.most_read(problem.key_cache) // 32
        if num_splits > 1 and most >= 70:
            raise Wrong(f"With {num_splits} splits of 70 tokens one program still reads {most} tokens.")
    num_splits = 2 + chance.below(6)
    drawn = exact(chance, 3, 2, 2, 32, HARD)
    longest = int(drawn.inputs["context_lens"].max())
    yield _means(attention, drawn, num_splits=num_splits, max_context_len=longest)


def _means(answer: Answer, problem: Exact, scaled: bool = True, **options: int) -> Seen:
    first = next(iter(problem.inputs.values()))
    output = torch.full((*problem.expected.shape[:2], first.shape[-1]), math.nan, dtype=first.dtype)
    run(answer, problem.inputs, output, **({"scale": 1.0} if scaled else {}), **options)
    found, right = problem.rounded(output), problem.expected.tolist()
    wrong = [(s, h) for s, heads in enumerate(found) for h, row in enumerate(heads) if row != right[s][h]]
    fault = ""
    if wrong:
        sequence, head = wrong[0]
        got, due = found[sequence][head][:4], right[sequence][head][:4]
        fault = f"Head {head} of sequence {sequence} begins with {got}, rounded; its weighted means are {due}."
    return Seen("each row is the weighted mean of the values of its own tokens", found, fault)


EXERCISES = Exercises(
    {
        name: Exercise(probe, right, seeds=(1,))
        for name, probe, right in (
            ("first", _first, "Full and part-filled blocks in any order, and an empty sequence."),
            ("online", _online, "Small scores, large ones, and scores far below zero."),
            ("tiled", _tiled, "Blocks of 24 and of 1, 16 tokens a turn."),
            ("grouped", _grouped, "Groups of 3 heads, each key read once."),
            ("combine", _combine, "Splits of all sizes, empty ones, a row without a token."),
            ("split", _split, "1, 3 and 8 splits, many of them without a token."),
        )
    }
)
check, observe = EXERCISES.check, EXERCISES.observe
