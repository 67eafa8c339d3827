"""One simulation as `kvlib simulate` runs it: its options become a workload and a memory, its result a short report."""

import argparse
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice

from kvlib.bench.lengths import LENGTHS
from kvlib.bench.policies import NAMES
from kvlib.bench.server import server_cost, server_memory
from kvlib.errors import BadConfig, KvlibError, RequestTooLarge
from kvlib.serving.counted import CountedBlocks
from kvlib.serving.lengths import from_pairs
from kvlib.serving.metrics import Result
from kvlib.serving.prefix_reuse import prefix_reuse
from kvlib.serving.reserved import Reservations
from kvlib.serving.simulator import simulate
from kvlib.serving.traces import azure, mooncake, pairs
from kvlib.serving.workload import Arrival, poisson

HOUR_S = 3600.0
TRACES: dict[str, Callable[[str], Iterator[Arrival]]] = {"azure": azure, "mooncake": mooncake}


def run(options: argparse.Namespace) -> tuple[str, str]:
    """Simulate what the options say; returns the report and its numbers as JSON.

    Raises BadConfig naming the option that is at fault, also where a trace turns out bad on the way.
    """
    policy = options.policy or "paged"
    with _at_fault("--block-size"):
        memory = _memory(policy, options)
    with _at_fault("--seconds" if options.trace is None else "--trace"):
        arrivals, title, until_s = _workload(options)
        result = simulate(
            arrivals, memory, server_cost(policy), until_s=until_s, skip_too_large=bool(options.skip_too_large)
        )
        lines = [f"{NAMES[policy]}: {_described(memory)}", title, "", *_report(result)]
        numbers = result._asdict()
        if options.format == "mooncake":
            reuse = prefix_reuse(islice(mooncake(options.trace), options.requests))
            numbers["prefix_reuse"] = reuse.rate
            lines.append(
                f"prefixes     {reuse.rate:.1%} of the trace's prompt tokens are found in a cache without bounds"
            )
    return "\n".join(lines), json.dumps({"policy": policy, **numbers}, indent=1) + "\n"


@contextmanager
def _at_fault(option: str) -> Iterator[None]:
    """Name the option behind an error."""
    try:
        yield
    except RequestTooLarge as error:
        raise BadConfig(f"argument --slots: {error}; or --skip-too-large leaves such requests out") from error
    except KvlibError as error:
        raise BadConfig(f"argument {option}: {error}") from error


def _memory(policy: str, options: argparse.Namespace) -> CountedBlocks | Reservations:
    given = {name: getattr(options, name) for name in ("block_size", "watermark")}
    paged = {name: value for name, value in given.items() if value is not None}
    slots = options.slots
    if options.num_blocks:
        slots = options.num_blocks * paged.get("block_size", 16)
    return server_memory(policy, num_slots=slots, **paged)


def _workload(options: argparse.Namespace) -> tuple[Iterator[Arrival], str, float | None]:
    """The arrivals, a line that describes them, and when to stop, None for at their end."""
    if options.format in TRACES:
        arrivals = TRACES[options.format](options.trace)
        return islice(arrivals, options.requests), options.trace, options.seconds
    seed = options.seed or 0
    rate = 2.0 if options.rate is None else options.rate
    name = options.trace or options.lengths or "sharegpt"
    lengths = from_pairs(pairs(options.trace), seed) if options.trace is not None else LENGTHS[name](seed)
    if options.requests:
        stop_s, extent = None, f"{options.requests:,} requests"
    else:
        stop_s = HOUR_S if options.seconds is None else options.seconds
        extent = f"{stop_s:,g} seconds"
    title = f"{name}, {rate:g} a second, {extent}, seed {seed}"
    return poisson(lengths, rate, seed, duration_s=stop_s, num_requests=options.requests), title, stop_s


def _described(memory: CountedBlocks | Reservations) -> str:
    if isinstance(memory, CountedBlocks):
        return f"{memory.num_blocks:,} blocks of {memory.block_size} tokens"
    return f"{memory.num_slots:,} slots in chunks of a buddy allocator"


def _report(result: Result) -> list[str]:
    latency = "no request finished"
    if result.normalized_latency_s is not None:
        latency = f"{result.normalized_latency_s:.3f} s a token, normalized, over the requests that finished"
    return [
        f"requests     {result.num_finished:,} finished, {result.num_unfinished:,} not when it stopped, "
        f"{result.num_refused:,} left out as too large",
        f"time         {result.simulated_s:,.1f} s in {result.num_iterations:,} iterations",
        f"running      {result.mean_running:.2f} on average, at most {result.peak_running:,}",
        f"memory       {result.stored:.1%} token states, {result.reserved:.1%} reservation, {result.internal:.1%} "
        f"internal, {result.external:.1%} external, free and others; at most {result.peak_held:.1%} held",
        f"latency      {latency}",
        f"preemptions  {result.num_preemptions:,}, of {result.num_preempted:,} different requests",
    ]
