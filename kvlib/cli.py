"""The command `kvlib`."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from kvlib import __version__, doctor
from kvlib.bench.options import add_options, check_file, check_options, whole_number
from kvlib.errors import BadConfig, KvlibError

INTERRUPTED = 130  # what a shell reports for Ctrl-C


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `kvlib` with these arguments, or with the command line's; returns the exit code."""
    parser = argparse.ArgumentParser(prog="kvlib", description="KV-cache management and paged attention.")
    parser.add_argument("--version", action="version", version=f"kvlib {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    command = commands.add_parser("doctor", help="say what this machine can run, what is missing and how to get it")
    command.add_argument("--json", action="store_true", help="print it as JSON")
    command.set_defaults(run=_doctor)
    command = commands.add_parser(
        "simulate",
        usage="%(prog)s [--paper | options of one run]",
        help="serve requests under a memory policy, or compare with the paper, on simulated time",
    )
    add_options(command)
    command.set_defaults(run=_simulate, refuse=command.error)
    command = commands.add_parser("bench", help="measure on this machine")
    benches = command.add_subparsers(title="measurements", metavar="MEASUREMENT", required=True)
    command = benches.add_parser("replay", help="CPU time of the block managers on one set of recorded requests")
    command.add_argument("--requests", type=whole_number(1), metavar="N", default=2000, help="how many [2000]")
    command.add_argument("--seed", type=whole_number(0), metavar="N", default=0, help="of the requests [0]")
    command.add_argument(
        "--rounds", type=whole_number(1), metavar="N", default=3, help="of which medians are shown [3]"
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers to FILE")
    command.set_defaults(run=_bench_replay, refuse=command.error)
    command = benches.add_parser("engine", help="speed of the engine on this machine, beside Hugging Face transformers")
    command.add_argument(
        "--rounds", type=whole_number(1), metavar="N", default=3, help="of which medians are shown [3]"
    )
    command.add_argument("--threads", type=whole_number(1), metavar="N", help="of the processor [torch's choice]")
    command.add_argument("--without-transformers", action="store_true", help="measure this package alone")
    command.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers to FILE")
    command.set_defaults(run=_bench_engine, refuse=command.error)
    with _written_out():
        options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except KeyboardInterrupt:
        print("kvlib: interrupted", file=sys.stderr)
        return INTERRUPTED


def _doctor(options: argparse.Namespace) -> int:
    findings = doctor.examine()
    with _written_out():
        print(doctor.as_json(findings) if options.json else doctor.as_text(findings))
    return 0 if doctor.can_run(findings, "engine", "book") else 1


def _simulate(options: argparse.Namespace) -> int:
    from kvlib.bench import single  # it needs the ledger, which `kvlib doctor` must do without

    try:
        check_options(options)
        report, numbers = _compare(options) if options.paper else single.run(options)
    except BadConfig as error:
        options.refuse(str(error))
    except KvlibError as error:
        raise SystemExit(f"kvlib: {error}") from None
    return _report(options, report, numbers)


def _bench_replay(options: argparse.Namespace) -> int:
    _check_json(options)
    try:
        from kvlib.bench import managers  # needs numpy, which the other commands do without
    except KvlibError as error:
        raise SystemExit(f"kvlib: {error}") from None
    _say(f"{options.rounds} rounds of three managers: a few seconds each")
    measured = managers.measure(options.requests, options.seed, options.rounds)
    return _report(options, managers.as_text(measured), managers.as_json(measured))


def _bench_engine(options: argparse.Namespace) -> int:
    _check_json(options)
    _say("This takes about three minutes a round with transformers, one without; longer where others use the machine.")
    try:
        from kvlib.bench import engine, engine_report  # need torch

        measured = engine.measure(
            options.rounds, threads=options.threads, with_transformers=not options.without_transformers, tell=_say
        )
    except KvlibError as error:
        raise SystemExit(f"kvlib: {error}") from None
    return _report(options, engine_report.as_text(measured), engine_report.as_json(measured))


def _check_json(options: argparse.Namespace) -> None:
    """Before anything is measured: can its numbers be written?"""
    try:
        check_file(options.json)
    except BadConfig as error:
        options.refuse(str(error))


def _report(options: argparse.Namespace, report: str, numbers: str) -> int:
    if options.json:
        _write(options.json, numbers)
    with _written_out():
        print(report)
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _compare(options: argparse.Namespace) -> tuple[str, str]:
    from kvlib.bench import comparison, paper
    from kvlib.serving.sweep import ALL_CORES

    print("every claim by three seeds: about a minute on two cores", file=sys.stderr, flush=True)
    rows = comparison.compare(paper.figures(), n_jobs=options.jobs or ALL_CORES)
    return comparison.as_text(rows), comparison.as_json(rows)


def _write(path: Path, text: str) -> None:
    """Write a file whole or not at all; where `path` is a link, the file it leads to."""
    target = path.resolve()
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(target)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink()
        raise SystemExit(f"kvlib: {path} cannot be written: {error.strerror}") from None


@contextmanager
def _written_out() -> Iterator[None]:
    """Write out what is printed inside. Where that fails, end with one line, or with none if the reader has gone."""
    try:
        try:
            yield
        finally:
            print(end="", flush=True)
    except OSError as error:
        # Python writes out what is left when it ends, and would fail a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        gone = isinstance(error, BrokenPipeError)
        raise SystemExit(1 if gone else f"kvlib: the output cannot be written: {error.strerror}") from None
