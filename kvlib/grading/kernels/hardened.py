"""Problems with scores of sizes that a kernel has to take care of."""

import math
from collections.abc import Collection

import torch

from kvlib.bench.kernels.problems import Case, Problem, answer, build
from kvlib.grading.kernels.faults import row_of

SHARP = 300
"""The factor on a query after which e to its scores, and to their differences, is infinite in float32."""


LOW = -8192
"""What makes all scores of a sequence low: its query has this where its keys have 1. Times 32 ** -0.5 it is -1448."""

SPARE_BLOCKS = 64
"""Behind the last block, full of NaN: a slot that is wrong, but not by far, is told as such."""


def hardened(case: Case, sharp: Collection[int], low: Collection[int]) -> Problem:
    """The problem of `case` with tensors of its own, on the CPU, and hard scores in the sequences `sharp` and `low`.

    sharp: their scores are too large for e to them, or to their differences. low: their scores are all far below zero.
    """
    built = build(case)
    tables = {name: table.clone() for name, table in built.tables.items()}
    spare = torch.full((SPARE_BLOCKS, *built.key_cache.shape[1:]), math.nan, dtype=case.dtype)
    key_cache, value_cache = (torch.cat([cache, spare]) for cache in (built.key_cache, built.value_cache))
    query, expected = built.query.clone(), built.expected.clone()
    for sequence in sharp:
        query[sequence] *= SHARP
    for sequence in low:
        blocks = tables["block_tables"][sequence, : -(-case.sequences[sequence][1] // case.block_size)]
        query[sequence, :, 0] = LOW
        key_cache[blocks, :, :, 0] = torch.where(key_cache[blocks, :, :, 0].isnan(), math.nan, 1.0).to(case.dtype)
    problem = built._replace(
        query=query, key_cache=key_cache, value_cache=value_cache, tables=tables, expected=expected
    )
    for sequence in (*sharp, *low):
        row = row_of(problem, sequence, 0)
        expected[sequence] = answer(query[sequence][None], row.key, row.value, problem.scale)[0]
    return problem
