"""Moving a sequence's blocks against computing it again: what is counted, never how long it took."""

import pytest

from kvlib.bench.swapping import measure
from kvlib.engine import Model, load
from kvlib.errors import BadConfig, BadInput


@pytest.fixture(scope="module")
def model() -> Model:
    return load()


def test_each_block_is_moved_out_and_in_by_a_copy_for_keys_and_one_for_values_a_layer(model: Model) -> None:
    found = list(measure(model, 6, (1, 4, 16), rounds=1))
    layers = model.decoder.config.num_layers
    assert [each.block_size for each in found] == [1, 4, 16]
    assert [each.num_copies for each in found] == [2 * 2 * layers * blocks for blocks in (6, 2, 1)]
    assert all(each.swap_s > 0 and each.recompute_s > 0 for each in found)


@pytest.mark.parametrize(
    ("num_tokens", "options", "error", "named"),
    [
        (0, {}, BadInput, "num_tokens"),
        (8193, {}, BadInput, "8192"),
        (6, {"block_sizes": (1, 0)}, BadConfig, "block_size"),
        (6, {"rounds": 0}, BadConfig, "rounds"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is(
    model: Model, num_tokens: int, options: dict, error: type[Exception], named: str
) -> None:
    with pytest.raises(error, match=named):
        measure(model, num_tokens, **options)
