"""`kvlib bench engine`: this package's engine beside transformers, on one workload, in one run, on the same threads."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from statistics import median
from typing import Any

import torch

from kvlib.bench.contenders import Contender, Run, Serve, ours
from kvlib.bench.first_token import measure_first_token
from kvlib.bench.memory_speed import copy_bytes_per_s
from kvlib.bench.mixed import Wanted, workload_w
from kvlib.bench.record import record
from kvlib.checks import whole
from kvlib.engine import Model, load
from kvlib.gguf import read_header
from kvlib.models.linear import FORMS, why_not

PACKAGES = ("torch", "transformers", "numpy")
WEIGHT_BYTES = {"torch": 4, "fp16": 2, "native": 4}
CONTINUOUS, PADDED = "transformers, continuous batching", "transformers, padded batches of 8"
Tell = Callable[[str], None]
DECODE = (16, 65)  # prompt and answer of the run at batch 1


def measure(
    rounds: int = 3, *, threads: int | None = None, with_transformers: bool = True, tell: Tell = lambda line: None
) -> dict[str, Any]:
    """Workload W through every contender that this machine has, `rounds` times in turn -> medians, for
    `kvlib.bench.engine_report`. `tell` receives a line at each stage.

    Seconds are wall seconds but for `cpu_s`. Raises BadConfig for `rounds` or `threads` below 1, MissingPackage without
    transformers where it is wanted.
    """
    whole("rounds", rounds)
    rivals = _rivals() if with_transformers else {}
    with _threads(torch.get_num_threads() if threads is None else whole("threads", threads)) as num_threads:
        tell("loading the model in every form")
        models = {form: _timed(load, None, form) for form in FORMS if not why_not(form)}
        contenders = _contenders(models, rivals)
        return {
            **record(*PACKAGES),
            "threads": num_threads,
            "rounds": rounds,
            **compare(contenders, workload_w(models["torch"][0].decoder.config.vocab_size), rounds, tell),
            "copy_bytes_per_s": copy_bytes_per_s(),
            "first_token": {_name(form): measure_first_token(model)._asdict() for form, (model, _) in models.items()},
        }


def compare(
    contenders: Mapping[str, Contender], workload: Sequence[Wanted], rounds: int, tell: Tell = lambda line: None
) -> dict[str, Any]:
    """`workload` through all contenders in turn, `rounds` times: a row of medians for each.

    same_tokens: requests whose tokens are the first contender's. step_s: of one request alone, from token to token.
    """
    alone = [Wanted(workload[0].prompt[: DECODE[0]], DECODE[1])]
    runs: dict[str, list[Run]] = {name: [] for name in contenders}
    steps: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(rounds + 1):
        for name, contender in contenders.items():
            tell(f"round {number} of {rounds}: {name}" if number else f"warming up: {name}")
            one = contender.serve(alone)
            if number:  # the first round warms up
                steps[name].append((one.seconds - one.first_token_s[0]) / (DECODE[1] - 1))
                runs[name].append(contender.serve(workload))
    expected = next(iter(runs.values()))[0].tokens
    return {
        "num_requests": len(workload),
        "num_prompt_tokens": sum(len(wanted.prompt) for wanted in workload),
        "num_output_tokens": sum(wanted.num_tokens for wanted in workload),
        "rows": {
            name: {
                "seconds": median(run.seconds for run in runs[name]),
                "cpu_s": median(run.cpu_s for run in runs[name]),
                "first_token_s": median(median(run.first_token_s) for run in runs[name]),
                "cache_bytes": runs[name][-1].cache_bytes,
                "same_tokens": min(_same(run.tokens, expected) for run in runs[name]),
                "step_s": median(steps[name]),
                "weight_bytes": contender.weight_bytes,
                "load_s": contender.load_s,
            }
            for name, contender in contenders.items()
        },
    }


def _name(form: str) -> str:
    return f"kvlib, {form}"


def _rivals() -> dict[str, Callable[[Any], Serve]]:
    from kvlib.bench import rivals  # needs transformers

    return {CONTINUOUS: rivals.continuous_batching, PADDED: rivals.padded_batches}


def _contenders(
    models: Mapping[str, tuple[Model, float]], rivals: Mapping[str, Callable[[Any], Serve]]
) -> dict[str, Contender]:
    num_weights = _num_weights(models["torch"][0])
    contenders = {
        _name(form): Contender(ours(model), WEIGHT_BYTES[form] * num_weights, load_s)
        for form, (model, load_s) in models.items()
    }
    if rivals:
        from kvlib.bench.rivals import load_rival

        model, load_s = _timed(load_rival)
        for name, serve in rivals.items():
            contenders[name] = Contender(serve(model), WEIGHT_BYTES["torch"] * num_weights, load_s)
    return contenders


def _num_weights(model: Model) -> int:
    """Numbers in the model's matrices and norms, all of which a step reads; the embedding is the unembedding, too."""
    return sum(prod(info.shape) for info in read_header(model.path).tensors.values())


def _same(tokens: Sequence[list[int]], expected: Sequence[list[int]]) -> int:
    return sum(mine == theirs for mine, theirs in zip(tokens, expected))


def _timed(make: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    made = make(*arguments)
    return made, time.perf_counter() - start


@contextmanager
def _threads(wanted: int) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(wanted)
    try:
        yield wanted
    finally:
        torch.set_num_threads(before)
