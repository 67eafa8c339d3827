"""What a request asks for: the public names and meanings are those of vLLM's SamplingParams."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kvlib.engine.readers import CheckedParams, Reader, or_none, real, several, text, truth, whole
from kvlib.errors import BadInput

MOST = 2**31  # of tokens or answers, exclusive
GREEDY_BELOW = 1e-5  # as in vLLM: logits divided by less than this overflow


@dataclass(frozen=True, kw_only=True)
class SamplingParams(CheckedParams):
    """How one request is sampled and when it ends. Raises BadInput for a value out of range or an unknown name.

    These are all the names of vLLM's that there are; others, such as logit_bias or bad_words, are refused whatever
    their value.

    ==========================  ======================================================================================
    n                           1 or more: so many answers to the prompt; more than 1 need a temperature above 0
    presence_penalty            -2 to 2: subtracted from the logit of every token that the answer has already
    frequency_penalty           -2 to 2: subtracted from the logit of a token as often as the answer has it
    repetition_penalty          above 0 (1e-6 to 1e6): divides the logits above 0 of tokens in prompt and answer, and
                                multiplies those below
    temperature                 0 or more: 0 takes the likeliest token, 1 samples from the model's own distribution
    top_p                       above 0, at most 1: only the likeliest tokens that together reach this probability
    top_k                       1 or more: only so many of the likeliest tokens; 0 or -1: all
    min_p                       0 to 1: only tokens with at least this share of the likeliest token's probability
    max_tokens                  at most so many generated tokens, 1 or more; None: what context and memory hold
    min_tokens                  0 to max_tokens: so many tokens come before the model's end tokens or stop_token_ids may
    seed                        one seed, one sequence of draws, whatever else is in the batch; None: torch's own.
                                Answer i of several draws with seed + i
    stop                        a text, or several, that end the answer; it is cut before the first of them
    include_stop_str_in_output  whether the answer keeps the stop text that ended it
    stop_token_ids              token ids that end the answer, besides the model's own end tokens
    ignore_eos                  whether to go on after the model's own end tokens
    logprobs                    0 or more: log-probabilities of so many likeliest tokens, and of the chosen one, for
                                each token of the answer; -1: of the whole vocabulary; None: of none
    prompt_logprobs             the same for each token of the prompt but the first
    ==========================  ======================================================================================
    """

    n: int = 1
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    repetition_penalty: float = 1.0
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    max_tokens: int | None = 16
    min_tokens: int = 0
    seed: int | None = None
    stop: Sequence[str] = ()
    include_stop_str_in_output: bool = False
    stop_token_ids: Sequence[int] = ()
    ignore_eos: bool = False
    logprobs: int | None = None
    prompt_logprobs: int | None = None

    allowed: ClassVar[dict[str, tuple[Reader, str]]] = {
        "n": (whole(1, MOST), "a whole number, 1 or more"),
        "presence_penalty": (real(lambda x: -2 <= x <= 2), "from -2 to 2; 0 for no penalty"),
        "frequency_penalty": (real(lambda x: -2 <= x <= 2), "from -2 to 2; 0 for no penalty"),
        "repetition_penalty": (
            real(lambda x: 1e-6 <= x <= 1e6),
            "a number above 0, from 1e-6 to 1e6; 1 for no penalty",
        ),
        "temperature": (real(lambda x: x >= 0), "a number, 0 or more; 0 always takes the likeliest token"),
        "top_p": (real(lambda x: 0 < x <= 1), "above 0 and at most 1; 1 keeps all tokens"),
        "top_k": (whole(-1), "a whole number, 1 or more; 0 or -1 keeps all tokens"),
        "min_p": (real(lambda x: 0 <= x <= 1), "from 0 to 1; 0 keeps all tokens"),
        "max_tokens": (or_none(whole(1, MOST)), "a whole number, 1 or more, or None for no limit"),
        "min_tokens": (whole(0, MOST), "a whole number, 0 or more"),
        "seed": (or_none(whole(0, 2**64)), "a whole number, 0 to 2**64 - 1, or None"),
        "stop": (
            lambda given: (text(given),) if isinstance(given, str) else several(text)(given),
            "a text or a list of texts, none of them empty",
        ),
        "include_stop_str_in_output": (truth, "True or False"),
        "stop_token_ids": (several(whole(0)), "a list of token ids"),
        "ignore_eos": (truth, "True or False"),
        "logprobs": (or_none(whole(-1, MOST)), "a whole number, 0 or more, -1 for the whole vocabulary, or None"),
        "prompt_logprobs": (
            or_none(whole(-1, MOST)),
            "a whole number, 0 or more, -1 for the whole vocabulary, or None",
        ),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_tokens is not None and self.min_tokens > self.max_tokens:
            raise BadInput(
                f"min_tokens is {self.min_tokens}; it must be at most max_tokens, which is {self.max_tokens}"
            )
        if self.greedy and self.n > 1:
            raise BadInput(
                f"n is {self.n} and temperature {self.temperature}; without chance all answers are the same: give n=1 "
                "or a temperature above 0"
            )

    @property
    def greedy(self) -> bool:
        """Whether the likeliest token is taken each time."""
        return self.temperature < GREEDY_BELOW

    @property
    def penalised(self) -> bool:
        """Whether what was said before counts against a token, or for it."""
        return (self.presence_penalty, self.frequency_penalty, self.repetition_penalty) != (0, 0, 1)

    def check_vocabulary(self, vocab_size: int, end_ids: Iterable[int] = ()) -> None:
        """Raise BadInput for what `vocab_size` tokens, of which the model itself ends at `end_ids`, do not allow."""
        outside = [token for token in self.stop_token_ids if token >= vocab_size]
        if outside:
            raise BadInput(f"stop_token_ids has {outside[0]}; the vocabulary's ids run from 0 to {vocab_size - 1}")
        if self.min_tokens > 0 and len({*self.stop_token_ids, *end_ids}) == vocab_size:
            raise BadInput(
                f"min_tokens is {self.min_tokens} and all {vocab_size} tokens end the answer; give min_tokens=0"
            )
        for name in ("logprobs", "prompt_logprobs"):
            count = getattr(self, name)
            if count is not None and count > vocab_size:
                raise BadInput(f"{name} is {count}; the vocabulary has {vocab_size} tokens: give -1 for all of them")
