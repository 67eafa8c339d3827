"""Text to token ids and back, by the byte-pair encoding that came with the model."""

from collections.abc import Iterable, Sequence
from numbers import Integral

import tokenizers

from kvlib.errors import BadInput
from kvlib.models.chat import ChatTemplate, Message
from kvlib.shown import shown


class Tokenizer:
    """The tokenizer of one model.

    `vocab_size` counts token ids, `end_ids` are the tokens that end a text, `special_ids` the control tokens,
    which have no text of their own. What the vocabulary cannot spell (of SmolLM2: the control characters 4, 6, 13h,
    14h, 16h and 1Dh, and unassigned characters from U+40000 on) is dropped on encoding, as in transformers.
    """

    def __init__(
        self,
        bpe: tokenizers.Tokenizer,
        spelled: Sequence[bytes],
        special_ids: Iterable[int],
        end_ids: Iterable[int],
        template: ChatTemplate | None = None,
        *,
        begins_with_space: bool = False,
    ) -> None:
        """`spelled` has the bytes of each token id; `begins_with_space` is whether `bpe` puts a space before a text."""
        self.vocab_size = len(spelled)
        self.special_ids = frozenset(special_ids)
        self.end_ids = frozenset(end_ids)
        self._bpe = bpe
        self._spelled = spelled
        self._template = template
        self._added = b" " if begins_with_space else b""

    def encode(self, text: str, *, add_special_tokens: bool = True) -> list[int]:
        """The token ids of `text`; the spelling of a control token, such as <|im_end|>, gives that token.

        Some models (Llama, OPT) read a first token before any text, which `add_special_tokens` adds.
        """
        try:
            return self._bpe.encode(text, add_special_tokens=add_special_tokens).ids
        except (TypeError, UnicodeEncodeError):
            raise BadInput(f"text is {shown(text)}; give a string of whole Unicode characters") from None

    def decode(self, token_ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """The text of `token_ids`; bytes that form no whole character become U+FFFD. Raises as token_bytes does.

        Where encoding puts a space before a text (Llama 2, Mistral), decoding takes it away again.
        """
        skipped = self.special_ids if skip_special_tokens else frozenset()
        spelled = b"".join(self._spelled[token] for token in self._checked(token_ids) if token not in skipped)
        return spelled.removeprefix(self._added).decode("utf-8", "replace")

    def pieces(self, token_ids: Iterable[int]) -> list[str]:
        """One readable piece of text for each token; a byte that is only part of a character reads \\xe4."""
        return [self._spelled[token].decode("utf-8", "backslashreplace") for token in self._checked(token_ids)]

    def token_bytes(self, token_id: int) -> bytes:
        """The UTF-8 bytes that `token_id` stands for. Raises BadInput for what is no id of the vocabulary."""
        [token_id] = self._checked([token_id])
        return self._spelled[token_id]

    def apply_chat_template(self, messages: Iterable[Message], *, add_generation_prompt: bool = True) -> str:
        """The text of a conversation as the model was trained to read it, up to where its answer begins.

        It holds every control token, so encode it with add_special_tokens=False. A message is
        {"role": "system" | "user" | "assistant", "content": text}. Raises BadInput for anything else,
        for a model without a template and for what the template refuses, BadModelFile for a template that fails.
        """
        if self._template is None:
            raise BadInput("the model has no chat template; use generate with a prompt instead")
        return self._template.render(messages, add_generation_prompt)

    def _checked(self, token_ids: Iterable[int]) -> list[int]:
        if not isinstance(token_ids, Iterable):
            raise BadInput(f"token_ids is {shown(token_ids)}; give a list of whole numbers")
        checked = list(token_ids)
        for token in checked:
            if isinstance(token, bool) or not isinstance(token, Integral):
                raise BadInput(f"token id {shown(token)} is no whole number; give ints (of a tensor, its tolist())")
            if not 0 <= token < self.vocab_size:
                raise BadInput(
                    f"token id {shown(token)} is not in the vocabulary; ids run from 0 to {self.vocab_size - 1}"
                )
        return checked
