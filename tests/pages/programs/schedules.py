"""Random runs of the scheduler: a line for each with the digest of its whole event log, and what happened in all."""

import hashlib
import json

from kvlib.chance import Chance
from kvlib.events import EventLog
from kvlib.memory import PrefixHasher, RecordedBlockManager
from kvlib.serving.request import Request
from kvlib.serving.scheduler import Scheduler


def scheduler_of(chance, log):
    block_size, num_host_blocks = 1 + chance.below(4), chance.below(30)
    watermark = (0.0, 0.05)[chance.below(2)]
    manager = RecordedBlockManager(
        42 // block_size + chance.below(12), block_size, log, num_host_blocks=num_host_blocks, watermark=watermark
    )
    return Scheduler(
        manager,
        max_num_seqs=2 + chance.below(8),
        max_num_batched_tokens=8 + chance.below(60),
        chunked_prefill=chance.below(2) == 0,
        preemption="swap" if num_host_blocks and chance.below(2) else "recompute",
        log=log,
    )


def new_request(name, chance, keys):
    """A request of one or two samples, whose prompt begins as many others do."""
    num_tokens = 1 + chance.below(8)
    keys.extend([chance.below(2)] * (num_tokens // 2) + [chance.below(3) for _ in range(num_tokens - num_tokens // 2)])
    return Request(name, num_tokens, 1 + chance.below(12), num_sequences=1 + chance.below(2), keys=keys.keys)


def write_token(scheduler, work, chains, chance):
    """The model's part: the sequence, and a sample that parts from it now, get any tokens."""
    request, sequence = work.request, work.sequence
    is_new = sequence.num_tokens == request.num_prompt_tokens
    if is_new and len(request.sequences) < request.num_sequences:
        child_id = sequence.seq_id + "/1"
        chains[child_id] = chains[sequence.seq_id].copy()
        scheduler.fork(request, sequence.seq_id, child_id, chains[child_id].keys).append()
        chains[child_id].extend([chance.below(3)])
    sequence.append()
    chains[sequence.seq_id].extend([chance.below(3)])


def run(seed):
    chance, log, chains = Chance(seed), EventLog(), {}
    scheduler = scheduler_of(chance, log)
    hasher = PrefixHasher(scheduler.manager.block_size)
    num_left = 10 + chance.below(10)
    while num_left or scheduler.has_unfinished():
        if num_left and chance.below(2):
            name, keys = str(num_left), hasher.start()
            scheduler.add(new_request(name, chance, keys))
            chains[name] = keys
            num_left -= 1
        if not scheduler.has_unfinished():
            continue
        step = scheduler.schedule()
        scheduler.computed(step)
        for work in step.prefills + step.decodes:
            if work.gives_token and work.request.request_id in scheduler:
                write_token(scheduler, work, chains, chance)
                if not work.request.growing:
                    scheduler.finish(work.request, "length")
        if scheduler.running and chance.below(40) == 0:
            scheduler.abort(scheduler.running[-1].request_id)
    return log


counts = {}
for seed in range(60):
    log = run(seed)
    for event in log.events:
        happened = event["kind"] + " " + event.get("how", "")
        counts[happened] = counts.get(happened, 0) + 1
    print(seed, len(log), hashlib.sha256(log.to_json().encode()).digest().hex())
print(json.dumps(counts))
