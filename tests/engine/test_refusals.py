"""Whatever one caller asks for wrongly is refused by name, and the requests that run beside it finish as ever."""

from collections.abc import Callable

import pytest

from kvlib.engine import LLM, BeamSearchParams, LoRARequest, Model, SamplingParams
from kvlib.errors import BadConfig, BadInput, BadModelFile, KvlibError

GREEDY = SamplingParams(temperature=0, max_tokens=6, ignore_eos=True)

REFUSED: dict[str, tuple[Callable[[LLM], object], type[KvlibError], str]] = {
    "an adapter that does not exist": (
        lambda llm: llm.generate("a", GREEDY, lora_request=LoRARequest("sql", 7, "/nowhere/sql")),
        BadInput,
        "adapter 'sql': there is no folder '/nowhere/sql'; give a folder with adapter_config.json",
    ),
    "no answer at all": (
        lambda llm: llm.generate("a", SamplingParams(n=0)),
        BadInput,
        "n is 0; it must be a whole number, 1 or more",
    ),
    "more beams than tokens": (
        lambda llm: llm.beam_search("a", BeamSearchParams(beam_width=264, max_tokens=4)),
        BadInput,
        "beam_width is 264",
    ),
    "a stop text of nothing": (
        lambda llm: llm.generate("a", SamplingParams(stop="")),
        BadInput,
        "stop is ''; it must be a text or a list of texts, none of them empty",
    ),
    "top_p of 0": (
        lambda llm: llm.generate("a", SamplingParams(top_p=0)),
        BadInput,
        "top_p is 0; it must be above 0 and at most 1",
    ),
    "ids outside the vocabulary": (
        lambda llm: llm.generate([[5, 6], [5, 263]], GREEDY),
        BadInput,
        "prompt 1 of 2 has the token id 263; the vocabulary's ids run from 0 to 262",
    ),
    "a swap pool of 0": (
        lambda llm: LLM(llm.model, preemption="swap", num_host_blocks=0),
        BadConfig,
        "preemption is 'swap' and num_host_blocks 0; give blocks to swap to, 1 or more",
    ),
    "a hub name without a network": (
        lambda llm: LLM("nobody/nothing"),
        BadModelFile,
        "'nobody/nothing' is no local file or folder (if one was meant, check its path), and the hub could not be",
    ),
}


@pytest.mark.parametrize("wish", REFUSED)
def test_each_has_an_error_of_its_own_and_the_request_beside_it_finishes(tiny: Model, wish: str) -> None:
    call, error, message = REFUSED[wish]
    llm = LLM(tiny, num_blocks=40, block_size=4)
    alone = llm.generate("the hell", GREEDY)[0].outputs
    llm.add_request("beside", "the hell", GREEDY)
    llm.step()
    with pytest.raises(error) as caught:
        call(llm)
    assert str(caught.value).startswith(message)
    finished = []
    while llm.has_unfinished_requests():
        finished += [output for output in llm.step() if output.finished]
    assert [output.outputs for output in finished] == [alone]
    assert llm.manager.num_free_blocks == 40
