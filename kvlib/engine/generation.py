"""One answer on its way: its tokens, its text, and when it ends."""

from torch import Tensor

from kvlib.engine.detokenizer import Detokenizer
from kvlib.engine.outputs import CompletionOutput, FinishReason, RequestOutput
from kvlib.engine.params import SamplingParams
from kvlib.engine.prompts import Prompt
from kvlib.engine.sampling import generator_of, sample
from kvlib.engine.tokenizer import Tokenizer


class Generation:
    """A request from its first token to its last. `room` tokens of answer fit in context and memory.

    `request_id` may be another from the moment on which the engine queues the request.
    """

    def __init__(self, prompt: Prompt, params: SamplingParams, tokenizer: Tokenizer, room: int) -> None:
        self.request_id = "0"
        self.prompt = prompt
        self.params = params
        self.max_tokens = room if params.max_tokens is None else min(params.max_tokens, room)
        self.token_ids: list[int] = []
        self.finish_reason: FinishReason | None = None
        self.has_news = False
        self._text = ""
        self._stop_reason: str | int | None = None
        self._end_ids = frozenset() if params.ignore_eos else tokenizer.end_ids
        self._detokenizer = Detokenizer(tokenizer)
        self._generator = generator_of(params)

    @property
    def finished(self) -> bool:
        """Whether no more tokens will come."""
        return self.finish_reason is not None

    def choose(self, logits: Tensor) -> int:
        """Choose the next token from `logits` [vocab] and take it in; returns its id."""
        token = sample(logits, self.params, self._generator)
        self.token_ids.append(token)
        self.has_news = True
        if token in self._end_ids:
            self._end("stop")
        elif token in self.params.stop_token_ids:
            self._end("stop", token)
        else:
            self._write(self._detokenizer.add(token))
            if not self.finished and len(self.token_ids) == self.max_tokens:
                self._end("length")
        return token

    def abort(self) -> None:
        """End here, because the request is dropped."""
        self.has_news = True
        self._end("abort")

    def output(self) -> RequestOutput:
        """The request as it stands; the news is told."""
        self.has_news = False
        text = self._text[: len(self._text) - self._num_held_back()]
        answer = CompletionOutput(0, text, list(self.token_ids), self.finish_reason, self._stop_reason)
        return RequestOutput(self.request_id, self.prompt.text, list(self.prompt.token_ids), [answer], self.finished)

    def _write(self, text: str) -> None:
        before = len(self._text)
        self._text += text
        found = [(self._text.find(stop, max(0, before - len(stop) + 1)), stop) for stop in self.params.stop]
        hits = [(index, stop) for index, stop in found if index >= 0]
        if hits:
            index, stop = min(hits)
            self._end("stop", stop)
            self._text = self._text[:index]

    def _end(self, reason: FinishReason, stop_reason: str | int | None = None) -> None:
        self._text += self._detokenizer.flush()
        self.finish_reason = reason
        self._stop_reason = stop_reason

    def _num_held_back(self) -> int:
        """Characters at the end of the text that may turn out to begin a stop text."""
        if self.finished:
            return 0
        beginnings = (stop[:length] for stop in self.params.stop for length in range(1, len(stop)))
        return max((len(beginning) for beginning in beginnings if self._text.endswith(beginning)), default=0)
