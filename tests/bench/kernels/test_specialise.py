"""Our reading of Triton's just-in-time compiler beside the compiler, in a process that does not interpret."""

import json
import os
import subprocess
import sys

PROGRAM = """
import json
from triton.backends.compiler import GPUTarget
from triton.compiler import make_backend
from triton.runtime.jit import create_function_from_signature
from kvlib.attention.triton.device import A100, H100
from kvlib.bench.kernels.compiled import KERNELS
from kvlib.bench.kernels.specialise import specialise
from kvlib.bench.kernels.variants import VARIANTS, arguments_of

backend = make_backend(GPUTarget("cuda", 80, 32))
unlike = []
for device in (A100, H100):
    for variant in VARIANTS:
        kernel, arguments = KERNELS[variant.kernel], arguments_of(variant, device)
        bind = create_function_from_signature(kernel.signature, kernel.params, backend)
        bound, specialization, options = bind(**arguments)
        _, signature, constexprs, attrs = kernel._pack_args(backend, {}, bound, specialization, options)
        ours = specialise(kernel, arguments)
        constants = {(kernel.arg_names.index(name),): value for name, value in ours.constexprs.items()}
        theirs = (signature, constexprs, {path: given for path, given in attrs.items() if given})
        if (ours.signature, constants, ours.attrs) != theirs:
            unlike.append(f"{variant.name}: {(ours.signature, constants, ours.attrs)} and {theirs}")
print(json.dumps({"variants": len(VARIANTS), "unlike": unlike}))
"""


def test_a_kernel_is_specialised_as_the_just_in_time_compiler_specialises_a_launch():
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["variants"] > 25
    assert found["unlike"] == []
