"""Log-probabilities of a prompt's own tokens, gathered as the prompt is computed, perhaps in pieces."""

from collections.abc import Callable

from torch import Tensor

from kvlib.engine.logprobs import Logprob, token_logprobs
from kvlib.models.tokenizer import Tokenizer

ROWS = 64  # whose logits are held at a time: of 49,152 float32 numbers each, 12 MB


class PromptLogprobs:
    """For each token of a prompt after the first, its log-probability and those of the `count` likeliest."""

    def __init__(self, token_ids: list[int], count: int, tokenizer: Tokenizer) -> None:
        self._token_ids = token_ids
        self._count = count
        self._tokenizer = tokenizer
        self._found: dict[int, dict[int, Logprob]] = {}  # by position

    def add(self, start: int, hidden: Tensor, logits: Callable[[Tensor], Tensor]) -> None:
        """Take in the hidden states [T, hidden] of the tokens at positions `start` and following."""
        rows = min(len(hidden), len(self._token_ids) - 1 - start)  # the last token's logits are about the answer
        for first in range(0, rows, ROWS):
            positions = range(start + first, start + min(first + ROWS, rows))
            for position, row in zip(positions, logits(hidden[first : first + ROWS][: len(positions)])):
                token = self._token_ids[position + 1]
                self._found[position + 1] = token_logprobs(row, token, self._count, self._tokenizer)

    def entries(self) -> list[dict[int, Logprob] | None]:
        """One entry for each token so far, with vLLM's None for the first, which nothing predicts."""
        return [None, *(self._found[position] for position in sorted(self._found))]
