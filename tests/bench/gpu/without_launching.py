"""Run as a program: the rows of a run as an H100 would have them, compiled in earnest and launched by nobody.

Prints, as JSON, for each row: what its warming up compiled, what its measurement compiled after that, and its fields.
"""

import json
import os
import sys
from pathlib import Path

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

REGISTERS, SPILLED = 99, 2


class Launcher:
    """What a compiled kernel is launched with."""

    launch_cooperative_grid = False

    def __init__(self, source, metadata):
        pass

    def __call__(self, *arguments, **options):
        pass


class Utilities:
    """The parts of the driver that a kernel needs before it is launched."""

    def get_device_properties(self, device):
        return {"max_shared_mem": 227 * 1024, "max_num_regs": 65536, "multiprocessor_count": 132, "warpSize": 32}

    def load_binary(self, name, kernel, shared, device):
        return 0, 0, REGISTERS, SPILLED, 1024


class NoDriver(DriverBase):
    def __init__(self):
        self.utils, self.launcher_cls = Utilities(), Launcher
        self.get_current_device = self.get_current_stream = lambda *device: 0

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_active_torch_device(self):
        return torch.device("cpu")

    def get_device_interface(self):
        return torch.cuda

    def map_python_to_cpp_type(self, name):
        return "int"

    def get_benchmarker(self):
        return None

    @staticmethod
    def is_active():
        return True


def num_compiled():
    return len(list(Path(os.environ["TRITON_CACHE_DIR"]).glob("*/*.cubin")))


def main():
    triton.runtime.driver.set_active(NoDriver())
    from kvlib.attention.triton import device, inputs
    from kvlib.bench.gpu.ceilings import read_paged
    from kvlib.bench.gpu.change import Change
    from kvlib.bench.gpu.contestants import first_kernel, ours
    from kvlib.bench.gpu.loads import equal
    from kvlib.bench.gpu.machine import Interpreter
    from kvlib.bench.gpu.measure import Timed
    from kvlib.bench.gpu.pools import Pools

    class Machine(Interpreter):
        properties = device.H100
        interpreted = False

    inputs.device_of = lambda tensor: device.H100
    machine = Machine()
    pools = Pools(machine)
    many, one = equal(80, 40), equal(1, 1100)
    entries = [Timed("env", "paged-read", many, read_paged), Timed("baselines", "naive", many, first_kernel)]
    for load in (many, one, many._replace(dtype="e4m3"), many._replace(block_size=24)):
        entries.append(Timed("decode", "kvlib", load, ours))
    changes = (Change("unpacked", packed=False), Change("odd", odd_stride=True), Change("ids", wide_ids=True))
    for change in (*changes, Change("tile", rows=4, tokens=32, num_warps=8, num_stages=3, num_splits=16)):
        entries.append(Timed("ablations", "kvlib", many, ours, change))
    for entry in entries:
        before = num_compiled()
        entry.warm_up(machine)
        warmed = num_compiled()
        found = {**entry.fields, **entry.fill(pools, machine)}
        json.dump({**found, "warming_up": warmed - before, "measuring": num_compiled() - warmed}, sys.stdout)
        print()


main()
