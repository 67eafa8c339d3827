"""How long one iteration takes: a law of few terms, from the figures of a device and of a model.

The form is the roofline's (Williams, Waterman and Patterson, CACM 2009): what must be read, over the bandwidth, or
what must be computed, over the arithmetic. What a server spends beside that is one constant an iteration and one a
sequence.
"""

from kvlib.errors import BadConfig

BANDWIDTH_REACHED = 0.8  # prior: what large kernels usually reach of a data sheet's bandwidth
FLOPS_REACHED = 0.6  # prior: what large matrix products usually reach of its arithmetic
ITERATION_S = 0.008  # fitted on all points of Kwon et al., figure 12a, on a coarse grid
SEQUENCE_S = 0.00025  # fitted on vLLM's 132.44 requests in figure 13b, and on figure 12a
PAGED_ATTENTION_SLOWDOWN = 1.23  # the middle of the paper's 20 to 26 %, section 7.1: a prior


class IterationCost:
    """Seconds of one iteration of a server whose batch mixes prompts and single tokens.

    seconds = iteration_s + sequence_s * sequences
            + the larger of (weight_bytes / bytes per second, 2 * parameters * new tokens / operations per second)
            + attention_slowdown * kv_bytes_per_token * tokens read / bytes per second

    `bandwidth` (bytes a second) and `flops` (operations a second) are a data sheet's; of these `bandwidth_reached` and
    `flops_reached` are counted, shares above 0 and at most 1. `weight_bytes` is read once an iteration, and every
    new token costs two operations a parameter. `attention_slowdown` is how many times longer than at full
    bandwidth the attention takes to read the cache; 1 for a contiguous cache, PAGED_ATTENTION_SLOWDOWN for blocks.

    The defaults are assumptions, named above with where they come from. Raises BadConfig, naming the setting, for one
    that is no number or out of range.
    """

    def __init__(
        self,
        *,
        bandwidth: float,
        flops: float,
        weight_bytes: float,
        num_parameters: float,
        kv_bytes_per_token: float,
        attention_slowdown: float = 1.0,
        iteration_s: float = ITERATION_S,
        sequence_s: float = SEQUENCE_S,
        bandwidth_reached: float = BANDWIDTH_REACHED,
        flops_reached: float = FLOPS_REACHED,
    ) -> None:
        bytes_per_s = _positive("bandwidth", bandwidth) * _share("bandwidth_reached", bandwidth_reached)
        operations_per_s = _positive("flops", flops) * _share("flops_reached", flops_reached)
        self.iteration_s = _number("iteration_s", iteration_s)
        self.sequence_s = _number("sequence_s", sequence_s)
        self.weights_s = _positive("weight_bytes", weight_bytes) / bytes_per_s
        self.new_token_s = 2 * _positive("num_parameters", num_parameters) / operations_per_s
        self.kv_token_s = (
            _positive("attention_slowdown", attention_slowdown)
            * _positive("kv_bytes_per_token", kv_bytes_per_token)
            / bytes_per_s
        )

    def seconds(self, num_seqs: int, num_new_tokens: int, num_kv_tokens: int) -> float:
        """One iteration of `num_seqs` sequences that computes `num_new_tokens` tokens, prompts' and single ones
        together, and reads the keys and values of `num_kv_tokens`, over all sequences."""
        computing_s = self.new_token_s * num_new_tokens
        return (
            self.iteration_s
            + self.sequence_s * num_seqs
            + (computing_s if computing_s > self.weights_s else self.weights_s)
            + self.kv_token_s * num_kv_tokens
        )


def _number(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
        raise BadConfig(f"{name} is {value!r}; give a number of at least 0 and finite")
    return value


def _positive(name: str, value: float) -> float:
    if _number(name, value) == 0:
        raise BadConfig(f"{name} is 0; give a number above 0")
    return value


def _share(name: str, value: float) -> float:
    if _positive(name, value) > 1:
        raise BadConfig(f"{name} is {value!r}; it is a share, above 0 and at most 1")
    return value
