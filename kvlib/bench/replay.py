"""The replay: how much CPU a block manager takes to serve recorded requests, by phase of a step.

Nothing is computed but the bookkeeping. The loop is a server's, reduced to what touches the memory, and the same for
every manager and every hash.
"""

import time
from collections import deque
from collections.abc import Iterable

from kvlib.bench.requests import RecordedRequest
from kvlib.memory import BlockManager, PrefixHasher, PrefixKeys

NUM_BLOCKS, BLOCK_SIZE = 20_000, 16
MAX_RUNNING, MAX_NEW_TOKENS = 256, 16_384  # of one step
PHASES = ("arrive", "append", "free", "admit")


class Replay:
    """One run over `requests`. `run` fills `seconds`, CPU seconds by phase, and the counts below.

    `num_queried` and `num_hit` are tokens of admitted requests, and how many of them the cache held already.
    Raises RequestTooLarge for a request that the manager could not hold to its end.
    """

    def __init__(self, requests: Iterable[RecordedRequest], manager: BlockManager, hasher: PrefixHasher) -> None:
        self.manager = manager
        self.waiting = deque(_Work(number, request, hasher.start()) for number, request in enumerate(requests))
        for work in self.waiting:
            manager.check_fits(work.num_final)
        self.running: dict[int, _Work] = {}  # by number, the earliest first
        self.num_steps = self.num_preemptions = self.num_hit = self.num_queried = self.num_appended = 0
        self.seconds = dict.fromkeys(PHASES, 0.0)

    def run(self) -> "Replay":
        """Step until every request has its whole answer."""
        while self.waiting or self.running:
            self.num_steps += 1
            preempted = self._timed("append", self._append_all)
            self._timed("free", self._free_finished)
            if not preempted:
                self._admit_all()
        return self

    def _append_all(self) -> bool:
        """One more token for each running request, the earliest first; the latest yields when memory is short."""
        num_running, done = len(self.running), 0
        while done < len(self.running):
            done += len(self.manager.append_each(list(self.running)[done:]))
            if done < len(self.running):
                self._preempt_latest()
        self.num_appended += done
        for work in self.running.values():
            work.num_tokens += 1
            if work.num_tokens % BLOCK_SIZE == 0:
                work.extend_keys()
                self.manager.publish(work.number, work.prefix.keys)
        return done < num_running

    def _preempt_latest(self) -> None:
        _, work = self.running.popitem()
        work.num_tokens += 1  # it has its new token, and no slot for it
        self.manager.free(work.number)
        self.waiting.appendleft(work)
        self.num_preemptions += 1

    def _free_finished(self) -> None:
        finished = [work.number for work in self.running.values() if work.num_tokens >= work.num_final]
        for number in finished:
            self.manager.free(number)
            del self.running[number]

    def _admit_all(self) -> None:
        """Admit from the head until one does not fit or the step has enough to compute; the last may exceed that."""
        budget = MAX_NEW_TOKENS
        while self.waiting and len(self.running) < MAX_RUNNING and budget > 0:
            self._timed("arrive", self.waiting[0].extend_keys)
            num_new = self._timed("admit", self._admit)
            if not num_new:
                return
            budget -= num_new

    def _admit(self) -> int:
        """Admit the request at the head, if it fits; returns how many tokens of it are to be computed, or 0."""
        work = self.waiting[0]
        keys = work.prefix.keys
        if not self.manager.can_admit(work.num_tokens, keys):
            return 0
        num_cached = self.manager.admit(work.number, work.num_tokens, keys)
        self.manager.publish(work.number, keys)
        self.running[work.number] = self.waiting.popleft()
        self.num_hit += num_cached
        self.num_queried += work.num_tokens
        return work.num_tokens - num_cached

    def _timed(self, phase: str, do, *arguments):  # type: ignore[no-untyped-def]
        start = time.process_time()
        result = do(*arguments)
        self.seconds[phase] += time.process_time() - start
        return result


class _Work:
    """A recorded request, how many of its tokens are known to the server so far, and the keys of its full blocks."""

    __slots__ = ("num_final", "num_tokens", "number", "prefix", "tokens")

    def __init__(self, number: int, request: RecordedRequest, prefix: PrefixKeys) -> None:
        self.number = number
        self.tokens = request.prompt + request.output
        self.num_tokens = len(request.prompt)
        self.num_final = len(self.tokens)
        self.prefix = prefix

    def extend_keys(self) -> None:
        """Keys for every block that is full by now; the prompt's when the request first reaches the head."""
        self.prefix.extend(self.tokens[self.prefix.num_tokens : self.num_tokens])


def calibrate() -> float:
    """CPU seconds of a fixed loop over a list and a dictionary: what this machine is worth at this moment."""
    start = time.process_time()
    places: dict[int, int] = {}
    stack = list(range(1000))
    for number in range(1_000_000):
        block = stack.pop()
        places[block] = number
        stack.append(block)
    return time.process_time() - start
