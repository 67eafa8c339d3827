"""What `kvlib bench engine` measured, for people and for programs."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kvlib.bench.engine import CONTINUOUS, PADDED
from kvlib.ledger import number


def as_json(measured: Mapping[str, Any]) -> str:
    """The measurement for programs."""
    return json.dumps(measured, indent=1)


def as_text(measured: Mapping[str, Any]) -> str:
    """The measurement for people: the workload, how much faster that is, one request alone, and the first token."""
    width = max(len(name) for name in (*measured["rows"], "first token after a shared prefix"))
    rival_names = [name for name in (CONTINUOUS, PADDED) if name in measured["rows"]]
    versions = ", ".join(f"{name} {version}" for name, version in measured["versions"].items() if version)
    parts = [
        [f"{measured['device']}, of which {measured['threads']} used; {measured['date']}; {versions}"],
        _workload(measured, width),
        *(_ratios(measured["rows"], rival, rival_names, width) for rival in rival_names),
        _alone(measured, width),
        _first_token(measured, width),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts)


def _workload(measured: Mapping[str, Any], width: int) -> Iterator[str]:
    num_requests, num_tokens = measured["num_requests"], measured["num_output_tokens"]
    yield f"{num_requests} requests, {measured['num_prompt_tokens']:,} prompt tokens, {num_tokens:,} to write"
    title = f"median of {measured['rounds']}"
    yield f"{title:{width}} tokens/s   CPU s  first token s  cache MB  same tokens  load s"
    for name, row in measured["rows"].items():
        yield (
            f"{name:{width}}{num_tokens / row['seconds']:9.1f}{row['cpu_s']:8.1f}{row['first_token_s']:15.2f}"
            f"{row['cache_bytes'] / 1e6:10.0f}{row['same_tokens']:7} of {num_requests:2}{row['load_s']:8.1f}"
        )


def _ratios(rows: Mapping[str, Any], rival: str, rivals: list[str], width: int) -> Iterator[str]:
    yield f"how many times as fast as {rival}"
    yield f"{'':{width}} by the clock  by CPU time"
    for name, row in rows.items():
        if name not in rivals:
            clock, cpu = (rows[rival][key] / row[key] for key in ("seconds", "cpu_s"))
            yield f"{name:{width}}{clock:13.2f}{cpu:13.2f}"


def _alone(measured: Mapping[str, Any], width: int) -> Iterator[str]:
    yield f"{'one request alone':{width}} tokens/s  weights read GB/s"
    for name, row in measured["rows"].items():
        yield f"{name:{width}}{1 / row['step_s']:9.1f}{row['weight_bytes'] / row['step_s'] / 1e9:19.1f}"
    yield f"{'a copy, read and written':{width}}{'':9}{measured['copy_bytes_per_s'] / 1e9:19.1f}"
    one, two = number("llama-cpp-one-thread"), number("llama-cpp-two-threads")
    yield "Not in this run: llama.cpp, with the same model in 4 bits a weight and kernels made for that, once wrote"
    yield f"{one.value:.0f} tokens/s on one thread and {two.value:.0f} on two, on two cores of an AMD EPYC with AVX2."


def _first_token(measured: Mapping[str, Any], width: int) -> Iterator[str]:
    yield f"{'first token after a shared prefix':{width}} cached s  computed s  times"
    for name, row in measured["first_token"].items():
        times = row["uncached_s"] / row["cached_s"]
        yield f"{name:{width}}{row['cached_s']:9.3f}{row['uncached_s']:12.3f}{times:7.1f}"
