"""One answer on its way: its tokens, its text, and when it ends."""

from torch import Tensor

from kvlib.engine.logprobs import Logprob, token_logprobs
from kvlib.engine.outputs import CompletionOutput, FinishReason
from kvlib.engine.params import SamplingParams
from kvlib.engine.sampling import Sampler
from kvlib.models.detokenizer import Detokenizer
from kvlib.models.tokenizer import Tokenizer


class Answer:
    """Answer `index` to a prompt; `max_tokens` is where it ends for length. Its keys and values are those of the
    sequence `seq_id`, which its request sets, and which answers that have no token yet share."""

    def __init__(
        self,
        index: int,
        prompt_ids: list[int],
        params: SamplingParams,
        tokenizer: Tokenizer,
        max_tokens: int,
    ) -> None:
        self.index = index
        self.seq_id = ""
        self.token_ids: list[int] = []
        self.finish_reason: FinishReason | None = None
        self._params = params
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._text = ""
        self._stop_reason: str | int | None = None
        self._end_ids = frozenset() if params.ignore_eos else tokenizer.end_ids
        self._detokenizer = Detokenizer(tokenizer)
        self._sampler = Sampler(params, prompt_ids, tokenizer.end_ids, index)
        self._logprobs: list[dict[int, Logprob]] = []
        self._cumulative_logprob = 0.0

    def choose(self, logits: Tensor) -> None:
        """Choose the next token from `logits` [vocab] and take it in."""
        token = self._sampler.choose(logits)
        self.token_ids.append(token)
        if self._params.logprobs is not None:
            entry = token_logprobs(logits, token, self._params.logprobs, self._tokenizer)
            self._logprobs.append(entry)
            self._cumulative_logprob += entry[token].logprob
        if token in self._end_ids:
            self.end("stop")
        elif token in self._params.stop_token_ids:
            self.end("stop", token)
        else:
            self._write(self._detokenizer.add(token))
            if self.finish_reason is None and len(self.token_ids) == self._max_tokens:
                self.end("length")

    def end(self, reason: FinishReason, stop_reason: str | int | None = None) -> None:
        """No more tokens will come."""
        self._text += self._detokenizer.flush()
        self.finish_reason = reason
        self._stop_reason = stop_reason

    def output(self) -> CompletionOutput:
        """The answer as it stands."""
        with_logprobs = self._params.logprobs is not None
        return CompletionOutput(
            self.index,
            self._text[: len(self._text) - self._num_held_back()],
            list(self.token_ids),
            self.finish_reason,
            self._stop_reason,
            cumulative_logprob=self._cumulative_logprob if with_logprobs else None,
            logprobs=list(self._logprobs) if with_logprobs else None,
        )

    def _write(self, text: str) -> None:
        if len(self.token_ids) <= self._params.min_tokens:  # a stop text that comes too early is text like any other
            self._text += text
            return
        before = len(self._text)
        self._text += text
        found = [(self._text.find(stop, max(0, before - len(stop) + 1)), stop) for stop in self._params.stop]
        hits = [(index, stop) for index, stop in found if index >= 0]
        if hits:
            index, stop = min(hits)
            self.end("stop", stop)
            kept = index + len(stop) if self._params.include_stop_str_in_output else index
            self._text = self._text[:kept]

    def _num_held_back(self) -> int:
        """Characters at the end of the text that may turn out to begin a stop text."""
        if self.finish_reason is not None:
            return 0
        beginnings = (stop[:length] for stop in self._params.stop for length in range(1, len(stop)))
        return max((len(beginning) for beginning in beginnings if self._text.endswith(beginning)), default=0)
