"""How much of a workload's prompts a prefix cache that forgets nothing would find: the most that any cache can."""

from collections import namedtuple

from kvlib.checks import whole
from kvlib.errors import BadInput

TYPE_CHECKING = False  # a browser's small Python has no collections.abc, and evaluates no annotation
if TYPE_CHECKING:
    from collections.abc import Iterable

    from kvlib.serving.workload import Arrival

MOONCAKE_BLOCK = 512  # tokens behind one of its hash_ids


class PrefixReuse(namedtuple("PrefixReuse", ("hit_tokens", "queried_tokens"))):
    """Of `queried_tokens` prompt tokens in all, `hit_tokens` were known when their request came. Both are ints."""

    @property
    def rate(self) -> float:
        """The share of the queried tokens that hit, 0 to 1."""
        return self.hit_tokens / self.queried_tokens


def prefix_reuse(arrivals: "Iterable[Arrival]", block_size: int = MOONCAKE_BLOCK) -> PrefixReuse:
    """What an unbounded prefix cache hits over a whole workload, whose arrivals carry `block_ids`.

    A prompt hits the longest run of known ids from its start, and never its own last token, whose query is computed
    for the next. The last id of a prompt covers what `block_size` tokens leave over. Only ids are kept in memory.
    Raises BadInput for an arrival whose ids are not one for each `block_size` tokens, and for no arrival at all.
    """
    whole("block_size", block_size)
    known: set[int] = set()
    hit_tokens = queried_tokens = 0
    for number, arrival in enumerate(arrivals, 1):
        num_tokens = whole(f"num_prompt_tokens of arrival {number}", arrival.num_prompt_tokens, 1, BadInput)
        ids = arrival.block_ids
        if len(ids) != -(-num_tokens // block_size):
            raise BadInput(
                f"arrival {number} has {len(ids)} block ids for {num_tokens} prompt tokens; expected one for each "
                f"{block_size}; give a workload that has them, such as kvlib.serving.traces.mooncake's, and its "
                "block_size"
            )
        run = next((place for place, block in enumerate(ids) if block not in known), len(ids))
        hit_tokens += min(run * block_size, num_tokens - 1)
        queried_tokens += num_tokens
        known.update(ids)
    if not queried_tokens:
        raise BadInput("there are no arrivals; give a workload of at least one")
    return PrefixReuse(hit_tokens, queried_tokens)
