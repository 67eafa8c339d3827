"""What share of the blocks copy-on-write saves: parallel sampling exactly, beam search on a synthetic model.

The saving is the paper's: blocks saved by sharing / blocks without sharing (Kwon et al., SOSP 2023, section 6.3 and
figure 15), summed over every step of every request. Steps are counted after their writes, and from the first one in
which samples or beams write tokens of their own: the prompt's step has given each its first token, step t stores
that as token I + t of the sequence, and the last of O tokens is never stored. So a request counts in O - 1 steps.
"""

from kvlib.chance import Chance
from kvlib.checks import whole
from kvlib.errors import BadConfig, BadInput
from kvlib.serving.lengths import checked_pair

TYPE_CHECKING = False  # a browser's small Python has no collections.abc, and evaluates no annotation
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Lengths = Iterable[tuple[int, int]]


def parallel_saving(lengths: "Lengths", num_samples: int, *, block_size: int = 16) -> float:
    """The share, 0 to below 1, that `num_samples` answers to each prompt save by sharing it.

    `lengths` are finitely many (num_prompt_tokens, num_output_tokens). Raises BadConfig for a bad `num_samples` or
    `block_size`, BadInput for lengths that are empty, not positive, or let no request write a second token.
    """
    return _ratio(
        parallel_block_steps(num_prompt_tokens, num_output_tokens, num_samples, block_size)
        for num_prompt_tokens, num_output_tokens in _checked(lengths)
    )


def parallel_block_steps(
    num_prompt_tokens: int, num_output_tokens: int, num_samples: int, block_size: int = 16
) -> tuple[int, int]:
    """(blocks saved by sharing, blocks without sharing), each summed over the steps of one request.

    Only the prompt's full blocks stay shared: each sample writes into a copy of a partly filled one, and the last
    to write, whose copy nobody else names any more, into the block itself.
    """
    _check_request(num_prompt_tokens, num_output_tokens, block_size)
    whole("num_samples", num_samples)
    num_full = num_prompt_tokens // block_size
    last = num_prompt_tokens + num_output_tokens - 1
    without = _blocks_up_to(last, block_size) - _blocks_up_to(num_prompt_tokens, block_size)
    return (num_samples - 1) * num_full * (num_output_tokens - 1), num_samples * without


def beam_saving(lengths: "Lengths", beam_width: int, seed: int, *, theta: float = 0.4, block_size: int = 16) -> float:
    """The share, 0 to below 1, that `beam_width` beams save by sharing their prompt and their ancestors.

    Every request is searched to its full length with next-token laws of its own; `seed` decides them all, `theta`
    how flat they are (see `genealogy`). 0.4 was fitted to figure 15, so this is a model and no measurement.
    Raises BadConfig for a bad setting and BadInput for bad lengths, as `parallel_saving` does.
    """
    return _ratio(
        beam_block_steps(
            num_prompt_tokens, num_output_tokens, genealogy(beam_width, theta, Chance(seed, stream)), block_size
        )
        for stream, (num_prompt_tokens, num_output_tokens) in enumerate(_checked(lengths))
    )


def genealogy(beam_width: int, theta: float, chance: Chance) -> "Iterator[list[int]]":
    """An endless beam search; yields for each step the parent, 0 to beam_width - 1, of each beam that is kept.

    Before the first step there is one beam, the prompt. Each beam proposes 2 x beam_width next tokens, at least 8,
    whose probabilities break a stick: each takes a Beta(1, theta) share of what the ones before have left, so the
    first takes 1 / (1 + theta) on average (the GEM law of Griffiths, Engen and McCloskey). Kept are the beams that
    are the most probable from their start. Raises BadConfig for a bad width or theta at the first step.
    """
    whole("beam_width", beam_width)
    if type(theta) not in (int, float) or not 0 < theta <= 100:
        raise BadConfig(f"theta is {theta!r}; give a number above 0, where one token takes all, up to 100, nearly flat")
    num_proposals = max(2 * beam_width, 8)
    weights = [1.0]
    while True:
        best: list[tuple[float, int]] = []
        for parent, rest in enumerate(weights):
            for _ in range(num_proposals):
                if len(best) == beam_width and rest <= best[-1][0]:
                    break  # what is left of this stick is too short to be kept
                left = rest * (1.0 - chance.fraction()) ** (1.0 / theta)
                best.append((rest - left, parent))
                best.sort(reverse=True)
                del best[beam_width:]
                rest = left
        weights = [weight / best[0][0] for weight, _ in best]  # only ratios matter, and these do not run into 0
        yield [parent for _, parent in best]


def beam_block_steps(
    num_prompt_tokens: int, num_output_tokens: int, parents_of_steps: "Iterable[list[int]]", block_size: int = 16
) -> tuple[int, int]:
    """(blocks saved by sharing, blocks without sharing), each summed over the steps of one request.

    `parents_of_steps` says for each step which beam of the step before each beam continues. All beams are equally
    long and write into a last block of their own; of an earlier block there are as many copies as ancestors that
    filled it and have a descendant left.
    """
    _check_request(num_prompt_tokens, num_output_tokens, block_size)
    shared = num_prompt_tokens // block_size
    forked: list[list[int]] = []  # for each later full block, the copy that each beam names
    saved = without = 0
    for step, parents in zip(range(1, num_output_tokens), parents_of_steps):
        num_stored = num_prompt_tokens + step
        inherited = [[copies[parent] for parent in parents] for copies in forked]
        forked = [copies for copies in inherited if len(set(copies)) > 1]
        shared += len(inherited) - len(forked)
        used = shared + sum(len(set(copies)) for copies in forked) + len(parents)
        unshared = len(parents) * -(-num_stored // block_size)
        saved += unshared - used
        without += unshared
        if num_stored % block_size == 0:
            forked.append(list(range(len(parents))))
    return saved, without


def _blocks_up_to(num_tokens: int, block_size: int) -> int:
    """The blocks of sequences of 1, 2, ... `num_tokens` tokens, together."""
    full, rest = divmod(num_tokens, block_size)
    return block_size * full * (full + 1) // 2 + rest * (full + 1)


def _checked(lengths: "Lengths") -> "Iterator[tuple[int, int]]":
    return (checked_pair(number, pair) for number, pair in enumerate(lengths, 1))


def _ratio(block_steps: "Iterable[tuple[int, int]]") -> float:
    saved = without = 0
    for more_saved, more_without in block_steps:
        saved += more_saved
        without += more_without
    if not without:
        raise BadInput(
            "lengths is empty or has no output of 2 tokens or more, so there is no step to count; give longer ones"
        )
    return saved / without


def _check_request(num_prompt_tokens: int, num_output_tokens: int, block_size: int) -> None:
    whole("num_prompt_tokens", num_prompt_tokens, 1, BadInput)
    whole("num_output_tokens", num_output_tokens, 1, BadInput)
    whole("block_size", block_size)
