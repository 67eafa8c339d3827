"""What a scheduler sees of a request. One that looks at requests for ever is stopped."""

from kvlib.errors import EndlessLoop

MOST_LOOKS = 200_000  # in an iteration; the lab's own need no more than 30,000


class Looks:
    """How often a scheduler has looked at numbers of tokens since `count` was set to 0."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


class Request:
    """Its `number`, from 1 in the order of arrival, and its `num_tokens`, the prompt's and those written so far.
    Whoever runs has stored, when the iteration ends, all tokens that it had when `schedule` was called.

    Reading `num_tokens` raises EndlessLoop after MOST_LOOKS of all requests with these `looks`.
    """

    __slots__ = ("_looks", "_num_tokens", "number")

    def __init__(self, number: int, num_tokens: int, looks: Looks) -> None:
        self.number = number
        self._num_tokens = num_tokens
        self._looks = looks

    @property
    def num_tokens(self) -> int:
        self._looks.count += 1
        if self._looks.count > MOST_LOOKS:
            raise EndlessLoop(f"it looked at num_tokens {MOST_LOOKS:,} times in one iteration")
        return self._num_tokens

    def write(self) -> None:
        """One more token."""
        self._num_tokens += 1

    def __repr__(self) -> str:
        return f"Request({self.number}, {self._num_tokens} tokens)"
