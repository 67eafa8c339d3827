"""Which backend the engine takes, with the kernels and without."""

import pytest
import torch

from kvlib import native
from kvlib.attention import attend
from kvlib.attention.choice import best_backend
from kvlib.bench.kernels.problems import Case, build
from kvlib.errors import BadInput

CPU = torch.device("cpu")


def test_without_the_kernels_it_is_refused_and_gather_is_the_best(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KVLIB_NATIVE", "0")
    problem = build(Case(((1, 5),), 4, 1, 1, 64))
    with pytest.raises(BadInput, match=r"backend is 'native', which cannot be had: .*KVLIB_NATIVE.* or take 'gather'"):
        attend(*problem[:3], **problem.tables, scale=problem.scale, backend="native")
    assert best_backend(torch.float32, CPU) == "gather"


def test_it_is_the_best_for_float32_where_it_can_be_had():
    assert best_backend(torch.float32, CPU) == ("native" if native.library() else "gather")
    assert best_backend(torch.bfloat16, CPU) == best_backend(torch.int8, CPU) == "gather"
