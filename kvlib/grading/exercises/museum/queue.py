"""The queue of requests, kvlib's own or with a fault, and who waits in it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from kvlib.chance import Chance
from kvlib.errors import RequestTooLarge
from kvlib.grading.exercises.museum.exhibit import Exhibit
from kvlib.memory import BlockManager
from kvlib.serving.request import Request
from kvlib.serving.scheduler import Scheduler

NUM_STEPS = 40


class Queue(NamedTuple):
    """The requests of a memory between two steps.

    The tokens of a request are all that it may come to store.
    """

    num_blocks: int  # of the whole memory
    block_size: int  # tokens a block
    num_free: int  # blocks that can be handed out now
    waiting: dict[str, int]  # request -> its tokens; the first is admitted first
    running: dict[str, int]  # request -> its tokens


class Service:
    """A scheduler over `num_blocks` blocks of `block_size` tokens, sound or with the fault of an exhibit."""

    def __init__(self, num_blocks: int, block_size: int, exhibit: Exhibit | None = None) -> None:
        replaced = {"add": exhibit.planted().RequestQueues.add} if exhibit else {}
        self._scheduler: Scheduler = type("Planted", (Scheduler,), replaced)(BlockManager(num_blocks, block_size))

    def ask(self, name: str, num_prompt_tokens: int, max_tokens: int) -> str:
        """Queue a request; returns "waits", or what the refusal says."""
        try:
            self._scheduler.add(Request(name, num_prompt_tokens, max_tokens))
        except RequestTooLarge as refusal:
            return f"refused: {refusal}"
        return "waits"

    def step(self) -> None:
        """One iteration: who fits is admitted, everybody who runs gets a token, who has all of them ends."""
        step = self._scheduler.schedule()
        self._scheduler.computed(step)
        for work in step.prefills + step.decodes:
            work.sequence.append()
            if not work.request.growing:
                self._scheduler.finish(work.request, "length")

    def snapshot(self) -> Queue:
        """Who waits and who runs now; what happens later does not change it."""
        manager = self._scheduler.manager
        waiting, running = map(_tokens, (self._scheduler.waiting, self._scheduler.running))
        return Queue(manager.pool.num_blocks, manager.block_size, manager.num_free_blocks, waiting, running)


def arrivals(exhibit: Exhibit, chance: Chance) -> Iterator[tuple[str, Any, Any]]:
    """Steps of a service, each with the queue as it is and as it is with the fault; the latter is None once it has
    differed. Some requests fill the whole memory, some would need more, many fit."""
    num_blocks, block_size = 6 + chance.below(5), 2 + chance.below(3)
    sound = Service(num_blocks, block_size)
    faulty: Service | None = Service(num_blocks, block_size, exhibit)
    late = chance.below(NUM_STEPS // 2)
    for number in range(NUM_STEPS):
        call: tuple[Any, ...] = ("step",)
        if chance.below(2):
            call = ("ask", f"r{number}", *_sizes(chance, num_blocks * block_size, may_exceed=number >= late))
        states = []
        for service in filter(None, (sound, faulty)):
            getattr(service, call[0])(*call[1:])
            states.append(service.snapshot())
        if faulty is not None and states[0] != states[1]:
            faulty = None
        yield f"{call[0]}({', '.join(map(repr, call[1:]))})", states[0], states[1] if len(states) > 1 else None


def _sizes(chance: Chance, num_slots: int, may_exceed: bool) -> tuple[int, int]:
    """Prompt and answer of a request that needs some, all, or more than all of the slots."""
    kind = chance.below(6)
    total = (num_slots + 1 + chance.below(3)) if kind == 0 and may_exceed else num_slots
    if kind > 1:
        total = 2 + chance.below(num_slots // 2)
    max_tokens = 1 + chance.below(min(4, total - 1))
    return total + 1 - max_tokens, max_tokens  # the last token is never stored


def _tokens(requests: list[Request]) -> dict[str, int]:
    return {each.request_id: each.num_prompt_tokens + each.max_tokens - 1 for each in requests}
