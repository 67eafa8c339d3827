"""The command `kvlib`."""

import argparse
from collections.abc import Sequence

from kvlib import __version__, doctor


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `kvlib` with these arguments, or with the command line's; returns the exit code."""
    parser = argparse.ArgumentParser(prog="kvlib", description="KV-cache management and paged attention.")
    parser.add_argument("--version", action="version", version=f"kvlib {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    command = commands.add_parser("doctor", help="say what this machine can run, what is missing and how to get it")
    command.add_argument("--json", action="store_true", help="print it as JSON")
    options = parser.parse_args(arguments)
    findings = doctor.examine()
    print(doctor.as_json(findings) if options.json else doctor.as_text(findings))
    return 0 if doctor.can_run(findings, "engine", "book") else 1
