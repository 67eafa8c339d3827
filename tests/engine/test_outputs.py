"""What comes back for a request stands as it is: later steps do not change it, and changing it changes nothing."""

import pytest

from kvlib.engine import LLM, Model, SamplingParams

PROMPT = list(range(5, 20))
GREEDY = SamplingParams(temperature=0, max_tokens=6, ignore_eos=True)


def test_an_earlier_output_keeps_its_tokens_and_log_probabilities(tiny: Model) -> None:
    params = SamplingParams(temperature=0, max_tokens=6, ignore_eos=True, logprobs=1)
    outputs = list(LLM(tiny).stream(PROMPT, params))
    assert [len(output.outputs[0].token_ids) for output in outputs] == [1, 2, 3, 4, 5, 6]
    assert [len(output.outputs[0].logprobs or []) for output in outputs] == [1, 2, 3, 4, 5, 6]


def test_an_earlier_output_keeps_its_times(tiny: Model) -> None:
    *earlier, last = [output.metrics for output in LLM(tiny).stream(PROMPT, GREEDY)]
    assert [times and times.finished_time for times in earlier] == [None] * 5
    assert last is not None
    assert last.finished_time is not None


def test_the_times_of_a_request_follow_each_other(tiny: Model) -> None:
    llm = LLM(tiny, max_num_seqs=1)
    for output in llm.generate([PROMPT, PROMPT], GREEDY):
        times = output.metrics
        assert times is not None
        assert times.arrival_time is not None
        assert times.first_scheduled_time is not None
        assert times.first_token_time is not None
        assert times.finished_time is not None
        assert times.arrival_time <= times.first_scheduled_time <= times.first_token_time <= times.finished_time
        assert times.time_to_first_token == times.first_token_time - times.arrival_time


def test_changing_an_output_changes_nothing_of_the_request(tiny: Model) -> None:
    llm = LLM(tiny, block_size=4)
    params = SamplingParams(temperature=0, max_tokens=6, ignore_eos=True, logprobs=0, prompt_logprobs=0)
    [expected] = llm.generate(PROMPT, params)
    stream = llm.stream(PROMPT, params)
    for _ in range(3):
        output = next(stream)
        output.prompt_token_ids.clear()
        output.outputs[0].token_ids.clear()
        (output.outputs[0].logprobs or []).clear()
        (output.prompt_logprobs or []).clear()
        output.outputs.clear()
    *_, last = stream
    assert last.prompt_token_ids == PROMPT
    assert (last.outputs, last.prompt_logprobs) == (expected.outputs, expected.prompt_logprobs)


def test_the_list_that_was_given_as_a_prompt_may_change_while_it_is_answered(tiny: Model) -> None:
    llm = LLM(tiny, block_size=4, max_num_batched_tokens=4, enable_chunked_prefill=True)
    given = list(PROMPT)
    llm.add_request("x", given, GREEDY)
    given[:] = [99] * 15
    outputs = []
    while llm.has_unfinished_requests():
        outputs += llm.step()
    assert outputs[-1].outputs == LLM(tiny).generate(PROMPT, GREEDY)[0].outputs


@pytest.mark.parametrize("temperature", [0, 1.5])
def test_the_cumulative_log_probability_is_the_sum_over_the_chosen_tokens(tiny: Model, temperature: float) -> None:
    params = SamplingParams(temperature=temperature, seed=2, max_tokens=6, ignore_eos=True, logprobs=3)
    for output in LLM(tiny).stream(PROMPT, params):
        [answer] = output.outputs
        assert answer.logprobs is not None
        chosen = [entry[token].logprob for token, entry in zip(answer.token_ids, answer.logprobs, strict=True)]
        assert answer.cumulative_logprob == pytest.approx(sum(chosen))
        assert sum(chosen) < 0


def test_without_logprobs_there_is_no_cumulative_one(tiny: Model) -> None:
    [answer] = LLM(tiny).generate(PROMPT, GREEDY)[0].outputs
    assert (answer.logprobs, answer.cumulative_logprob) == (None, None)
