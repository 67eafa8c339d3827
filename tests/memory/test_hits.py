import pytest

from kvlib.errors import BadInput
from kvlib.memory.hits import RECENT, HitCounter


def test_hits_are_counted_in_tokens_and_returning_requests_apart():
    hits = HitCounter()
    assert hits.rate == 0
    hits.add(100, 40)
    hits.add(100, 90, resumed=True)
    assert (hits.num_queried, hits.num_hit, hits.rate) == (100, 40, 0.4)
    assert (hits.num_queried_resumed, hits.num_hit_resumed) == (100, 90)


def test_the_rate_is_that_of_the_last_thousand_requests():
    hits = HitCounter()
    hits.add(1000, 1000)
    for _ in range(RECENT):
        hits.add(10, 1)
    assert hits.rate == 0.1
    assert hits.num_hit == 1000 + RECENT


def test_more_hits_than_tokens_are_refused():
    hits = HitCounter()
    with pytest.raises(BadInput, match="11 of 10 tokens hit"):
        hits.add(10, 11)
    assert hits.num_queried == 0
