"""The settings that the book names are those the code runs with."""

import inspect

import pytest

from kvlib.ledger import number
from kvlib.serving import cost
from kvlib.serving.sharing import beam_saving

SETTINGS = {
    "fit-iteration-ms": 1e3 * cost.ITERATION_S,
    "fit-sequence-ms": 1e3 * cost.SEQUENCE_S,
    "fit-theta": inspect.signature(beam_saving).parameters["theta"].default,
    "prior-bandwidth-reached": 100 * cost.BANDWIDTH_REACHED,
    "prior-flops-reached": 100 * cost.FLOPS_REACHED,
    "prior-kernel-slower": 100 * (cost.PAGED_ATTENTION_SLOWDOWN - 1),
}


@pytest.mark.parametrize("id", SETTINGS)
def test_a_setting_is_what_the_ledger_says(id):
    assert number(id).value == pytest.approx(SETTINGS[id])
