"""The engine and the simulator are one loop: what the engine's log tells, the simulator does with the same lengths."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kvlib.engine import LLM, Model, SamplingParams
from kvlib.events import EventLog
from kvlib.serving.counted import CountedBlocks
from kvlib.serving.simulator import Simulation
from kvlib.serving.workload import Arrival

UNBOUNDED = 10**9


class OneSecond:
    def seconds(self, num_seqs, num_new_tokens, num_kv_tokens):
        return 1.0


def schedule_of(log: EventLog) -> list[tuple[set[str], set[str], int]]:
    """For each step: whose tokens were computed, who yielded, and how many blocks were in use after it was planned."""
    steps = [(set(), set()) for _ in range(log.step)]
    used: dict[tuple[str, int], int] = {}
    counts = []
    for number in range(1, log.step + 1):
        for event in (event for event in log.events if event["step"] == number):
            if event["kind"] == "write":
                steps[number - 1][0].add(event["seq"])
            elif event["kind"] == "preempt":
                steps[number - 1][1].add(event["seq"])
            elif event["kind"] == "allocate":
                used[event["seq"], event["index"]] = event["block"]
            elif event["kind"] == "free":
                used = {
                    entry: block for entry, block in used.items() if entry[0] != event["seq"] or block != event["block"]
                }
        counts.append(len(used))
    return [(wrote, yielded, count) for (wrote, yielded), count in zip(steps, counts)]


@settings(max_examples=60, deadline=None)
@given(
    requests=st.lists(st.tuples(st.integers(1, 30), st.integers(1, 20)), min_size=1, max_size=8),
    num_blocks=st.integers(4, 24),
    block_size=st.integers(1, 5),
    max_num_seqs=st.integers(1, 6),
)
def test_the_engines_log_is_the_schedule_that_the_simulator_makes_of_the_same_lengths(
    tiny: Model, requests: list[tuple[int, int]], num_blocks: int, block_size: int, max_num_seqs: int
) -> None:
    fitting = [r for r in requests if -(-(sum(r) - 1) // block_size) <= num_blocks]
    if not fitting:
        return
    log = EventLog()
    llm = LLM(
        tiny,
        block_size=block_size,
        num_blocks=num_blocks,
        max_num_seqs=max_num_seqs,
        max_num_batched_tokens=UNBOUNDED,
        enable_prefix_caching=False,
        log=log,
    )
    prompts = [[5 + (index + place) % 200 for place in range(prompt)] for index, (prompt, _) in enumerate(fitting)]
    params = [SamplingParams(temperature=0, max_tokens=output, ignore_eos=True) for _, output in fitting]
    llm.generate(prompts, params)

    memory = CountedBlocks(num_blocks, block_size)
    arrivals = [Arrival(0.0, prompt, output) for prompt, output in fitting]
    simulation = Simulation(arrivals, memory, OneSecond(), max_num_seqs=max_num_seqs, max_prompt_tokens=UNBOUNDED)
    simulated = []
    while simulation.step():
        simulated.append((memory.num_free_blocks, {r.number for r in simulation.batch.running}))
    engine = schedule_of(log)
    assert len(engine) == len(simulated)
    assert sum(len(yielded) for _, yielded, _ in engine) == simulation.result().num_preemptions
    for (wrote, _, used), (free, running) in zip(engine, simulated):
        assert {str(number - 1) for number in running} <= wrote
        assert used == num_blocks - free
