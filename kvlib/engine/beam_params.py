"""What a beam search asks for: the public names are those of vLLM's BeamSearchParams."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from kvlib.engine.params import GREEDY_BELOW, MOST
from kvlib.engine.readers import CheckedParams, Reader, real, truth, whole
from kvlib.errors import BadInput


@dataclass(frozen=True, kw_only=True)
class BeamSearchParams(CheckedParams):
    """How one request is searched for its likeliest answers. Raises BadInput as SamplingParams does.

    ==============  ==================================================================================================
    beam_width      1 or more: so many texts are kept at each step, and so many answers come back
    max_tokens      at most so many generated tokens, 1 or more
    ignore_eos      whether to go on after the model's own end tokens
    temperature     above 0: the logits are divided by it; 0 leaves them as they are
    length_penalty  -10 to 10: an answer's score is its log-probability divided by its length to this power, so that
                    above 0 favours long answers and below 0 short ones
    early_stopping  when to stop once beam_width answers have ended: True, at once; False, when the likeliest running
                    text would score worse if it ended now; "never", when it can no longer score better. The name and
                    its meanings are those of transformers
    ==============  ==================================================================================================
    """

    beam_width: int
    max_tokens: int
    ignore_eos: bool = False
    temperature: float = 0.0
    length_penalty: float = 1.0
    early_stopping: bool | Literal["never"] = False

    allowed: ClassVar[dict[str, tuple[Reader, str]]] = {
        "beam_width": (whole(1, MOST), "a whole number, 1 or more"),
        "max_tokens": (whole(1, MOST), "a whole number, 1 or more"),
        "ignore_eos": (truth, "True or False"),
        "temperature": (real(lambda x: x >= 0), "a number, 0 or more; 0 leaves the logits as they are"),
        "length_penalty": (real(lambda x: -10 <= x <= 10), "a number from -10 to 10; 0 for none"),
        "early_stopping": (lambda given: given if given == "never" else truth(given), "True, False or 'never'"),
    }

    @property
    def unscaled(self) -> bool:
        """Whether the logits are taken as they are."""
        return self.temperature < GREEDY_BELOW

    def check_vocabulary(self, vocab_size: int) -> None:
        """Raise BadInput for more beams than the first step, which has one row of logits, can give."""
        if self.beam_width > vocab_size:
            raise BadInput(
                f"beam_width is {self.beam_width}; the first step can give no more beams than the vocabulary has "
                f"tokens: at most {vocab_size}"
            )
