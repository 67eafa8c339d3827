"""What a request may ask for: every name and its range, each refused by name."""

import re
from dataclasses import fields
from fractions import Fraction

import numpy as np
import pytest

from kvlib.engine import LLM, Model
from kvlib.engine.beam_params import BeamSearchParams
from kvlib.engine.params import SamplingParams
from kvlib.errors import BadInput, KvlibError
from kvlib.shown import shown


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("n", 0, "a whole number, 1 or more"),
        ("n", True, "a whole number, 1 or more"),
        ("n", 2.0, "a whole number, 1 or more"),
        ("presence_penalty", 2.1, "from -2 to 2"),
        ("presence_penalty", -2.1, "from -2 to 2"),
        ("presence_penalty", float("nan"), "from -2 to 2"),
        ("frequency_penalty", 2.1, "from -2 to 2"),
        ("frequency_penalty", -2.1, "from -2 to 2"),
        ("frequency_penalty", None, "from -2 to 2"),
        ("repetition_penalty", 0, "above 0"),
        ("repetition_penalty", -1.0, "above 0"),
        ("repetition_penalty", 1e-7, "from 1e-6 to 1e6"),
        ("repetition_penalty", float("inf"), "from 1e-6 to 1e6"),
        ("min_tokens", -1, "a whole number, 0 or more"),
        ("min_tokens", None, "a whole number, 0 or more"),
        ("include_stop_str_in_output", 1, "True or False"),
        ("logprobs", -2, "0 or more, -1 for the whole vocabulary, or None"),
        ("logprobs", True, "0 or more, -1 for the whole vocabulary, or None"),
        ("prompt_logprobs", 1.5, "0 or more, -1 for the whole vocabulary, or None"),
        ("temperature", -0.1, "a number, 0 or more"),
        ("temperature", float("nan"), "a number, 0 or more"),
        ("temperature", float("inf"), "a number, 0 or more"),
        ("temperature", "hot", "a number, 0 or more"),
        ("temperature", True, "a number, 0 or more"),
        ("top_p", 0, "above 0 and at most 1"),
        ("top_p", 1.1, "above 0 and at most 1"),
        ("top_k", -2, "a whole number, 1 or more"),
        ("top_k", 1.5, "a whole number, 1 or more"),
        ("min_p", 1.5, "from 0 to 1"),
        ("max_tokens", 0, "a whole number, 1 or more, or None"),
        ("max_tokens", 2.0, "a whole number, 1 or more, or None"),
        ("seed", -1, "0 to 2**64 - 1"),
        ("seed", 2**64, "0 to 2**64 - 1"),
        ("stop", ("",), "none of them empty"),
        ("stop", 3, "none of them empty"),
        ("stop", (3,), "none of them empty"),
        ("stop_token_ids", (-1,), "a list of token ids"),
        ("stop_token_ids", 2, "a list of token ids"),
        ("ignore_eos", 1, "True or False"),
        ("temperature", Fraction(-1, 2), "a number, 0 or more"),
        ("temperature", 10**400, "a number, 0 or more"),
        ("top_p", Fraction(1, 10**400), "above 0 and at most 1"),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(name: str, value: object, allowed: str) -> None:
    with pytest.raises(BadInput, match=re.escape(f"{name} is {shown(value)}; it must be ") + ".*" + re.escape(allowed)):
        SamplingParams(**{name: value})


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("beam_width", 0, "a whole number, 1 or more"),
        ("beam_width", True, "a whole number, 1 or more"),
        ("max_tokens", 0, "a whole number, 1 or more"),
        ("max_tokens", None, "a whole number, 1 or more"),
        ("ignore_eos", "no", "True or False"),
        ("temperature", -1, "a number, 0 or more"),
        ("length_penalty", float("inf"), "a number from -10 to 10"),
        ("length_penalty", 11, "a number from -10 to 10"),
        ("early_stopping", "always", "True, False or 'never'"),
        ("early_stopping", 1, "True, False or 'never'"),
        ("early_stopping", None, "True, False or 'never'"),
    ],
)
def test_a_value_out_of_range_is_refused_for_beams_too(name: str, value: object, allowed: str) -> None:
    with pytest.raises(BadInput, match=re.escape(f"{name} is {value!r}; it must be ") + ".*" + re.escape(allowed)):
        BeamSearchParams(**{"beam_width": 2, "max_tokens": 5, name: value})


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        BadInput,
        match=r"SamplingParams has no temprature, best_of; the known names are n, presence_penalty, .*logprobs$",
    ):
        SamplingParams(temprature=0.5, best_of=2)
    with pytest.raises(BadInput, match="BeamSearchParams has no n; the known names are beam_width, max_tokens, "):
        BeamSearchParams(beam_width=2, max_tokens=5, n=2)


