"""The command `kvlib`."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kvlib import __version__, doctor


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `kvlib` with these arguments, or with the command line's; returns the exit code."""
    parser = argparse.ArgumentParser(prog="kvlib", description="KV-cache management and paged attention.")
    parser.add_argument("--version", action="version", version=f"kvlib {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    command = commands.add_parser("doctor", help="say what this machine can run, what is missing and how to get it")
    command.add_argument("--json", action="store_true", help="print it as JSON")
    with _written_out():
        options = parser.parse_args(arguments)
    findings = doctor.examine()
    with _written_out():
        print(doctor.as_json(findings) if options.json else doctor.as_text(findings))
    return 0 if doctor.can_run(findings, "engine", "book") else 1


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
