"""What comes back for a request, with vLLM's names."""

from dataclasses import dataclass
from typing import Literal

from kvlib.engine.logprobs import Logprob
from kvlib.engine.metrics import RequestMetrics

FinishReason = Literal["stop", "length", "abort"]


@dataclass(frozen=True)
class CompletionOutput:
    """One answer, so far or whole; `index` counts the answers to one prompt from 0.

    `token_ids` include the token that ended the answer; `text` has neither its text nor that of control tokens, and a
    stop text only with include_stop_str_in_output. `finish_reason` is None while more is to come, "stop" after an end
    token or a stop text, "length" when max_tokens, the model's context or the memory is used up, "abort" when the
    request was dropped. `stop_reason` is the text or token id among the request's own `stop` and `stop_token_ids`
    that ended it; None for the model's own end token, also where `stop_token_ids` name it, as in vLLM.

    Both are None where `logprobs` was not asked for: `logprobs` has, for each of `token_ids`, what
    `kvlib.engine.logprobs.token_logprobs` gives, and `cumulative_logprob` is the sum of the chosen tokens' own.
    """

    index: int
    text: str
    token_ids: list[int]
    finish_reason: FinishReason | None
    stop_reason: str | int | None
    cumulative_logprob: float | None = None
    logprobs: list[dict[int, Logprob]] | None = None


@dataclass(frozen=True)
class RequestOutput:
    """A request and its `n` answers.

    `prompt` is None where only token ids were given. `prompt_logprobs`, None where not asked for, has what
    `kvlib.engine.logprobs.token_logprobs` gives for each of `prompt_token_ids`, and None for the first, which nothing
    precedes. `num_cached_tokens` of the prompt were found in the prefix cache; None where that is not known yet.
    `metrics` says when what happened.
    """

    request_id: str
    prompt: str | None
    prompt_token_ids: list[int]
    outputs: list[CompletionOutput]
    finished: bool
    prompt_logprobs: list[dict[int, Logprob] | None] | None = None
    num_cached_tokens: int | None = None
    metrics: RequestMetrics | None = None


@dataclass(frozen=True)
class BeamSearchSequence:
    """One answer of a beam search.

    `tokens` are the prompt's and the answer's, as in vLLM; `text` is the answer's alone. `cum_logprob` is the sum of
    the log-probabilities of its tokens, `score` what answers are ordered by: that sum divided by the number of the
    answer's tokens, its end token included, to the length penalty.
    Of vLLM's fields, `logprobs` is not here.
    """

    tokens: list[int]
    text: str
    cum_logprob: float
    score: float
    finish_reason: FinishReason


@dataclass(frozen=True)
class BeamSearchOutput:
    """The answers of one beam search, the best first."""

    sequences: list[BeamSearchSequence]
