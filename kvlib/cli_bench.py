"""The commands `kvlib bench ...`."""

import argparse
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from kvlib.bench.gpu.suites import DEADLINE_S, SHARES
from kvlib.bench.options import check_file, num_bytes, positive, whole_number
from kvlib.cli_output import report, say, write_file
from kvlib.errors import BadConfig, KvlibError

Run = Callable[[argparse.Namespace], int]


def add_benches(command: argparse.ArgumentParser) -> None:
    """Add the measurements to the parser of `kvlib bench`."""
    benches = command.add_subparsers(title="measurements", metavar="MEASUREMENT", required=True)

    def bench(name: str, run: Run, what: str) -> argparse.ArgumentParser:
        command = benches.add_parser(name, help=what)
        command.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers to FILE")
        command.set_defaults(run=partial(_checked, run), refuse=command.error)
        return command

    command = bench("replay", _replay, "CPU time of the block managers on one set of recorded requests")
    command.add_argument("--requests", type=whole_number(1), metavar="N", default=2000, help="how many [2000]")
    command.add_argument("--seed", type=whole_number(0), metavar="N", default=0, help="of the requests [0]")
    _add_rounds(command)
    command = bench("engine", _engine, "speed of the engine on this machine, beside Hugging Face transformers")
    _add_rounds(command)
    command.add_argument("--threads", type=whole_number(1), metavar="N", help="of the processor [torch's choice]")
    command.add_argument("--without-transformers", action="store_true", help="measure this package alone")
    command = bench("gpu", _gpu, "the Triton kernels on this GPU: proof, speed, and what others take for the same")
    suites = ", ".join(SHARES)
    command.add_argument(
        "--suite", action="append", choices=SHARES, metavar="NAME", help=f"only this part, repeatable: {suites} [all]"
    )
    command.add_argument(
        "--max-bytes", type=num_bytes, metavar="B", help="leave out what takes a larger cache; for a T4 or L4: 4e9"
    )
    command.add_argument(
        "--deadline",
        type=positive,
        metavar="S",
        default=float(DEADLINE_S),
        help=f"begin nothing after S seconds [{DEADLINE_S}]",
    )
    command.add_argument(
        "--interpret", action="store_true", help="no GPU: the same code, tiny, in Triton's interpreter; no times"
    )
    command = bench("compile", _compile, "the Triton kernels compiled for five cards, which takes no GPU")
    _add_processes(command)
    command = bench("faults", _faults, "faults planted in the Triton kernels, and which checks catch them")
    _add_processes(command)


def _add_rounds(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--rounds", type=whole_number(1), metavar="N", default=3, help="of which medians are shown [3]"
    )


def _add_processes(command: argparse.ArgumentParser) -> None:
    command.add_argument("--processes", type=whole_number(1), metavar="N", default=2, help="at once [2]")


def _checked(run: Run, options: argparse.Namespace) -> int:
    """Before anything is measured: can its numbers be written? After: an error of ours is one line."""
    try:
        check_file(options.json)
    except BadConfig as error:
        options.refuse(str(error))
    try:
        return run(options)
    except KvlibError as error:
        raise SystemExit(f"kvlib: {error}") from None


def _replay(options: argparse.Namespace) -> int:
    from kvlib.bench import managers  # needs numpy, which the other commands do without

    say(f"{options.rounds} rounds of three managers: a few seconds each")
    measured = managers.measure(options.requests, options.seed, options.rounds)
    return report(managers.as_text(measured), options.json, managers.as_json(measured))


def _engine(options: argparse.Namespace) -> int:
    say("This takes about three minutes a round with transformers, one without; longer where others use the machine.")
    from kvlib.bench import engine, engine_report  # need torch

    measured = engine.measure(
        options.rounds, threads=options.threads, with_transformers=not options.without_transformers, tell=say
    )
    return report(engine_report.as_text(measured), options.json, engine_report.as_json(measured))


def _gpu(options: argparse.Namespace) -> int:
    if options.interpret:
        os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported, and not again
    _import_triton()
    from kvlib.bench.gpu import report as reports
    from kvlib.bench.gpu.machine import find_machine
    from kvlib.bench.gpu.run import Record, Runner, Settings
    from kvlib.bench.gpu.sizes import INTERPRETED, ON_A_GPU
    from kvlib.bench.gpu.warm import warm

    def save(record: Record) -> None:
        if options.json:
            write_file(options.json, reports.as_json(record))

    machine = find_machine(options.interpret)
    suites = tuple(options.suite or SHARES)
    settings = Settings(suites, options.max_bytes, options.deadline)
    sizes = INTERPRETED if options.interpret else ON_A_GPU
    runner = Runner(machine, sizes, settings, save, say, None if options.interpret else partial(warm, suites))
    record = runner.run()
    if not options.json:
        say(f"not kept in a file; in the clone, --json {reports.suggested_file(record)} would keep it")
    return report(reports.as_text(record))


def _compile(options: argparse.Namespace) -> int:
    say("one to four minutes on two cores")
    _import_triton()
    from kvlib.bench.kernels import compiled

    measured = compiled.measure(options.processes, say)
    return report(compiled.as_text(measured), options.json, compiled.as_json(measured))


def _faults(options: argparse.Namespace) -> int:
    say("some five minutes on two cores")
    _import_triton()
    from kvlib.bench.kernels import faults

    measured = faults.measure(options.processes, say)
    return report(faults.as_text(measured), options.json, faults.as_json(measured))


def _import_triton() -> None:
    """Import the kernels, or raise MissingPackage, which says what to install.

    Triton joins multiplications and additions then: what it does by default differs between its versions.
    """
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
    import kvlib.attention.triton  # noqa: F401
