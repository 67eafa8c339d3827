"""The reservation policies of systems before paged attention: how many slots a sequence is given when it comes.

The three of the Orca baselines in Kwon et al., SOSP 2023, section 6.1. A slot holds one token's key and value.
"""

from kvlib.checks import whole
from kvlib.errors import BadInput, RequestTooLarge
from kvlib.memory.buddy import next_power_of_two


class Policy:
    """How many slots a sequence is given when it comes. `longest` is the most tokens the model can attend to."""

    name: str

    def __init__(self, longest: int) -> None:
        self.longest = whole("longest", longest)

    def reserve(self, num_prompt_tokens: int, num_output_tokens: int) -> int:
        """Slots for a prompt, 1 token or more, and the tokens that will be written to it, 1 or more.

        Raises RequestTooLarge if the two together are more than `longest`.
        """
        whole("num_prompt_tokens", num_prompt_tokens, 1, BadInput)
        whole("num_output_tokens", num_output_tokens, 1, BadInput)
        if num_prompt_tokens + num_output_tokens > self.longest:
            raise RequestTooLarge(
                f"{num_prompt_tokens} prompt and {num_output_tokens} output tokens are "
                f"{num_prompt_tokens + num_output_tokens}, the longest sequence has {self.longest}; shorten the request"
            )
        return self._reserve(num_prompt_tokens, num_output_tokens)

    def _reserve(self, num_prompt_tokens: int, num_output_tokens: int) -> int:
        raise NotImplementedError


class Max(Policy):
    """Reserves the longest sequence for every request, as one must who knows nothing of its output."""

    name = "Max"

    def _reserve(self, num_prompt_tokens: int, num_output_tokens: int) -> int:
        return self.longest


class Pow2(Policy):
    """Reserves the prompt and the next power of two of the output: 32 slots for 25 tokens; never above `longest`."""

    name = "Pow2"

    def _reserve(self, num_prompt_tokens: int, num_output_tokens: int) -> int:
        return min(self.longest, num_prompt_tokens + next_power_of_two(num_output_tokens))


class Oracle(Policy):
    """Reserves exactly what will be written. Nobody knows that in advance: a bound, not a system."""

    name = "Oracle"

    def _reserve(self, num_prompt_tokens: int, num_output_tokens: int) -> int:
        return num_prompt_tokens + num_output_tokens
