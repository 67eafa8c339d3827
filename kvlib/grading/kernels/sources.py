"""What a row of output was made from: the loads of its programs, and of those that wrote what these loaded."""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from torch import Tensor

from kvlib.grading.kernels.accesses import Access, begin_of
from kvlib.grading.kernels.watched import Watch


def loads_for(watch: Watch, output: Tensor, row: int) -> list[Access]:
    """All loads of the programs that had a part in `row` of `output`, seen as rows of its last dimension."""
    size = output.shape[-1]
    wanted = defaultdict(set, {begin_of(output): set(range(row * size, (row + 1) * size))})
    programs: set[tuple] = set()
    while True:
        found = {store.of for store in watch.stores if not wanted[store.begin].isdisjoint(store.elements.tolist())}
        if found <= programs:
            return [load for load in watch.loads if load.of in programs]
        programs |= found
        for load in watch.loads:
            if load.of in programs:
                wanted[load.begin].update(load.elements.tolist())


def badly_handed_over(watch: Watch, given: Iterable[Tensor]) -> str:
    """What is wrong with what one kernel leaves for the next, in words; "" if nothing is.

    given: the tensors that the answer was called with; all others that a kernel reads were handed over.
    """
    known = {begin_of(tensor) for tensor in given}
    writers: dict[int, dict[int, set]] = defaultdict(lambda: defaultdict(set))
    for store in watch.stores:
        for element in store.elements if store.begin not in known else ():
            writers[store.begin][int(element)].add(store.program)
    for launch, _, begin, elements in watch.loads:
        if begin in known:
            continue
        reader = watch.launches[launch]
        for element in elements:
            programs = writers[begin][int(element)]
            if len(programs) != 1:
                name = reader.name_of(begin)
                place = _place(reader.tensors[name], int(element), name)
                if not programs:
                    return (
                        f"{reader.kernel} reads {place}, and no program wrote it; each program stores its part and its "
                        "log sum, one without a token too"
                    )
                one, other = sorted(programs)[:2]
                return f"programs {one} and {other} both write {place}; each part needs a place of its own"
    return ""


def _place(tensor: Tensor, element: int, name: str) -> str:
    """Number `element` of a tensor, as Python would index it; the name alone where the tensor is part of another."""
    if element >= tensor.numel():
        return name
    return f"{name}[{', '.join(map(str, np.unravel_index(element, tensor.shape)))}]"
