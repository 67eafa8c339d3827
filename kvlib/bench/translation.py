"""Lengths for the translations of figure 16, which the paper does not give: a guess."""

from collections.abc import Iterator

from kvlib.chance import Chance
from kvlib.serving.lengths import OUTPUT_CV

MEAN_PROMPT, MEAN_OUTPUT = 35, 42  # tokens of an English sentence, and of the same in German
PROMPT_STREAM, OUTPUT_STREAM = 7, 8  # of chance


def translation(seed: int) -> Iterator[tuple[int, int]]:
    """Pairs (num_prompt_tokens, num_output_tokens) without end, the prompts without their common prefix: gammas as
    wide, for their mean, as the outputs of `sharegpt`. The same for the same seed."""
    prompts, outputs = Chance(seed, PROMPT_STREAM), Chance(seed, OUTPUT_STREAM)
    shape = 1 / OUTPUT_CV**2
    while True:
        yield (
            max(1, round(prompts.gamma(shape, MEAN_PROMPT / shape))),
            max(1, round(outputs.gamma(shape, MEAN_OUTPUT / shape))),
        )
