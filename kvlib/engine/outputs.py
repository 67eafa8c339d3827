"""What comes back for a request, with vLLM's names."""

from dataclasses import dataclass
from typing import Literal

FinishReason = Literal["stop", "length", "abort"]


@dataclass(frozen=True)
class CompletionOutput:
    """One answer, so far or whole.

    `token_ids` include the token that ended the answer; `text` has neither its text nor that of control tokens.
    `finish_reason` is None while more is to come, "stop" after an end token or a stop text, "length" when max_tokens,
    the model's context or the memory is used up, "abort" when the request was dropped. `stop_reason` is the text or
    token id among the request's own `stop` and `stop_token_ids` that ended it; None for the model's own end token,
    also where `stop_token_ids` name it, as in vLLM. Of vLLM's fields, those about log probabilities are not here.
    """

    index: int
    text: str
    token_ids: list[int]
    finish_reason: FinishReason | None
    stop_reason: str | int | None


@dataclass(frozen=True)
class RequestOutput:
    """A request and its answer: `outputs` has one entry.

    `prompt` is None where only token ids were given. Of vLLM's fields, those about log probabilities, metrics and
    other kinds of model are not here.
    """

    request_id: str
    prompt: str | None
    prompt_token_ids: list[int]
    outputs: list[CompletionOutput]
    finished: bool
