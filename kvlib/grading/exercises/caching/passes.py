"""Passes over pieces of a text: a forward pass that uses a cache, and the loop of prefill and decode."""

from collections.abc import Iterator
from typing import Any

import torch

from kvlib.chance import Chance, mix
from kvlib.grading.exercise import Score, Seen, Wrong, check_callable
from kvlib.grading.exercises.caching.tiny import tiny_llama
from kvlib.grading.exercises.caching.whole_pass import WholePass


def forward(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """`forward_cached(llama, token_ids, attention, cache)`: five passes over pieces of a text."""
    check_callable(answer, "llama", "token_ids", "attention", "cache")
    llama = tiny_llama(chance)
    passes = [4 + chance.below(5), 1, 1, 2 + chance.below(2), 1]
    text = torch.tensor([chance.below(llama.config.vocab_size) for _ in range(sum(passes))])
    whole = WholePass(llama, text)
    tokens: list[int] = []
    start = 0
    for count in passes:
        whole.begin(count)
        new = text[start : start + count]
        logits = answer(llama=llama, token_ids=new, attention=whole.attention, cache=whole)
        start += count
        tokens.append(whole.end(logits))
    yield Seen("each pass foretells what one pass over the whole text foretells", tokens)
    yield Seen("a token goes through the model once", whole.counts)


def generate(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """`generate(step, prompt, num_tokens)`: the loop, over a step that follows from what was taken in."""
    check_callable(answer, "step", "prompt", "num_tokens")
    for num_tokens in (5 + chance.below(12), 1):
        prompt = [chance.below(40_000) for _ in range(3 + chance.below(7))]
        seed = chance.below(1 << 16)
        step = _Step(seed, len(prompt) + num_tokens)
        given = answer(step=step, prompt=list(prompt), num_tokens=num_tokens)
        tokens = _tokens(given, prompt, num_tokens)
        right = _foretold(prompt, num_tokens, seed)
        known, needed = step.known, [*prompt, *right[:-1]]
        if known[: len(needed)] != needed:
            place = next((at for at, pair in enumerate(zip(known, needed)) if pair[0] != pair[1]), len(known))
            raise Wrong(
                f"The cache took in {known}, and the text is {needed}: they part at token {place}. Each token of the "
                "text goes in once, in its order: the prompt, then what each step returned."
            )
        fault = "" if tokens == right else f"It returns {tokens}; the steps foretold {right}."
        yield Seen("each token is the one that the step before foretold", tokens, fault)
        yield Score("tokens computed", len(known), len(needed))
        yield Score("passes", step.passes, num_tokens)


def _tokens(given: Any, prompt: list[int], num_tokens: int) -> list[int]:
    try:
        tokens = [int(token) for token in given]
    except (TypeError, ValueError):
        raise Wrong(f"It returns {type(given).__name__}; expected a list of {num_tokens} token ids.") from None
    if len(tokens) == len(prompt) + num_tokens and tokens[: len(prompt)] == prompt:
        raise Wrong("It returns the prompt as well; return the new tokens alone.")
    if len(tokens) != num_tokens:
        raise Wrong(f"Asked for {num_tokens} tokens, it returns {len(tokens)}; the prefill foretells the first one.")
    return tokens


class _Step:
    """A model of arithmetic: the next token follows from all that was taken in, through `mix`."""

    def __init__(self, seed: int, most: int) -> None:
        self.known: list[int] = []
        self.passes = 0
        self._seed, self._most = seed, most

    def __call__(self, token_ids: Any) -> int:
        try:
            new = [int(token) for token in token_ids]
        except TypeError:
            raise Wrong(
                f"step was called with {token_ids!r}; for one token it takes [{token_ids!r}], a list."
            ) from None
        if not new:
            raise Wrong("step was called with no token; a pass takes in one at least.")
        if self.known and new[: len(self.known)] == self.known:
            raise Wrong(
                f"Pass {self.passes + 1} takes in {len(new)} tokens, of which the cache holds {len(self.known)} "
                "already; they would stand in it twice. After the prompt, a step takes in what is new alone."
            )
        if self.passes == self._most:
            raise Wrong(f"step is called more than {self._most} times, which is once for each token; when does it end?")
        self.known += new
        self.passes += 1
        return _next(self.known, self._seed)


def _foretold(prompt: list[int], num_tokens: int, seed: int) -> list[int]:
    text = list(prompt)
    for _ in range(num_tokens):
        text.append(_next(text, seed))
    return text[len(prompt) :]


def _next(text: list[int], seed: int) -> int:
    state = seed
    for token in text:
        state = mix(state, token, 0) & 0xFFFF_FFFF
    return state % 40_000
