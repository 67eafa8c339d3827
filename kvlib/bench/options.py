"""The options of `kvlib simulate`: what each takes, and which do not go together."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from kvlib.bench.lengths import LENGTHS
from kvlib.bench.policies import NAMES, POLICIES
from kvlib.errors import BadConfig

FORMATS = ("azure", "mooncake", "pairs")
PAGED = ("block_size", "num_blocks", "watermark")
ONE_RUN = (
    *("policy", "lengths", "rate", "seconds", "requests", "seed", "trace", "format", "slots", "skip_too_large"),
    *PAGED,
)


def add_options(command: argparse.ArgumentParser) -> None:
    """Add every option to the parser of `kvlib simulate`; one that is not given is None."""
    command.add_argument("--paper", action="store_true", help="compare with the paper, claim by claim, by three seeds")
    command.add_argument("--jobs", type=whole_number(1), metavar="N", help="processes for --paper (every core)")
    command.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers to FILE")
    run = command.add_argument_group("one run", "the paper's server, OPT-13B on an A100; defaults in brackets")
    policies = ", ".join(f"{policy}: {NAMES[policy]}" for policy in POLICIES)
    run.add_argument("--policy", choices=POLICIES, help=f"how memory is given out; {policies} [paged]")
    run.add_argument("--lengths", choices=LENGTHS, help="law of the lengths of prompts and outputs [sharegpt]")
    run.add_argument("--rate", type=positive, metavar="R", help="requests a second, Poisson [2]")
    stop = run.add_mutually_exclusive_group()
    stop.add_argument("--seconds", type=positive, metavar="S", help="stop after S seconds [3600; a trace: at its end]")
    stop.add_argument("--requests", type=whole_number(1), metavar="N", help="serve N requests to their end")
    run.add_argument("--seed", type=whole_number(0), metavar="N", help="of lengths and arrivals [0]")
    run.add_argument("--trace", metavar="FILE", help="requests from a file, .gz or not, in place of a law")
    run.add_argument("--format", choices=FORMATS, help="of FILE; pairs: two lengths a line, arrivals as --rate says")
    memory = run.add_mutually_exclusive_group()
    memory.add_argument(
        "--slots", type=whole_number(1), metavar="N", help="memory in tokens [as many as fit in 12 GiB]"
    )
    memory.add_argument("--num-blocks", type=whole_number(1), metavar="N", help="memory in blocks, for --policy paged")
    run.add_argument("--block-size", type=whole_number(1), metavar="N", help="tokens of a block [16]")
    run.add_argument("--watermark", type=_share, metavar="W", help="share of the blocks an admission leaves [0.01]")
    run.add_argument(
        "--skip-too-large", action="store_true", default=None, help="leave out requests that can never fit"
    )


def check_options(options: argparse.Namespace) -> None:
    """Raise BadConfig, naming the option, for one that does not go with the others."""
    for applies, names, reason in _rules(options):
        for name in names:
            if applies and getattr(options, name) is not None:
                raise BadConfig(f"argument --{name.replace('_', '-')}: {reason}")
    if options.trace is not None and not options.format:
        raise BadConfig(f"argument --trace: say how to read it: --format {', '.join(FORMATS)}")
    check_file(options.json, options.trace)


def check_file(path: Path | None, trace: str | None = None) -> None:
    """Raise BadConfig where the option --json names no file that could be written, or the trace itself."""
    if path is None:
        return
    try:
        is_new = not path.exists()
        if not (is_new and path.absolute().parent.is_dir()) and not path.is_file():
            raise BadConfig(
                f"argument --json: {path} is no file, or in no folder; name a file in a folder that is there"
            )
        if trace is not None and not is_new and path.resolve() == Path(trace).resolve():
            raise BadConfig(f"argument --json: {path} is the trace itself; name another file")
    except OSError as error:
        raise BadConfig(f"argument --json: {str(path)[:100]} cannot be a file: {error.strerror}") from None


def _rules(options: argparse.Namespace) -> Iterator[tuple[bool, tuple[str, ...], str]]:
    """(whether it applies, options that must not be given then, why)."""
    timed = options.trace is not None and options.format != "pairs"
    yield options.paper, ONE_RUN, "it is for one run; --paper takes --jobs and --json only"
    yield not options.paper, ("jobs",), "it is for --paper; one run takes one process"
    yield options.trace is None, ("format",), "it says how to read --trace, which is not given"
    yield options.trace is not None, ("lengths",), "--trace gives the lengths"
    yield timed, ("rate", "seed"), "the trace says what comes when"
    yield options.policy not in (None, "paged"), PAGED, "blocks are for --policy paged"


def whole_number(least: int) -> Callable[[str], int]:
    """What reads an option's text as a whole number of at least `least`, for argparse."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit()) or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return read


def positive(text: str) -> float:
    """What reads an option's text as a number above 0, for argparse."""
    value = _read(text)
    if not 1e-9 <= value <= 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0, from 1e-9 to 1e9")
    return value


def num_bytes(text: str) -> int:
    """What reads an option's text as a number of bytes, 4e9 too, for argparse."""
    value = _read(text)
    if not 1 <= value <= 1e15:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes, from 1 to 1e15")
    return int(value)


def _share(text: str) -> float:
    value = _read(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share, from 0 to below 1")
    return value


def _read(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")
