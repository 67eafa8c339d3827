"""One request on its way, as the engine's loop sees it: which sequences it has, and by which tokens they grow."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

from torch import Tensor

from kvlib.engine.decoders import NO_ADAPTER
from kvlib.engine.metrics import RequestMetrics
from kvlib.engine.prompt_logprobs import PromptLogprobs
from kvlib.engine.prompts import Prompt


class Branch(Protocol):
    """One text that goes on: its tokens after the prompt, and the sequence whose blocks hold their keys and values."""

    seq_id: str
    token_ids: list[int]


class Generation(ABC):
    """A request from its first token to its last: up to `num_sequences` texts of `max_tokens` tokens after the prompt.

    `branches` are those that go on. Branches that have all their tokens in common may name one sequence; the loop
    forks it before they grow apart, and tells each branch the id of its own.
    """

    branches: Sequence[Branch]
    reads_cache = True
    prompt_logprobs: PromptLogprobs | None = None
    adapter_id = NO_ADAPTER

    def __init__(self, prompt: Prompt, num_sequences: int, max_tokens: int) -> None:
        self.request_id = ""
        self.prompt = prompt
        self.num_sequences = num_sequences
        self.max_tokens = max_tokens
        self.has_news = False
        self.num_cached_tokens: int | None = None
        self.finish_reason: str | None = None
        self.metrics = RequestMetrics()

    @property
    def finished(self) -> bool:
        """Whether no more tokens will come."""
        return self.finish_reason is not None

    def start(self, request_id: str) -> None:
        """The request is queued; its one sequence so far has its id."""
        self.request_id = request_id
        for branch in self.branches:
            branch.seq_id = request_id
        self.metrics.arrived()

    def tokens(self, seq_id: str, start: int, stop: int) -> list[int]:
        """The tokens at positions `start` to `stop` - 1 of a sequence."""
        prompt = self.prompt.token_ids
        written = next(branch.token_ids for branch in self.branches if branch.seq_id == seq_id)
        if start >= len(prompt):
            return written[start - len(prompt) : stop - len(prompt)]
        return (prompt + written)[start:stop]

    @property
    def extra_keys(self) -> dict[str, str | int]:
        """What decides, beside the tokens, what a block of this request holds or who may find it."""
        extra: dict[str, str | int] = {}
        if self.adapter_id != NO_ADAPTER:
            extra["adapter"] = self.adapter_id
        if self.prompt.cache_salt is not None:
            extra["salt"] = self.prompt.cache_salt
        return extra

    @abstractmethod
    def advance(self, rows: dict[str, Tensor]) -> Sequence[Branch]:
        """Take in logits [vocab] for the next token of sequences, by their ids -> the branches that grew by a token.

        Each still names the sequence that it continues; one that has ended with that token is not among `branches` any
        more. A sequence that none of `branches` names has ended.
        """

    @abstractmethod
    def abort(self) -> None:
        """End here, because the request is dropped."""

    @abstractmethod
    def output(self) -> Any:
        """The request as it stands."""

    def _finish(self, reason: str) -> None:
        self.finish_reason = reason
        self.branches = []
        self.has_news = True
        self.metrics.finished()
