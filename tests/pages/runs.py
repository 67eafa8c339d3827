"""Recorded runs of the scheduler, the same each time, for the machine to play."""

from random import Random

from kvlib.errors import RequestTooLarge
from kvlib.events import EventLog
from kvlib.memory import PrefixHasher, RecordedBlockManager, RecordedContiguousManager
from kvlib.memory.buddy import BuddyAllocator
from kvlib.memory.contiguous import Max, Oracle, Pow2
from kvlib.memory.first_fit import FirstFitAllocator
from kvlib.serving.request import Request
from kvlib.serving.scheduler import Scheduler

WORDS = ["the", "sea", "was", "calm", "and", "a", "boat", "came", "over", "slowly", "from", "an", "island", "we", "saw"]


class Run:
    """A scheduler over recorded blocks. `add` requests, `play` to the end or for some steps, read `log`."""

    def __init__(self, num_blocks=44, block_size=4, *, preemption="recompute", caching=False, seed=0, **options):
        self.log = EventLog()
        num_host_blocks = num_blocks if preemption == "swap" else 0
        manager = RecordedBlockManager(num_blocks, block_size, self.log, num_host_blocks=num_host_blocks)
        self.scheduler = Scheduler(manager, preemption=preemption, log=self.log, **options)
        self.hasher = PrefixHasher(block_size) if caching else None
        self.random = Random(seed)
        self.texts, self.prefixes = {}, {}

    def add(self, name, prompt, max_tokens, num_sequences=1):
        self._begin(name, prompt)
        keys = self.prefixes[name].keys if self.hasher else ()
        self.scheduler.add(Request(name, len(prompt), max_tokens, num_sequences=num_sequences, keys=keys))
        self.log.say(name, prompt)

    def play(self, num_steps=2000):
        for _ in range(num_steps):
            if not self.scheduler.has_unfinished():
                return self
            step = self.scheduler.schedule()
            self.scheduler.computed(step)
            for work in step.prefills + step.decodes:
                if work.gives_token and work.request.growing:
                    self._go_on(work.request, work.sequence)
        return self

    def _begin(self, name, pieces):
        self.texts[name] = list(pieces)
        if self.hasher:
            self.prefixes[name] = self.hasher.start()
            self.prefixes[name].extend([hash_of(piece) for piece in pieces])

    def _go_on(self, request, sequence):
        is_first = sequence.num_tokens == request.num_prompt_tokens and len(request.sequences) == 1
        for number in range(1, request.num_sequences if is_first else 1):
            child = f"{request.request_id}.{number}"
            self._begin(child, self.texts[sequence.seq_id])
            keys = self.prefixes[child].keys if self.hasher else ()
            self.scheduler.fork(request, sequence.seq_id, child, keys)
            self.log.say(child, self.texts[child])
        for each in list(request.sequences) if is_first else [sequence]:
            piece = self.random.choice(WORDS) + " "
            self.texts[each.seq_id].append(piece)
            self.log.say(each.seq_id, [piece])
            if self.hasher:
                self.prefixes[each.seq_id].extend([hash_of(piece)])
            each.append()
        if not request.growing:
            self.scheduler.finish(request, "length")


def hash_of(piece):
    return sum(ord(letter) * 31**place for place, letter in enumerate(piece)) % 2**31


def pieces(random, count):
    return [random.choice(WORDS) + " " for _ in range(count)]


def varied(kind, seed):
    """A run of random requests: `kind` is "recompute", "swap" or "prefix"."""
    random = Random(seed)
    size = random.randint(2, 5)
    run = Run(
        random.randint(9, 20),
        size,
        preemption="swap" if kind == "swap" else "recompute",
        caching=kind == "prefix",
        chunked_prefill=random.random() < 0.5,
        max_num_batched_tokens=random.randint(4, 30),
        max_num_seqs=6,
        seed=seed,
    )
    start = pieces(random, 9)
    for number in range(random.randint(3, 9)):
        prompt = start[: random.randint(1, 9)] + pieces(random, random.randint(0, 5))
        try:
            run.add(f"r{number}", prompt, random.randint(1, 12), random.randint(1, 3))
        except RequestTooLarge:
            continue
        run.play(random.randint(0, 3))
    return run.play().log


def contiguous(num_slots, policy, requests, allocator=FirstFitAllocator):
    """Requests (prompt, output) one after another into contiguous memory; who finds no chunk waits."""
    log = EventLog()
    manager = RecordedContiguousManager(num_slots, policy, log, allocator)
    queue = []
    for name, (num_prompt, num_output) in requests.items():
        log.add("arrive", seq=name)
        queue.append((name, num_prompt, num_output))
        log.say(name, [WORDS[i % len(WORDS)] + " " for i in range(num_prompt + num_output)])
    while queue or manager.sequences:
        log.next_step()
        for seq in manager.sequences:
            if manager.split_of(seq).reserved == 0:
                manager.free(seq)
                log.add("finish", seq=seq, reason="length")
        while queue and manager.can_admit(*queue[0][1:]):
            manager.admit(*queue.pop(0))
        if queue:
            manager.refuse(*queue[0])
        manager.tick()
    return log


def varied_contiguous(seed):
    """Random requests into contiguous memory under one of the policies."""
    random = Random(seed)
    policy = random.choice([Max, Pow2, Oracle])(20)
    requests = {f"r{n}": (random.randint(1, 9), random.randint(1, 10)) for n in range(random.randint(3, 14))}
    return contiguous(random.randint(40, 120), policy, requests, random.choice([BuddyAllocator, FirstFitAllocator]))
