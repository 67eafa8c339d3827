"""Rows and machines without kernels, for what the run does with them."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch

from kvlib.bench.gpu.loads import Load
from kvlib.bench.gpu.machine import Interpreter
from kvlib.bench.gpu.pools import Pools
from kvlib.bench.gpu.run import Record, Runner, Settings
from kvlib.bench.gpu.sizes import INTERPRETED
from kvlib.bench.gpu.timing import Timing

RIGHT = {"rel_err": 1e-4, "max_abs": 1e-5, "finite": True, "status": "ok", "note": ""}
TINY = Load("tiny", (5, 3), num_heads=2, num_kv_heads=1, head_size=16)


class Stub(NamedTuple):
    """A row whose measurement is what `found` gives: fields, or something to raise."""

    id: str
    found: Any = RIGHT
    num: int = 0
    dtypes: tuple[torch.dtype, torch.dtype] = (torch.float16, torch.float16)
    before: Callable[[], object] = lambda: None

    @property
    def suite(self) -> str:
        return self.id.partition("/")[0]

    @property
    def fields(self) -> dict[str, Any]:
        impl = self.id.split("/")[1]
        return {"id": self.id, "suite": self.suite, "impl": impl, "variant": "", **TINY.fields, "kv_bytes": 10**6}

    def num_bytes(self, machine: object) -> int:
        return self.num

    def fill(self, pools: Pools, machine: object) -> dict[str, Any]:
        self.before()
        if isinstance(self.found, BaseException):
            raise self.found
        return self.found

    def warm_up(self, machine: object) -> None:
        pass


class TimedInterpreter(Interpreter):
    """The interpreter, with the times that it is given: as if it were a GPU."""

    interpreted = False

    def __init__(self, times: Iterable[float] = ()) -> None:
        self.times = iter(times)

    def time(self, calls: Any) -> Timing:
        for call in calls:
            call()
        us = next(self.times, 100.0)
        return Timing(us, us, us, us, 1.0, False)


def took(us: float, **fields: Any) -> dict[str, Any]:
    """What a row that took so many microseconds fills in."""
    return {**RIGHT, "us_p50": us, "us_p20": us, "us_p80": us, "us_p50_repeat": us, "graph": False, **fields}


def runner(*entries: Any, save: Callable[[Record], None] = lambda record: None, **options: Any) -> Runner:
    """A run of these rows on a machine that answers."""
    settings = Settings(**{name: options.pop(name) for name in ("max_bytes", "deadline_s") if name in options})
    machine = options.pop("machine", None) or TimedInterpreter()
    return Runner(machine, INTERPRETED, settings, save, entries=entries, **options)
