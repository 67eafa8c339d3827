"""`kvlib bench replay`: this package's managers side by side on one set of requests, in one run."""

import json
from collections.abc import Callable
from statistics import median
from typing import Any

from kvlib.bench.replay import BLOCK_SIZE, NUM_BLOCKS, PHASES, Replay, calibrate
from kvlib.bench.requests import digest, make_requests
from kvlib.checks import whole
from kvlib.memory import BlockManager, Pages, PrefixHasher, RadixManager

Parts = tuple[BlockManager, Any]
COUNTS = ("num_steps", "num_preemptions", "num_hit", "num_queried")


def _hashed(hash: str) -> Parts:
    return BlockManager(NUM_BLOCKS, BLOCK_SIZE), PrefixHasher(BLOCK_SIZE, hash)


def _radix() -> Parts:
    return RadixManager(NUM_BLOCKS, BLOCK_SIZE), Pages(BLOCK_SIZE)


MANAGERS: dict[str, Callable[[], Parts]] = {
    "blocks, sha256": lambda: _hashed("sha256"),
    "blocks, xxh3": lambda: _hashed("xxh3"),
    "radix tree": _radix,
}


def measure(num_requests: int = 2000, seed: int = 0, rounds: int = 3) -> dict[str, Any]:
    """Replay the same requests through every manager, `rounds` times in turn -> medians, as `as_text` shows them.

    Seconds are CPU seconds of this process; `calibration_s` are those of a fixed loop in the same run.
    """
    whole("rounds", rounds)
    requests = list(make_requests(num_requests, seed))
    runs: dict[str, list[Replay]] = {name: [] for name in MANAGERS}
    calibrations = []
    for _ in range(rounds):
        calibrations.append(calibrate())
        for name, parts in MANAGERS.items():
            runs[name].append(Replay(requests, *parts()).run())
    return {
        "num_requests": num_requests,
        "sha256": digest(requests),
        "rounds": rounds,
        "calibration_s": median(calibrations),
        "managers": {name: _row(replays) for name, replays in runs.items()},
    }


def _row(replays: list[Replay]) -> dict[str, Any]:
    last = replays[-1]
    phases = {phase: median(replay.seconds[phase] for replay in replays) for phase in PHASES}
    return {
        "cpu_s": median(sum(replay.seconds.values()) for replay in replays),
        **{f"{phase}_s": seconds for phase, seconds in phases.items()},
        "append_us_per_token": 1e6 * phases["append"] / last.num_appended,
        **{count: getattr(last, count) for count in COUNTS},
        "num_blocks_left_in_use": last.manager.pool.num_blocks - last.manager.num_free_blocks,
    }


def as_text(measured: dict[str, Any]) -> str:
    """The measurement for people."""
    lines = [
        f"{measured['num_requests']:,} requests, SHA-256 of their tokens {measured['sha256']}",
        f"a pool of {NUM_BLOCKS:,} blocks of {BLOCK_SIZE} tokens; CPU seconds, median of {measured['rounds']}",
        f"calibration loop: {measured['calibration_s']:.3f} s",
        "",
        f"{'manager':16}{'all':>8}{'arrive':>8}{'admit':>8}{'append':>8}{'free':>8}{'us/token':>10}",
    ]
    rows = measured["managers"]
    for name, row in rows.items():
        seconds = "".join(f"{row[key]:8.2f}" for key in ("cpu_s", "arrive_s", "admit_s", "append_s", "free_s"))
        lines.append(f"{name:16}{seconds}{row['append_us_per_token']:10.2f}")
    lines.append("")
    lines.append(f"{'manager':16}{'steps':>8}{'preempted':>11}{'hit tokens':>12}{'of':>12}{'blocks left in use':>20}")
    for name, row in rows.items():
        counts = f"{row['num_steps']:8,}{row['num_preemptions']:11,}{row['num_hit']:12,}{row['num_queried']:12,}"
        lines.append(f"{name:16}{counts}{row['num_blocks_left_in_use']:20,}")
    return "\n".join(lines)


def as_json(measured: dict[str, Any]) -> str:
    """The measurement for programs."""
    return json.dumps(measured, indent=1)
