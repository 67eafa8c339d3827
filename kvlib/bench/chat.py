"""Lengths of chats as the paper's section 6.5 cuts them: the last 1,024 tokens of a conversation, answers up to 1,024.

From the lengths of 30,731 turns, counted with Llama 2's tokenizer (microsoft/sarathi-serve, Apache-2.0, file
sharegpt_8k_filtered_stats_llama2_tokenizer.csv): quantiles after the cut, in steps of 5 %. Prompt and answer are drawn
independently; in the list they hardly go together (correlation 0.05).
"""

from collections.abc import Iterator

from kvlib.chance import Chance

PROMPTS = [1, 29, 74, 180, 382, 580, 777, 973, *[1024] * 13]
ANSWERS = [2, 44, 84, 130, 181, 228, 271, 312, 346, 381, 415, 453, 493, 534, 581, 628, 683, 754, 834, 920, 1024]
PROMPT_STREAM, ANSWER_STREAM = 5, 6  # of chance


def chat(seed: int) -> Iterator[tuple[int, int]]:
    """Pairs (num_prompt_tokens, num_output_tokens) without end; the same for the same seed."""
    prompts, answers = Chance(seed, PROMPT_STREAM), Chance(seed, ANSWER_STREAM)
    while True:
        yield _at(PROMPTS, prompts.fraction()), _at(ANSWERS, answers.fraction())


def _at(quantiles: list[int], level: float) -> int:
    """The value at `level`, 0 to below 1, on the straight line between the two quantiles beside it."""
    place = level * (len(quantiles) - 1)
    below = int(place)
    return round(quantiles[below] + (place - below) * (quantiles[below + 1] - quantiles[below]))
