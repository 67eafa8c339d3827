"""How likely the model found a token, and which it found likelier."""

from typing import NamedTuple

from torch import Tensor

from kvlib.models.tokenizer import Tokenizer


class Logprob(NamedTuple):
    """One token at one position, with vLLM's names.

    `logprob` is the natural logarithm of its probability, `rank` its place in the vocabulary, 1 for the likeliest.
    `decoded_token` is its text: a control token is spelled out, a part of a character reads U+FFFD.
    """

    logprob: float
    rank: int
    decoded_token: str


def token_logprobs(logits: Tensor, chosen_id: int, count: int, tokenizer: Tokenizer) -> dict[int, Logprob]:
    """The `chosen_id` first, then the `count` likeliest tokens, -1 for all, from the model's `logits` [vocab].

    The logits are the model's own, before penalties and temperature, as in vLLM's default mode raw_logprobs. The
    chosen token is in the result also where it is not among the likeliest; tokens as likely as it then rank before it.
    """
    logprobs = logits.float().log_softmax(dim=-1)  # [vocab]
    chosen = logprobs[chosen_id]  # []
    ranked = {chosen_id: (float(chosen), int((logprobs >= chosen).sum()))}
    values, ids = logprobs.topk(len(logprobs) if count < 0 else count)  # [count] each
    ranked |= {token: (value, rank) for rank, (token, value) in enumerate(zip(ids.tolist(), values.tolist()), start=1)}
    return {
        token: Logprob(value, rank, tokenizer.decode([token], skip_special_tokens=False))
        for token, (value, rank) in ranked.items()
    }
