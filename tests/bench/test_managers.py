import json

import pytest

from kvlib.bench.managers import COUNTS, MANAGERS, as_json, as_text, measure
from kvlib.errors import BadConfig


def test_every_manager_serves_the_same_requests_and_gives_all_blocks_back():
    measured = measure(num_requests=40, rounds=1)
    rows = measured["managers"]
    assert rows.keys() == MANAGERS.keys()
    first, *others = ([row[count] for count in COUNTS] for row in rows.values())
    assert all(counts == first for counts in others)
    assert all(row["num_blocks_left_in_use"] == 0 for row in rows.values())
    assert json.loads(as_json(measured)) == measured
    for name in MANAGERS:
        assert as_text(measured).count(name) == 2


@pytest.mark.parametrize("setting", [{"rounds": 0}, {"num_requests": -1}, {"seed": "one"}])
def test_a_bad_setting_is_named(setting):
    [name] = setting
    with pytest.raises(BadConfig, match=f"{name} is"):
        measure(**{"num_requests": 1, "rounds": 1, **setting})
