"""Beam search: which of the running texts goes on with which token. It knows no memory and no model.

The rules are those of Hugging Face transformers' `generate(num_beams=...)`, so that beams and scores equal its own;
vLLM's beam search takes the end token out of the length that divides the score, and counts the prompt in.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from kvlib.engine.beam_params import BeamSearchParams
from kvlib.errors import BadInput


class Beam(NamedTuple):
    """A text that goes on: its tokens after the prompt, and the sum of their log-probabilities."""

    token_ids: list[int]
    cum_logprob: float


class Hypothesis(NamedTuple):
    """A text that has ended, by an end token ("stop") or at max_tokens ("length").

    `score` is `cum_logprob` divided by the number of `token_ids`, the end token included, to the length penalty.
    """

    token_ids: list[int]
    cum_logprob: float
    score: float
    finish_reason: Literal["stop", "length"]


class BeamSearch:
    """One request's search, for texts of at most `max_tokens` tokens that `end_ids` end, unless ignore_eos.

    `beams` are the running texts, the likeliest first, one of no tokens at first and none once the search is over.
    `hypotheses` are the best `beam_width` of those that have ended, the best first.
    """

    def __init__(self, params: BeamSearchParams, end_ids: Iterable[int], max_tokens: int) -> None:
        self.beams = [Beam([], 0.0)]
        self.hypotheses: list[Hypothesis] = []
        self._params = params
        self._end_ids = frozenset() if params.ignore_eos else frozenset(end_ids)
        self._max_tokens = max_tokens

    def advance(self, rows: Sequence[Tensor]) -> list[tuple[int, int]]:
        """Take in the logits [vocab], float32, of each running beam -> (parent's index, token id) of each next beam.

        A parent may come several times or not at all. An empty list: the search is over. Raises BadInput unless
        there is one row for each beam.
        """
        if len(rows) != len(self.beams) or not rows:
            raise BadInput(f"{len(rows)} rows of logits for {len(self.beams)} running beams; give one for each")
        width, length = self._params.beam_width, len(self.beams[0].token_ids) + 1
        pairs: list[tuple[int, int]] = []
        beams: list[Beam] = []
        for rank, (parent, token, cum_logprob) in enumerate(self._candidates(rows)):
            beam = Beam([*self.beams[parent].token_ids, token], cum_logprob)
            if token in self._end_ids or length == self._max_tokens:
                if rank < width:  # the candidates behind only take the place of beams that have ended
                    self._finish(beam)
            elif len(beams) < width:
                pairs.append((parent, token))
                beams.append(beam)
        self.beams = beams
        if self._over(length):
            self.beams = []
            return []
        return pairs

    def _candidates(self, rows: Sequence[Tensor]) -> list[tuple[int, int, float]]:
        """(parent, token, sum of log-probabilities) of the likeliest continuations, the likeliest first.

        They are so many that `beam_width` of them go on even where every beam meets all end tokens.
        """
        logits = torch.stack(list(rows)).float()  # [num_beams, vocab]
        if not self._params.unscaled:
            logits = logits / self._params.temperature
        sums = torch.tensor([beam.cum_logprob for beam in self.beams])[:, None]  # [num_beams, 1]
        total = (logits.log_softmax(dim=-1) + sums).flatten()  # [num_beams * vocab]
        count = max(2, 1 + len(self._end_ids)) * self._params.beam_width
        values, places = total.topk(min(count, len(total)))  # [count] each
        return [(*divmod(place, logits.shape[1]), value) for place, value in zip(places.tolist(), values.tolist())]

    def _finish(self, beam: Beam) -> None:
        reason: Literal["stop", "length"] = "stop" if beam.token_ids[-1] in self._end_ids else "length"
        score = self._score(beam.cum_logprob, len(beam.token_ids))
        self.hypotheses.append(Hypothesis(*beam, score, reason))
        self.hypotheses.sort(key=lambda each: each.score, reverse=True)
        del self.hypotheses[self._params.beam_width :]

    def _score(self, cum_logprob: float, length: int) -> float:
        return cum_logprob / length**self._params.length_penalty

    def _over(self, length: int) -> bool:
        """Whether no running beam is expected to become better than the worst hypothesis.

        Log-probabilities only sink, but a longer text may have the better score. False judges the best beam by its
        length now; "never" by the length that is best for it, so that nothing better is missed; True does not ask.
        """
        early = self._params.early_stopping
        if not self.beams:
            return True
        if len(self.hypotheses) < self._params.beam_width:
            return False
        if early is True:
            return True
        best_length = self._max_tokens if early == "never" and self._params.length_penalty > 0 else length
        return self._score(self.beams[0].cum_logprob, best_length) <= self.hypotheses[-1].score
