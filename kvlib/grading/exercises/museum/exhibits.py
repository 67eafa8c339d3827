"""The eight faults of the museum, in the order of the lab."""

from kvlib.grading.exercises.museum.exhibit import Edit, Exhibit

POOL, MANAGER = "kvlib.memory.pool", "kvlib.memory.manager"

STALE = Exhibit(
    "stale",
    POOL,
    (Edit("            else:\n                del holder[key]\n        return evicted\n", "        return evicted\n"),),
    ("nano-vllm#163", "vllm#4764"),
)

EARLY = Exhibit(
    "early",
    MANAGER,
    (
        Edit(
            "        return self._open_table(seq_id, num_tokens, hits)\n",
            "        num_cached = self._open_table(seq_id, num_tokens, hits)\n"
            "        self.publish(seq_id, list(keys))\n"
            "        return num_cached\n",
        ),
    ),
    ("vllm#37152", "vllm#29387"),
)

TOUCH = "self.pool.share(real(hits))"
TAKE = "taken = self.pool.take(self.blocks_for(num_tokens) - len(hits))"
EVICTED = Exhibit(
    "evicted",
    MANAGER,
    (
        Edit(
            f"        {TOUCH}  # before taking: a block taken first could evict a hit\n        {TAKE}\n",
            f"        {TAKE}\n        {TOUCH}\n",
        ),
    ),
    ("vllm#10507", "vllm#33775"),
)

TWICE = Exhibit(
    "twice",
    POOL,
    (
        Edit(
            "            if count == 0:\n                unnamed.append(block)\n",
            "        unnamed = [block for block in blocks if counts[block] == 0]\n",
        ),
    ),
    ("vllm#42571",),
)

SHARED = Exhibit(
    "shared",
    MANAGER,
    (Edit("self.pool.ref_counts[table.blocks[-1]] > 1", "self.pool.ref_counts[table.blocks[-1]] > 2"),),
    ("vllm#417", "vllm#3347"),
)

NOTHING = Exhibit(
    "nothing",
    MANAGER,
    (Edit("keys[: (num_tokens - 1) // self.block_size]", "keys[: num_tokens // self.block_size]"),),
    ("nano-vllm#144", "nano-vllm#114"),
)

BLOCKED = Exhibit(
    "blocked",
    "kvlib.serving.queues",
    (
        Edit(
            "        num_tokens = request.num_prompt_tokens + request.max_tokens - 1"
            "  # the last is never fed back: no slot\n"
            "        try:\n"
            "            self.manager.check_fits(num_tokens, request.num_sequences, request.num_prompt_tokens)\n"
            "        except RequestTooLarge as error:\n"
            "            raise RequestTooLarge(\n"
            '                f"request {name!r} ({request.num_prompt_tokens} prompt tokens, max_tokens "\n'
            '                f"{request.max_tokens}) can never run: {error}"\n'
            "            ) from None\n",
            "",
        ),
    ),
    ("vllm#35541", "vllm#39734"),
)

TAIL = Exhibit(
    "tail",
    "kvlib.attention.paged",
    (Edit("filled = min(block_size, context_len - start)", "filled = block_size"),),
    ("vllm#47305", "deepbeepmeep/Wan2GP#1628"),
)

EXHIBITS = {each.name: each for each in (STALE, EARLY, EVICTED, TWICE, SHARED, NOTHING, BLOCKED, TAIL)}
