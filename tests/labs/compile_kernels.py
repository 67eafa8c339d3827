"""Compiles the kernels of *Write the kernel* for two GPUs, as their launches would, without one: a line for each.

python compile_kernels.py FOLDER; the folder takes the answers as a module. Not under TRITON_INTERPRET=1.
"""

import importlib.util
import sys
from pathlib import Path

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

from kvlib.bench.kernels.specialise import specialise
from kvlib.grading.lab import read

LAB = Path(__file__).parents[2] / "labs" / "08-write-the-kernel.md"
IMPORTS = "import torch\nimport triton\nimport triton.language as tl\n"


def compile_instead(kernel, *args, grid, warmup, **arguments):
    arguments |= dict(zip(kernel.arg_names, args))
    signature, constexprs, attrs = specialise(kernel, arguments)
    for capability in (75, 90):
        source = ASTSource(kernel, signature, constexprs, attrs)
        compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32))
        print(kernel.__name__, f"sm_{capability}", len(compiled.asm["cubin"]) > 0)


cells = [cell for cell in read(LAB) if cell.role == "answer" or "def arguments" in cell.source]
path = Path(sys.argv[1]) / "answers.py"
path.write_text("\n\n".join([IMPORTS, *(cell.source for cell in cells)]), encoding="utf-8")
spec = importlib.util.spec_from_file_location("answers", path)
answers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(answers)
JITFunction.run = compile_instead

query, cache = torch.zeros(2, 8, 16, dtype=torch.float16), torch.zeros(20, 8, 2, 16, dtype=torch.float16)
inputs = {
    "query": query,
    "key_cache": cache,
    "value_cache": cache,
    "block_tables": torch.zeros(2, 6, dtype=torch.int64),
    "context_lens": torch.zeros(2, dtype=torch.int64),
    "scale": 0.25,
    "output": torch.zeros_like(query),
}
for name in ("first", "online", "tiled", "grouped"):
    getattr(answers, name)(**inputs)
answers.split(**inputs, num_splits=4, max_context_len=48)
