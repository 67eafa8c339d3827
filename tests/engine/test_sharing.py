"""Several answers to one prompt share its blocks, copy before they write, and are what each would be alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kvlib.engine import LLM, Model, SamplingParams
from kvlib.errors import RequestTooLarge
from kvlib.events import EventLog
from kvlib.serving.sharing import parallel_block_steps

PROMPT = list(range(5, 27))  # 22 tokens


def sampled(**values: object) -> SamplingParams:
    return SamplingParams(**{"max_tokens": 12, "seed": 3, "ignore_eos": True} | values)


def texts(llm: LLM, prompt: list[int], params: SamplingParams) -> list[list[int]]:
    [output] = llm.generate([prompt], params)
    assert [answer.index for answer in output.outputs] == list(range(params.n))
    return [answer.token_ids for answer in output.outputs]


@pytest.mark.parametrize("n", [1, 2, 4, 6])
@pytest.mark.parametrize("block_size", [1, 4, 11, 16, 32])
def test_answers_that_share_are_what_each_is_alone(tiny: Model, n: int, block_size: int) -> None:
    together = texts(LLM(tiny, block_size=block_size, num_blocks=300), PROMPT, sampled(n=n))
    alone = [texts(LLM(tiny), PROMPT, sampled(seed=3 + index))[0] for index in range(n)]
    assert together == alone


def blocks_named_and_used(llm: LLM) -> tuple[int, int]:
    tables = [llm.manager.table(seq_id) for seq_id in llm.manager.sequences]
    named = [block for table in tables for block in table.blocks]
    return len(named), len(set(named))


@settings(max_examples=40, deadline=None)
@given(
    num_prompt_tokens=st.integers(1, 40),
    num_output_tokens=st.integers(2, 20),
    n=st.integers(1, 6),
    block_size=st.integers(1, 20),
)
def test_what_sharing_saves_is_the_formula_to_the_block(
    tiny: Model, num_prompt_tokens: int, num_output_tokens: int, n: int, block_size: int
) -> None:
    llm = LLM(tiny, block_size=block_size, num_blocks=400, enable_prefix_caching=False)
    prompt = [5 + index for index in range(num_prompt_tokens)]
    llm.add_request("r", prompt, sampled(n=n, max_tokens=num_output_tokens))
    schedule, counted = llm.scheduler.schedule, []

    def counting() -> object:
        step = schedule()
        counted.append(blocks_named_and_used(llm))
        return step

    llm.scheduler.schedule = counting  # type: ignore[method-assign]
    while llm.has_unfinished_requests():
        llm.step()
    saved = sum(named - used for named, used in counted[1:])  # the first step is the prompt's
    without = sum(named for named, _ in counted[1:])
    assert (saved, without) == parallel_block_steps(num_prompt_tokens, num_output_tokens, n, block_size)


def test_the_copy_lowers_the_count_of_the_shared_block_from_two_to_one(tiny: Model) -> None:
    log = EventLog()
    llm = LLM(tiny, block_size=4, num_blocks=40, log=log)
    llm.generate([PROMPT], sampled(n=2))
    [share] = [e for e in log.events if e["kind"] == "share" and e["filled"] == 2]
    [copy] = [e for e in log.events if e["kind"] == "copy"]
    assert (share["count"], share["block"], share["index"]) == (2, copy["source"], 5)
    assert llm.manager.num_free_blocks == 40


def test_a_whole_last_block_is_shared_and_never_copied(tiny: Model) -> None:
    log = EventLog()
    LLM(tiny, block_size=11, num_blocks=40, log=log).generate([PROMPT], sampled(n=3))
    assert [e for e in log.events if e["kind"] == "copy"] == []


def test_an_answer_that_ends_early_gives_its_own_blocks_back_at_once(tiny: Model) -> None:
    llm = LLM(tiny, block_size=4, num_blocks=60)
    [longer] = llm.generate([PROMPT], sampled(n=3, max_tokens=30))
    stop = longer.outputs[1].token_ids[0]
    llm.add_request("r", PROMPT, sampled(n=3, max_tokens=30, stop_token_ids=[stop]))
    last = None
    while llm.has_unfinished_requests():
        [last] = llm.step()
        going = [answer for answer in last.outputs if answer.finish_reason is None]
        assert len(llm.manager.sequences) == len(llm._loop._prefixes._of) == len(going)
    assert last is not None
    assert last.outputs[1].token_ids == [stop]
    for answer, full in zip(last.outputs, longer.outputs):
        assert answer.token_ids == full.token_ids[: len(answer.token_ids)]


def test_more_answers_than_may_run_at_once_are_refused_before_anything_is_queued(tiny: Model) -> None:
    llm = LLM(tiny, max_num_seqs=3)
    with pytest.raises(RequestTooLarge, match="prompt 1 of 2 wants 4 sequences, which run together"):
        llm.generate([PROMPT, PROMPT], [sampled(), sampled(n=4)])
    assert not llm.scheduler.has_unfinished()


def test_answers_that_do_not_fit_together_are_refused_and_those_that_do_use_all_room(tiny: Model) -> None:
    llm = LLM(tiny, block_size=4, num_blocks=9)  # 5 full blocks of the prompt, and one more for each of 4
    [output] = llm.generate([PROMPT], sampled(n=4, max_tokens=None))
    assert {(len(answer.token_ids), answer.finish_reason) for answer in output.outputs} == {(3, "length")}
    with pytest.raises(
        RequestTooLarge, match=r"prompt 0 of 1 does not fit the pool 5 times, .*: 5 times 22 tokens need 10 blocks"
    ):
        llm.generate([PROMPT], sampled(n=5))


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("num_prompt_tokens", [1, 4, 6, 22, 23])
def test_without_max_tokens_answers_are_as_long_as_the_pool_holds_beside_a_shared_prompt(
    tiny: Model, n: int, num_prompt_tokens: int
) -> None:
    block_size, num_blocks = 4, 13
    shared = num_prompt_tokens // block_size

    def fits(length: int) -> bool:
        blocks_each = -(-(num_prompt_tokens + length - 1) // block_size)  # the last token needs no slot
        return shared + n * (blocks_each - shared) <= num_blocks

    llm = LLM(tiny, block_size=block_size, num_blocks=num_blocks)
    [output] = llm.generate(list(range(5, 5 + num_prompt_tokens)), sampled(n=n, max_tokens=None))
    longest = max(length for length in range(1, 60) if fits(length))
    assert [(len(each.token_ids), each.finish_reason) for each in output.outputs] == [(longest, "length")] * n
    assert llm.manager.num_free_blocks == num_blocks


def test_without_a_seed_answers_differ(tiny: Model) -> None:
    answers = texts(LLM(tiny), PROMPT, sampled(n=6, seed=None, temperature=2.0))
    assert len({tuple(answer) for answer in answers}) > 1


def test_the_log_tells_each_answer_whole(tiny: Model) -> None:
    log = EventLog()
    [output] = LLM(tiny, log=log).generate([PROMPT], sampled(n=3))
    wanted = [tiny.tokenizer.pieces(PROMPT + answer.token_ids) for answer in output.outputs]
    assert list(log.texts.values()) == wanted
