"""Ten minutes of a server under each memory: what `simulate` returns, to the last bit."""

import struct

from kvlib.memory.contiguous import Max, Oracle, Pow2
from kvlib.serving.cost import IterationCost
from kvlib.serving.counted import CountedBlocks
from kvlib.serving.lengths import alpaca, sharegpt, sharegpt_first_turns
from kvlib.serving.reserved import Reservations
from kvlib.serving.simulator import simulate
from kvlib.serving.workload import poisson

NUM_SLOTS, LONGEST = 15728, 2048
SECONDS = 600
cost = IterationCost(
    bandwidth=1.555e12, flops=312e12, weight_bytes=26e9, num_parameters=13e9, kv_bytes_per_token=819200
)

for memory, lengths, rate_per_s in (
    (CountedBlocks(NUM_SLOTS // 16), sharegpt, 3),
    (Reservations(NUM_SLOTS, Max(LONGEST)), sharegpt_first_turns, 2),
    (Reservations(NUM_SLOTS, Pow2(LONGEST)), sharegpt, 2),
    (Reservations(NUM_SLOTS, Oracle(LONGEST)), alpaca, 5),
):
    arrivals = poisson(lengths(0), rate_per_s, 0, duration_s=SECONDS)
    result = simulate(arrivals, memory, cost, until_s=SECONDS)
    print(*(value if isinstance(value, int) else struct.pack(">d", value).hex() for value in result))
