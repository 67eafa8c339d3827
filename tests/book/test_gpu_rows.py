"""What the book would plot of a GPU is measured by `kvlib bench gpu`: a row of another name would never be found."""

import re
from pathlib import Path

import pytest

from kvlib.bench.gpu.plan import plan
from kvlib.bench.gpu.sizes import ON_A_GPU
from kvlib.bench.gpu.suites import SHARES

BOOK = Path(__file__).parents[2] / "book"
BATCHES = {
    "12-what-paging-does-not-do": f"{ON_A_GPU.big.name}/fp16",
    "12-testing-the-kernel": ON_A_GPU.ragged[0].name,
}


@pytest.mark.parametrize("page", BATCHES)
def test_every_row_that_a_page_asks_for_is_in_the_plan(page: str) -> None:
    asked = re.findall(r'f"((?:decode|ablations|baselines)/[^"]*)"', (BOOK / f"{page}.md").read_text())
    assert len(asked) >= 5
    planned = {entry.fields["id"] for entry in plan(ON_A_GPU, tuple(SHARES))}
    assert {id.replace("{BATCH}", BATCHES[page]) for id in asked} <= planned
