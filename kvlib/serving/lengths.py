"""How long prompts and outputs are: laws that draw pairs (num_prompt_tokens, num_output_tokens) without end.

Figure 11 of Kwon et al. 2023 gives the means of their two data sets; the lists behind it were not published. `sharegpt`
is a law that has those means; `alpaca` and `sharegpt_first_turns` follow real lists, of which data/lengths.json
keeps quantiles and the source. All take a seed, an int of at least 0, and give the same pairs for the same seed.
"""

import json
import math

from kvlib.chance import Chance
from kvlib.checks import whole
from kvlib.errors import BadInput

TYPE_CHECKING = False  # a browser's small Python has no collections.abc, and evaluates no annotation
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Pair = tuple[int, int]

LONGEST = 2048  # tokens, prompt and output together: the context of OPT-13B, which the paper serves
SHORTEST_LIMIT = 64  # below it nearly every draw would be thrown away

INPUTS, OUTPUTS, ROWS = 2, 3, 4  # streams of chance

OUTPUT_CV = 0.877
INPUT_SIGMA = math.sqrt(2 * math.log(161.31 / 60))
# What the law's two means must be for those of the pairs that fit in 2,048 to be the paper's 161.31 and 337.99.
INPUT_MEDIAN = 75.248
OUTPUT_MEAN = 342.952


def sharegpt(seed: int, longest: int = LONGEST) -> "Iterator[Pair]":
    """ShareGPT as the paper's means and one of its bars describe it: outputs gamma, inputs lognormal, independent.

    Drawn again until a pair has at most `longest` tokens. With 2,048 the means are then 161.31 and 337.99; another
    limit moves them. Two shapes were chosen: the outputs' coefficient of variation, 0.877, from the share of memory
    that figure 2 gives for reserved slots under Orca (Max); the inputs' mean over their median, 161.31 / 60, from
    the list of `sharegpt_first_turns`. They are those of the law before the limit cuts it; after, the outputs' is 0.858
    and the inputs' median 73. BadConfig for a seed that is no int, or a limit below 64.
    """
    inputs, outputs = Chance(seed, INPUTS), Chance(seed, OUTPUTS)
    shape = 1 / OUTPUT_CV**2

    def draw() -> "Pair":
        return (
            max(1, round(inputs.lognormal(INPUT_MEDIAN, INPUT_SIGMA))),
            max(1, round(outputs.gamma(shape, OUTPUT_MEAN / shape))),
        )

    return _fitting(draw, longest)


def alpaca(seed: int, longest: int = LONGEST) -> "Iterator[Pair]":
    """2,000 Alpaca examples by their quantiles, with the token that opens a sequence (BOS) added to the prompt.

    Means 18.6 and 58.6; the paper's, over all of Alpaca, are 19.31 and 58.45. Errors as in `sharegpt`.
    """
    row = _quantile_law("alpaca", seed)

    def draw() -> "Pair":
        num_input, num_output = row()
        return num_input + 1, num_output

    return _fitting(draw, longest)


def sharegpt_first_turns(seed: int, longest: int = LONGEST) -> "Iterator[Pair]":
    """5,498 first turns of ShareGPT conversations by their quantiles: nothing fitted to the paper.

    Means 163.8 and 467; the outputs are longer than the paper's 337.99, which come from another copy of the data,
    another tokenizer and another cut. Errors as in `sharegpt`.
    """
    return _fitting(_quantile_law("sharegpt", seed), longest)


def from_pairs(pairs: "Iterable[Pair]", seed: int) -> "Iterator[Pair]":
    """Your own list, drawn from with replacement, every pair equally likely.

    `pairs` are (num_prompt_tokens, num_output_tokens), read whole at the call: BadInput if there are none or one is not
    two counts of at least 1, BadConfig for a seed that is no int.
    """
    chance = Chance(seed, ROWS)
    known = [checked_pair(number, pair) for number, pair in enumerate(pairs, 1)]
    if not known:
        raise BadInput("there are no pairs to draw from; give at least one (num_prompt_tokens, num_output_tokens)")
    return _endless(lambda: known[chance.below(len(known))])


def checked_pair(number: int, pair: "Pair") -> "Pair":
    """`pair` if it is two ints of at least 1; else BadInput, naming it as the pair `number`."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise BadInput(f"pair {number} of the lengths is {pair!r}; expected (num_prompt_tokens, num_output_tokens)")
    num_prompt_tokens, num_output_tokens = pair
    return (
        whole(f"num_prompt_tokens of pair {number}", num_prompt_tokens, 1, BadInput),
        whole(f"num_output_tokens of pair {number}", num_output_tokens, 1, BadInput),
    )


def _endless(draw: "Callable[[], Pair]") -> "Iterator[Pair]":
    while True:
        yield draw()


def _fitting(draw: "Callable[[], Pair]", longest: int) -> "Iterator[Pair]":
    whole("longest", longest, SHORTEST_LIMIT)
    return (pair for pair in _endless(draw) if sum(pair) <= longest)


def _quantile_law(name: str, seed: int) -> "Callable[[], Pair]":
    """Draws of the list `name` of data/lengths.json. One draw decides the output and the band it lies in, a second
    one the input among those of that band, so that long outputs keep the inputs that came with them."""
    from importlib import resources  # a browser's small Python lacks it, and can still import this module

    table = json.loads(resources.files("kvlib.data").joinpath("lengths.json").read_text(encoding="utf-8"))[name]
    outputs, bands = table["outputs"], table["inputs_by_output"]
    chance = Chance(seed, ROWS)

    def draw() -> "Pair":
        level = chance.fraction()
        band = bands[int(level * len(bands))]
        return _at(band, chance.fraction()), _at(outputs, level)

    return draw


def _at(quantiles: list[int], level: float) -> int:
    """The value at `level`, 0 to 1. Quantile k of n stands at sin^2(pi k / 2n), closer together at both ends, where a
    few long ones decide the means; between two the line is straight."""
    place = (len(quantiles) - 1) * math.asin(math.sqrt(level)) / (math.pi / 2)
    k = min(int(place), len(quantiles) - 2)
    return round(quantiles[k] + (place - k) * (quantiles[k + 1] - quantiles[k]))
