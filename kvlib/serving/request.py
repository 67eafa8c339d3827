"""What the scheduler knows of a request: how many tokens, never which."""

from collections import namedtuple

from kvlib.checks import whole
from kvlib.errors import BadInput


class Sequence:
    """One text that is being written, of `num_tokens` known tokens, at most `most_tokens`.

    The keys and values of the first `num_computed` are in the cache. `keys` are those of its full blocks, a list
    that whoever knows the tokens extends (`PrefixKeys.keys`); without any, nothing of it is found by others.
    """

    __slots__ = ("keys", "most_tokens", "num_computed", "num_tokens", "seq_id")

    def __init__(self, seq_id: str, num_tokens: int, most_tokens: int, keys: list | tuple = ()) -> None:
        self.seq_id = seq_id
        self.num_tokens = num_tokens
        self.most_tokens = most_tokens
        self.num_computed = 0
        self.keys = keys

    def append(self) -> None:
        """One more token is known. Raises BadInput for one more than the request asked for: memory ends there."""
        if self.num_tokens == self.most_tokens:
            raise BadInput(f"{self} has all the tokens that its request asked for; finish the request")
        self.num_tokens += 1

    def __repr__(self) -> str:
        return f"Sequence({self.seq_id!r}, {self.num_computed} of {self.num_tokens} tokens computed)"


class Request:
    """`num_prompt_tokens` tokens to be continued by up to `max_tokens`, in up to `num_sequences` ways.

    It begins as one sequence, whose id is the request's; the scheduler's `fork` adds samples or beams. All of them
    run, yield and return together: they are a sequence group (Kwon et al., section 4.5). With `reads_cache` False
    the whole prompt is computed, as is needed when every logit of it is wanted; what it computes can still be found.
    """

    __slots__ = (
        "max_tokens",
        "num_preemptions",
        "num_prompt_tokens",
        "num_sequences",
        "number",
        "reads_cache",
        "request_id",
        "sequences",
    )

    def __init__(
        self,
        request_id: str,
        num_prompt_tokens: int,
        max_tokens: int,
        *,
        num_sequences: int = 1,
        keys: list | tuple = (),
        reads_cache: bool = True,
    ) -> None:
        self.request_id = request_id
        self.num_prompt_tokens = whole("num_prompt_tokens", num_prompt_tokens, 1, BadInput)
        self.max_tokens = whole("max_tokens", max_tokens, 1, BadInput)
        self.num_sequences = whole("num_sequences", num_sequences, 1, BadInput)
        self.reads_cache = reads_cache
        self.sequences = [Sequence(request_id, num_prompt_tokens, num_prompt_tokens + max_tokens, keys)]
        self.number = 0  # its place in the order of arrival
        self.num_preemptions = 0

    @property
    def seq_ids(self) -> list[str]:
        """The ids of its sequences."""
        return [sequence.seq_id for sequence in self.sequences]

    @property
    def growing(self) -> list[Sequence]:
        """Its sequences that do not have all their tokens yet."""
        return [sequence for sequence in self.sequences if sequence.num_tokens < sequence.most_tokens]

    def sequence(self, seq_id: str) -> Sequence:
        """Its sequence with this id. Raises BadInput if it has none."""
        for sequence in self.sequences:
            if sequence.seq_id == seq_id:
                return sequence
        raise BadInput(f"{self} has no sequence {seq_id!r}; its sequences are {self.seq_ids}")

    def __repr__(self) -> str:
        return f"Request({self.request_id!r}, {self.num_prompt_tokens} prompt tokens, {self.sequences})"


class Work(namedtuple("Work", "request sequence start stop")):
    """Positions `start` to `stop` - 1 of a sequence, to be computed in this iteration."""

    __slots__ = ()

    @property
    def gives_token(self) -> bool:
        """Whether the last position is the newest known one, so that its logits choose the next token."""
        return self.stop == self.sequence.num_tokens


class Step:
    """What one iteration does, in this order: the copies, then all computation in one forward pass.

    `swap_outs` are (block, host block) copies, `swap_ins` (host block, block), `copies` (source, target) blocks to
    copy on write. `prefills` and `decodes` are the Work, every position with a slot of its own: a decode computes the
    newest token of a sequence whose others are computed, everything else is prefill. `preempted` are the requests
    that lost their memory just now.
    """

    def __init__(self) -> None:
        self.swap_outs: list[tuple[int, int]] = []
        self.swap_ins: list[tuple[int, int]] = []
        self.copies: list[tuple[int, int]] = []
        self.prefills: list[Work] = []
        self.decodes: list[Work] = []
        self.preempted: list[Request] = []
