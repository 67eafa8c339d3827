"""How much of what was asked of the prefix cache it held."""

from collections import deque

from kvlib.errors import BadInput

RECENT = 1000  # requests


class HitCounter:
    """Tokens queried and tokens hit, over all admissions and, in `rate`, over the last thousand.

    Requests that return after a preemption find their own blocks, so they are counted apart: in one sum with the
    others they would make the cache look better than it is (vllm#25780).
    """

    def __init__(self) -> None:
        self.num_queried = self.num_hit = 0
        self.num_queried_resumed = self.num_hit_resumed = 0
        self._recent: deque[tuple[int, int]] = deque((), RECENT)  # noqa: RUF037 - a browser's small Python has no other form

    def add(self, num_queried: int, num_hit: int, *, resumed: bool = False) -> None:
        """Count one admission: `num_queried` tokens, of which the first `num_hit` were cached."""
        if not 0 <= num_hit <= num_queried:
            raise BadInput(f"{num_hit} of {num_queried} tokens hit; give a count from 0 to the tokens queried")
        if resumed:
            self.num_queried_resumed += num_queried
            self.num_hit_resumed += num_hit
        else:
            self.num_queried += num_queried
            self.num_hit += num_hit
            self._recent.append((num_queried, num_hit))

    @property
    def rate(self) -> float:
        """Hit over queried tokens of the last thousand first admissions, from 0 to 1; 0 before there is one."""
        queried = sum(queried for queried, _ in self._recent)
        return sum(hit for _, hit in self._recent) / queried if queried else 0.0
