"""One pool at a time: the rows of a load follow each other, and two pools might not fit into the memory."""

from kvlib.bench.gpu.change import Change
from kvlib.bench.gpu.loads import Load
from kvlib.bench.gpu.machine import Machine
from kvlib.bench.gpu.pool import Pool, new_pool


class Pools:
    """Keeps the last pool."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._last: tuple[object, Pool] | None = None

    def take(self, load: Load, change: Change) -> Pool:
        """The pool for `load`, blocks and strides as `change` has them; a call with another load gives it up."""
        key = (load, change.shuffled, change.odd_stride)
        if self._last is None or self._last[0] != key:
            self._last = None
            places = {"shuffled": change.shuffled, "odd_stride": change.odd_stride}
            self._last = (key, new_pool(load, self._machine.device, self._machine.l2_bytes, **places))
        return self._last[1]
