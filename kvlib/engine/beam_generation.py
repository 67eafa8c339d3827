"""A request answered by beam search: in every step its sequences are forked and dropped."""

from dataclasses import dataclass, field

from torch import Tensor

from kvlib.engine.beam_params import BeamSearchParams
from kvlib.engine.beams import BeamSearch
from kvlib.engine.generation import Generation
from kvlib.engine.outputs import BeamSearchOutput, BeamSearchSequence
from kvlib.engine.prompts import Prompt
from kvlib.models.tokenizer import Tokenizer


@dataclass
class Beam:
    """One text that goes on, and the sequence that holds its keys and values."""

    seq_id: str = ""
    token_ids: list[int] = field(default_factory=list)


class BeamGeneration(Generation):
    """`params.beam_width` texts that grow together. `room` tokens of each fit in context and memory."""

    def __init__(self, prompt: Prompt, params: BeamSearchParams, tokenizer: Tokenizer, room: int) -> None:
        super().__init__(prompt, params.beam_width, min(params.max_tokens, room))
        self.branches: list[Beam] = [Beam()]
        self._tokenizer = tokenizer
        self._search = BeamSearch(params, tokenizer.end_ids, self.max_tokens)
        self._rows: dict[str, Tensor] = {}

    def advance(self, rows: dict[str, Tensor]) -> list[Beam]:
        """As Generation.advance. The beams go on together: logits wait until those of all have come."""
        self._rows |= rows
        if any(beam.seq_id not in self._rows for beam in self.branches):
            return []
        self.has_news = True
        self.metrics.got_token()
        parents = self.branches
        pairs = self._search.advance([self._rows[beam.seq_id] for beam in parents])
        self._rows = {}
        self.branches = [Beam(parents[parent].seq_id, [*parents[parent].token_ids, token]) for parent, token in pairs]
        if not self.branches:
            self._finish("stop" if any(each.finish_reason == "stop" for each in self._search.hypotheses) else "length")
        return self.branches

    def abort(self) -> None:
        """End here; what is finished so far is the result."""
        self._finish("abort")

    def output(self) -> BeamSearchOutput:
        """The finished texts so far, the best first."""
        return BeamSearchOutput(
            [
                BeamSearchSequence(
                    tokens=self.prompt.token_ids + each.token_ids,
                    text=self._tokenizer.decode(each.token_ids),
                    cum_logprob=each.cum_logprob,
                    score=each.score,
                    finish_reason=each.finish_reason,
                )
                for each in self._search.hypotheses
            ]
        )
