"""The commands `kvlib release` and `kvlib grade`."""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

from kvlib.bench.options import num_bytes, whole_number
from kvlib.cli_output import report, say
from kvlib.errors import BadConfig, CannotRun, KvlibError

UNPROTECTED = (
    "time, output and the memory of a process are limited, and nothing else: what was handed in can read, change and "
    "delete every file that you can, the model answers and the marks too, use the network, and leave programs running"
)
KERNEL_BYTES = 500_000_000
"""About what a kernel takes of its memory limit before it has run a cell."""
ACCEPT = "If you trust everybody who handed in, or this machine holds nothing else, add --without-sandbox"


def add_grading(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the two commands to those of `kvlib`."""
    command = commands.add_parser(
        "release",
        help="make what learners get of the labs: no solution, no hidden cell",
        description="Make a notebook of each lab without its solutions and hidden cells, the same bytes each time. A "
        "notebook in FOLDER that is not as a release left it is not overwritten: then nothing is written.",
    )
    command.add_argument("labs", type=Path, metavar="LABS", help="the folder of the labs, as text")
    command.add_argument("--out", type=Path, metavar="FOLDER", required=True, help="where the notebooks go")
    command.set_defaults(run=partial(_checked, _release))
    command = commands.add_parser(
        "grade",
        help="grade the notebooks that were handed in",
        description="Run each answer in a sandbox and write the marks, with a reason for each. If this is stopped, the "
        "same command goes on where it was.",
    )
    command.add_argument(
        "submissions",
        type=Path,
        metavar="SUBMISSIONS",
        help="a folder with a folder for each student, or with files that have student and lab in their names",
    )
    command.add_argument(
        "--out",
        type=Path,
        metavar="FILE.csv",
        required=True,
        help="where the marks go; reports and what is kept on the way go to the folder FILE beside it",
    )
    command.add_argument("--labs", type=Path, metavar="FOLDER", default=Path("labs"), help="of the labs' text [labs]")
    command.add_argument(
        "--lab",
        action="append",
        default=[],
        metavar="LAB",
        help="only the lab of this number or name; repeatable [all]",
    )
    command.add_argument("--jobs", type=whole_number(1), metavar="N", help="files at once [every core]")
    command.add_argument("--seed", type=whole_number(0), metavar="N", help="what answers are tried with [a secret one]")
    command.add_argument(
        "--without-sandbox", action="store_true", help="run what was handed in as yourself, with all that you may do"
    )
    limits = command.add_argument_group("limits of one exercise")
    limits.add_argument("--cell-seconds", type=whole_number(1), metavar="S", help="for one cell [20]")
    limits.add_argument("--seconds", type=whole_number(1), metavar="S", help="for all of its cells [90]")
    limits.add_argument("--memory", type=num_bytes, metavar="BYTES", help="that it may take, as 4e9 [6 GiB]")
    command.set_defaults(run=partial(_checked, _grade))


def _checked(run: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    """An error of ours, or of the system with a file, is one line."""
    try:
        return run(options)
    except KvlibError as error:
        raise SystemExit(f"kvlib: {error}") from None
    except OSError as error:
        raise SystemExit(f"kvlib: {error.filename or 'the system'}: {error.strerror}") from None


def _release(options: argparse.Namespace) -> int:
    from kvlib.grading.release import as_text, release  # needs jupytext and nbformat

    return report(as_text(release(options.labs, options.out)))


def _grade(options: argparse.Namespace) -> int:
    from kvlib.grading.grade import ALL_CORES, Plan, grade  # needs nbval, joblib and what labs need
    from kvlib.grading.run import Limits, run_notebook
    from kvlib.grading.sandbox import Sandbox
    from kvlib.grading.summary import as_text

    sandbox = Sandbox("it was not wanted") if options.without_sandbox else Sandbox.find()
    if sandbox.missing and not options.without_sandbox:
        raise BadConfig(f"there is no sandbox here: {sandbox.missing}. {UNPROTECTED}. {ACCEPT}")
    sandbox.check_hides(options.labs, options.submissions, options.out)
    wanted = {"cell_s": options.cell_seconds, "total_s": options.seconds, "memory_bytes": options.memory}
    limits = Limits(**{name: value for name, value in wanted.items() if value is not None})
    plan = Plan(
        options.submissions,
        options.out,
        options.labs,
        options.lab,
        options.jobs or ALL_CORES,
        options.seed,
        limits,
    )
    warning = f"there was no sandbox: {UNPROTECTED}" if sandbox.missing else ""
    say(warning or "each answer runs in a sandbox, for a few seconds; what is done is kept if this is stopped")
    try:
        graded = grade(plan, partial(run_notebook, limits=limits, sandbox=sandbox), bool(sandbox.missing))
    except CannotRun as error:
        if limits.memory_bytes >= Limits().memory_bytes:
            raise
        raise BadConfig(
            f"no kernel starts with --memory {limits.memory_bytes:,}, in bytes; a kernel alone takes about "
            f"{KERNEL_BYTES:,}, and the labs are made for {Limits().memory_bytes:,}. Give it more"
        ) from error
    return report(as_text(graded, plan, warning))
