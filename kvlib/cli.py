"""The command `kvlib`."""

import argparse
import sys
from collections.abc import Sequence

from kvlib import __version__, cli_bench, cli_grading, doctor
from kvlib.bench.options import add_options, check_options
from kvlib.cli_output import report, say, written_out
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
    cli_bench.add_benches(command)
    cli_grading.add_grading(commands)
    with written_out():
        options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except KeyboardInterrupt:
        print("kvlib: interrupted", file=sys.stderr)
        return INTERRUPTED


def _doctor(options: argparse.Namespace) -> int:
    findings = doctor.examine()
    with written_out():
        print(doctor.as_json(findings) if options.json else doctor.as_text(findings))
    return 0 if doctor.can_run(findings, "engine", "book") else 1


def _simulate(options: argparse.Namespace) -> int:
    from kvlib.bench import single  # it needs the ledger, which `kvlib doctor` must do without

    try:
        check_options(options)
        text, numbers = _compare(options) if options.paper else single.run(options)
    except BadConfig as error:
        options.refuse(str(error))
    except KvlibError as error:
        raise SystemExit(f"kvlib: {error}") from None
    return report(text, options.json, numbers)


def _compare(options: argparse.Namespace) -> tuple[str, str]:
    from kvlib.bench import comparison, paper
    from kvlib.serving.sweep import ALL_CORES

    say("every claim by three seeds: about a minute on two cores")
    rows = comparison.compare(paper.figures(), n_jobs=options.jobs or ALL_CORES)
    return comparison.as_text(rows), comparison.as_json(rows)
