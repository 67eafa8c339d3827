"""What the compiler made of a kernel: taken from the launch itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

REGISTER_BYTES = 4


@contextmanager
def watched(kernel: Any) -> Iterator[dict[str, int]]:
    """A dict that holds, after the block, shared_b, regs and spill_b of the last launch of `kernel` in it.

    kernel: a triton.jit function, or None. The dict stays empty where nothing is compiled, as in the interpreter.
    """
    found: dict[str, int] = {}
    if kernel is None:
        yield found
        return
    launch = kernel.run

    def run(*args: Any, **options: Any) -> Any:
        compiled = launch(*args, **options)
        if compiled is not None:
            found["shared_b"] = compiled.metadata.shared
            found["regs"] = compiled.n_regs
            found["spill_b"] = compiled.n_spills * REGISTER_BYTES
        return compiled

    kernel.run = run  # kernel[grid](...) ends in self.run(...)
    try:
        yield found
    finally:
        del kernel.run
