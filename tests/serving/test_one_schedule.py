"""The simulator counts what the scheduler does: the same requests give the same schedule in both, step by step."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kvlib.memory import BlockManager
from kvlib.serving.counted import CountedBlocks
from kvlib.serving.request import Request
from kvlib.serving.scheduler import Scheduler
from kvlib.serving.simulator import Simulation
from kvlib.serving.workload import Arrival

UNBOUNDED = 10**9


class OneSecond:
    def seconds(self, num_seqs, num_new_tokens, num_kv_tokens):
        return 1.0


@settings(max_examples=200, deadline=None)
@given(
    requests=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30), st.integers(1, 20)), min_size=1, max_size=12),
    num_blocks=st.integers(2, 20),
    block_size=st.integers(1, 5),
    watermark=st.sampled_from([0.0, 0.1, 0.3]),
    max_num_seqs=st.integers(1, 6),
)
def test_scheduler_and_simulator_run_preempt_and_finish_the_same(
    requests, num_blocks, block_size, watermark, max_num_seqs
):
    fitting = [r for r in sorted(requests) if -(-(r[1] + r[2] - 1) // block_size) <= num_blocks]
    if not fitting:
        return
    memory = CountedBlocks(num_blocks, block_size, watermark=watermark)
    arrivals = [Arrival(float(time_s), prompt, output) for time_s, prompt, output in fitting]
    simulation = Simulation(arrivals, memory, OneSecond(), max_num_seqs=max_num_seqs, max_prompt_tokens=UNBOUNDED)
    scheduler = Scheduler(
        BlockManager(num_blocks, block_size, watermark=watermark),
        max_num_seqs=max_num_seqs,
        max_num_batched_tokens=UNBOUNDED,
    )
    to_come = list(enumerate(fitting, 1))
    num_preemptions = 0
    while simulation.step():
        start_s = simulation.now_s - 1.0
        while to_come and to_come[0][1][0] <= start_s:
            number, (_, prompt, output) = to_come.pop(0)
            scheduler.add(Request(str(number), prompt, output))
        step = scheduler.schedule()
        scheduler.computed(step)
        num_preemptions += len(step.preempted)
        for request, sequence, _, _ in step.prefills + step.decodes:
            sequence.append()
            if sequence.num_tokens == sequence.most_tokens:
                scheduler.finish(request, "length")
        assert [str(request.number) for request in simulation.batch.running] == [
            r.request_id for r in scheduler.running
        ]
        assert [str(request.number) for request in simulation.queue] == [r.request_id for r in scheduler.waiting]
        assert memory.num_free_blocks == scheduler.manager.num_free_blocks
        tables = [scheduler.manager.table(seq) for seq in scheduler.manager.sequences]
        assert simulation.batch.num_stored == sum(table.num_tokens for table in tables)
    assert not to_come
    assert not scheduler.has_unfinished()
    assert simulation.result().num_preemptions == num_preemptions