@pytest.mark.parametrize("params", [SamplingParams, BeamSearchParams])
def test_the_table_of_names_is_the_names(params: type) -> None:
    table = re.findall(r"^    (\w+)  ", params.__doc__, re.MULTILINE)
    assert table == [field.name for field in fields(params)] == list(params.allowed)


def test_the_answers_have_to_be_longer_than_the_shortest_allowed() -> None:
    assert SamplingParams(min_tokens=5, max_tokens=5).min_tokens == 5
    assert SamplingParams(min_tokens=500, max_tokens=None).min_tokens == 500
    with pytest.raises(BadInput, match="min_tokens is 6; it must be at most max_tokens, which is 5"):
        SamplingParams(min_tokens=6, max_tokens=5)


@pytest.mark.parametrize("temperature", [0, 1e-6])
def test_several_answers_without_chance_are_refused_with_the_reason(temperature: float) -> None:
    with pytest.raises(BadInput, match=r"n is 2 and temperature .*all answers are the same: give n=1 or a temperature"):
        SamplingParams(n=2, temperature=temperature)
    assert SamplingParams(n=1, temperature=temperature).greedy
    assert not SamplingParams(n=2).greedy


@pytest.mark.parametrize("name", ["logprobs", "prompt_logprobs"])
def test_no_more_log_probabilities_than_tokens(name: str) -> None:
    SamplingParams(**{name: 7}).check_vocabulary(7)
    SamplingParams(**{name: -1}).check_vocabulary(7)
    with pytest.raises(BadInput, match=f"{name} is 8; the vocabulary has 7 tokens: give -1 for all of them"):
        SamplingParams(**{name: 8}).check_vocabulary(7)


def test_stop_token_ids_are_of_the_vocabulary() -> None:
    SamplingParams(stop_token_ids=[0, 6]).check_vocabulary(7)
    with pytest.raises(BadInput, match="stop_token_ids has 7; the vocabulary's ids run from 0 to 6"):
        SamplingParams(stop_token_ids=[6, 7]).check_vocabulary(7)


def test_some_token_may_come_before_min_tokens() -> None:
    SamplingParams(stop_token_ids=[0, 1, 2]).check_vocabulary(4, {3})
    SamplingParams(stop_token_ids=[0, 1, 1], min_tokens=1).check_vocabulary(4, {3})
    with pytest.raises(BadInput, match="min_tokens is 1 and all 4 tokens end the answer; give min_tokens=0"):
        SamplingParams(stop_token_ids=[0, 1, 2], min_tokens=1).check_vocabulary(4, {3})


def test_a_beam_for_each_token_is_the_most() -> None:
    BeamSearchParams(beam_width=263, max_tokens=1).check_vocabulary(263)
    with pytest.raises(BadInput, match=r"beam_width is 264; the first step can give no more beams .*: at most 263"):
        BeamSearchParams(beam_width=264, max_tokens=1).check_vocabulary(263)


def test_a_number_too_long_to_write_is_refused_too() -> None:
    with pytest.raises(BadInput, match="seed is one int too long to write out; it must be"):
        SamplingParams(seed=10**5000)


def test_numbers_of_other_libraries_become_pythons_own() -> None:
    params = SamplingParams(
        temperature=Fraction(1, 2),
        top_p=np.float64(0.5),
        top_k=np.int64(3),
        max_tokens=np.int32(7),
        seed=np.uint64(9),
    )
    values = [params.temperature, params.top_p, params.top_k, params.max_tokens, params.seed]
    assert values == [0.5, 0.5, 3, 7, 9]
    assert [type(value) for value in values] == [float, float, int, int, int]
    assert type(SamplingParams(stop_token_ids=[np.int64(4)]).stop_token_ids[0]) is int
    assert type(SamplingParams(temperature=1).temperature) is float


def test_one_stop_text_and_none_mean_lists() -> None:
    assert SamplingParams(stop="end").stop == ("end",)
    assert SamplingParams(stop=None, stop_token_ids=None) == SamplingParams()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", ["n", "min_tokens", "logprobs", "prompt_logprobs", "seed"])
def test_a_number_too_long_to_write_out_is_refused_by_name(tiny: Model, name: str, sign: int) -> None:
    with pytest.raises(KvlibError, match=name):
        LLM(tiny).generate("a", SamplingParams(**{name: sign * 10**5000}))


@pytest.mark.parametrize("sign", [1, -1])
def test_more_beams_than_can_be_written_out_are_refused(tiny: Model, sign: int) -> None:
    with pytest.raises(KvlibError, match="beam_width"):
        LLM(tiny).beam_search("a", BeamSearchParams(beam_width=sign * 10**5000, max_tokens=4))
