"""The check of eviction in lab 6, and the cache that it is about."""

from collections.abc import Callable, Iterator
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, check_all_callable
from kvlib.grading.exercises.broken import Broken

SAFE = "a hit is in use from then on, and is handed out to nobody"
FORGOTTEN = "a block that is handed out has lost its key"
COUNTED = "the count of a block is the number of tables that name it"
ORDER = "the longest unused is handed out first, and of one request its deepest block"


class Cache:
    """Blocks 0 to `num_blocks` - 1, and what is known of them. A key has one block."""

    def __init__(self, num_blocks: int) -> None:
        self.counts = [0] * num_blocks  # of each block: how many tables name it
        self.key_of: dict[int, str] = {}  # block -> the key of what it holds
        self.holder: dict[str, int] = {}  # key -> the block that holds it
        self.queue = list(range(num_blocks))  # blocks with a count of 0, the next to be handed out first

    def publish(self, table: list[int], keys: list[str]) -> None:
        """Name the first blocks of a table, once they are computed. A key that is held already stays where it is."""
        for block, key in zip(table, keys):
            if key not in self.holder:
                self.holder[key] = block
                self.key_of[block] = key


def evict(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """The probe: requests of six conversations come and go, in a memory that holds about half of what they say."""
    check_all_callable(answer, "check('evict', (admit, release))", ("cache", "hits", "num_new"), ("cache", "table"))
    admit, release = answer
    running: list[list[int]] = []
    cache = Cache(16 + chance.below(5))
    seen: dict[str, list] = {SAFE: [], FORGOTTEN: [], COUNTED: [], ORDER: []}
    try:
        for _ in range(40):
            talk, length = chance.below(6), 2 + chance.below(4)
            keys = [f"{talk}.{place}" for place in range(length)]
            hits = []
            for key in keys:
                if key not in cache.holder:
                    break
                hits.append(cache.holder[key])
            num_new = length - len(hits) + 1
            while num_new + sum(cache.counts[hit] == 0 for hit in hits) > len(cache.queue) or len(running) > 2:
                _release(cache, release, running.pop(chance.below(len(running))))
                hits = [hit for hit in hits if cache.key_of.get(hit) in keys]
            known = dict(cache.key_of)
            table = _admit(cache, admit, hits, num_new)
            seen[SAFE].append(len(hits))
            seen[FORGOTTEN].append(len(cache.holder))
            seen[ORDER].append([known[block] for block in table[len(hits) :] if block in known])
            cache.publish(table, keys)
            running.append(table)
            seen[COUNTED].append(sum(cache.counts))
    except Broken as broken:
        yield broken.seen
        return
    yield from (Seen(law, values) for law, values in seen.items())


def _admit(cache: Cache, admit: Callable, hits: list[int], num_new: int) -> list[int]:
    counts, queue, keys = list(cache.counts), list(cache.queue), dict(cache.key_of)
    given = admit(cache=cache, hits=list(hits), num_new=num_new)
    case = f"admit(cache, {hits}, {num_new}), with the queue {queue},"
    if not isinstance(given, list) or len(given) != len(hits) + num_new or given[: len(hits)] != hits:
        raise Broken(SAFE, f"{case} returns {given!r:.80}; expected the hits {hits}, then {num_new} blocks more.")
    new = given[len(hits) :]
    taken = [block for block in new if block in hits]
    if taken:
        raise Broken(
            SAFE,
            f"{case} returns {given}: block {taken[0]} was a hit, and was handed out as a new one as well. Take the "
            "hits out of the queue before you take from it.",
        )
    waiting = [block for block in given if block in cache.queue]
    if waiting:
        raise Broken(SAFE, f"{case} leaves block {waiting[0]} in the queue, from which the next request would get it.")
    stale = [block for block in new if block in cache.key_of or block in cache.holder.values()]
    if stale:
        raise Broken(
            FORGOTTEN,
            f"{case} hands out block {stale[0]}, which can still be found by {keys.get(stale[0])!r}: who asks for that "
            "would be served what another request is about to write. Forget it in key_of and in holder.",
        )
    lost = [key for block, key in keys.items() if block not in new and cache.holder.get(key) != block]
    if lost:
        raise Broken(FORGOTTEN, f"{case} forgets {lost[0]!r}, whose block was not handed out.")
    expected = [block for block in queue if block not in hits][:num_new]
    if sorted(new) != sorted(expected):
        raise Broken(ORDER, f"{case} takes {new}. The queue says who is next: {expected}.")
    _check_counts(cache, case, counts, given, 1)
    return given


def _release(cache: Cache, release: Callable, table: list[int]) -> None:
    counts, queue = list(cache.counts), list(cache.queue)
    release(cache=cache, table=list(table))
    case = f"release(cache, {table}), with the queue {queue} before,"
    _check_counts(cache, case, counts, table, -1)
    in_use = [block for block in cache.queue if cache.counts[block]]
    if in_use:
        raise Broken(SAFE, f"{case} puts block {in_use[0]} into the queue, which another table still names.")
    left = [block for block in table if cache.counts[block] == 0]
    if sorted(cache.queue) != sorted(queue + left):
        raise Broken(SAFE, f"{case} leaves the queue {cache.queue}; expected each of {left} to be in it once more.")
    named = [block for block in left[::-1] if block in cache.key_of]
    plain = len(left) - len(named)
    if {*cache.queue[:plain]} != {*left} - {*named}:
        raise Broken(
            ORDER,
            f"{case} leaves the queue {cache.queue}. Block {left[-1]} has no key and will never be found: it goes to "
            "the front, so that it is taken before any that might.",
        )
    if named and cache.queue[plain:] != queue + named:
        if cache.queue[plain:] == queue + named[::-1]:
            raise Broken(
                ORDER,
                f"{case} leaves the queue {cache.queue}, in which the beginning of a prompt goes before its end. "
                "Without its beginning the rest is never found: the deepest first.",
            )
        raise Broken(ORDER, f"{case} leaves the queue {cache.queue}. The last used go to its end: {named}.")


def _check_counts(cache: Cache, case: str, counts: list[int], table: list[int], change: int) -> None:
    for block, count in enumerate(counts):
        right = count + change * (block in table)
        if cache.counts[block] != right:
            raise Broken(COUNTED, f"{case} leaves block {block} with a count of {cache.counts[block]}, not {right}.")
