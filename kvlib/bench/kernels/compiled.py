"""`kvlib bench compile`: every variant of the kernels compiled for every card, without a GPU, and what came of it.

Triton compiles to the card's own instructions on any Linux machine. Its metadata gives the shared memory, its copy of
NVIDIA's cuobjdump the registers and the stack, and the PTX text the kinds of instruction.
"""

import json
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from multiprocessing import get_context
from operator import itemgetter
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from kvlib.attention.triton.cache import copy_kernel, write_kernel
from kvlib.attention.triton.combine import combine_kernel
from kvlib.attention.triton.decode import decode_kernel
from kvlib.attention.triton.device import A100, B200, H100, INTERPRETED, L4, T4, Device
from kvlib.attention.triton.naive import naive_kernel
from kvlib.attention.triton.prefill import prefill_kernel
from kvlib.attention.triton.tiles import shared_bytes
from kvlib.bench.kernels.specialise import specialise
from kvlib.bench.kernels.variants import Variant, arguments_of, tiles_of, variants_of
from kvlib.bench.record import record
from kvlib.errors import BadConfig

CARDS = (T4, A100, L4, H100, B200)
KERNELS = {
    "decode": decode_kernel,
    "combine": combine_kernel,
    "prefill": prefill_kernel,
    "naive": naive_kernel,
    "write": write_kernel,
    "copy": copy_kernel,
}
INSTRUCTIONS = {
    "mma": r"\bmma\.sync\.",
    "wgmma": r"\bwgmma\.mma_async\.",
    "tcgen05": r"\btcgen05\.mma\.",
    "cp_async": r"\bcp\.async\.c[ag]\.shared",
    "loads": r"\bld\.global\b",
    "loads_16_bytes": r"\bld\.global\S*\.(v4\.[bfu]32|v2\.[bfu]64)\b",
}
Tell = Callable[[str], None]
Row = dict[str, Any]


def measure(processes: int = 2, tell: Tell = lambda line: None) -> dict[str, Any]:
    """Every variant on every card -> a row for each: one to two minutes on two cores.

    Raises BadConfig where Triton's interpreter has taken the place of its compiler.
    """
    if INTERPRETED:
        raise BadConfig("TRITON_INTERPRET is set, so Triton interprets and compiles nothing; start without it")
    work = [(variant, device) for device in CARDS for variant in variants_of(device)]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        rows = []
        for row in pool.map(compile_variant, *zip(*work)):
            rows.append(row)
            tell(f"{len(rows)} of {len(work)}: {row['card']}, {row['variant']}")
    return {**record("triton", "torch"), "rows": rows}


def compile_variant(variant: Variant, device: Device) -> Row:
    """The variant compiled for the device as its launch would have it compiled there.

    shared_bytes: taken by one program. shared_bound: what the launch expects, and holds against shared_limit, before
    anything is compiled. stack_bytes: where registers are spilled to. mma, wgmma, tcgen05 (the instructions of tensor
    cores), cp_async, loads and loads_16_bytes: how often they stand in the PTX text.
    """
    tiles = tiles_of(variant, device)
    kernel = KERNELS[variant.kernel]
    source = ASTSource(kernel, *specialise(kernel, arguments_of(variant, device)))
    target = GPUTarget("cuda", 10 * device.capability[0] + device.capability[1], 32)
    launch = {"num_warps": tiles.num_warps, "num_stages": tiles.num_stages} if tiles else {}
    # Fusion of a product and a sum is on by default up to Triton 3.9, and off from 3.10 on.
    compiled = triton.compile(source, target=target, options={**launch, "enable_fp_fusion": True})
    return {
        "card": device.name,
        "capability": "{}.{}".format(*device.capability),
        "kernel": variant.kernel,
        "variant": variant.name,
        "tiles": tiles and tiles._asdict(),
        "shared_bytes": compiled.metadata.shared,
        "shared_bound": tiles and shared_bytes(tiles, device, variant.head_size, variant.dtype, variant.codes),
        "shared_limit": device.shared_bytes,
        **_resources(compiled.asm["cubin"]),
        **{name: len(re.findall(pattern, compiled.asm["ptx"])) for name, pattern in INSTRUCTIONS.items()},
    }


def as_json(measured: Mapping[str, Any]) -> str:
    """The table for programs."""
    return json.dumps(measured, indent=1)


def as_text(measured: Mapping[str, Any]) -> str:
    """The table for people, card by card."""
    lines = [", ".join(f"{name} {version}" for name, version in measured["versions"].items())]
    width = max(len(row["variant"]) for row in measured["rows"])
    for card, rows in groupby(measured["rows"], key=itemgetter("card", "capability", "shared_limit")):
        lines += ["", "{}, compute capability {}, {:,} bytes of shared memory for a program".format(*card)]
        lines += [f"{'':{width}} rows x tokens  shared B  registers  stack B  tensor  cp.async  loads, of 16 B"]
        lines += [_line(row, width) for row in rows]
    return "\n".join(lines)


def _line(row: Row, width: int) -> str:
    tiles = "{rows} x {tokens}".format(**row["tiles"]) if row["tiles"] else ""
    tensor = row["mma"] + row["wgmma"] + row["tcgen05"]
    return (
        f"{row['variant']:{width}} {tiles:>13}{row['shared_bytes']:10,}{row['registers']:11}{row['stack_bytes']:9,}"
        f"{tensor:8}{row['cp_async']:10}{row['loads']:7}{row['loads_16_bytes']:9}"
    )


def _resources(cubin: bytes) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        command = [triton.knobs.nvidia.cuobjdump.path, "-res-usage", str(path)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    used = dict(re.findall(r"\b(REG|STACK):(\d+)", text))
    return {"registers": int(used["REG"]), "stack_bytes": int(used["STACK"])}
