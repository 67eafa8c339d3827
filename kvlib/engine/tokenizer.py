"""Text to token ids and back, by the byte-level BPE that a GGUF file describes in its metadata."""

from collections.abc import Iterable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import decoders, models, pre_tokenizers

from kvlib.engine.chat import ChatTemplate, Message
from kvlib.engine.metadata import Metadata
from kvlib.engine.shown import shown
from kvlib.engine.vocabulary import BYTES, Vocabulary, read_vocabulary
from kvlib.errors import BadInput

END_OF_TEXT = "<|endoftext|>"  # llama.cpp ends a text at this control token too, whatever the metadata name
TEMPLATE = "tokenizer.chat_template"


class Tokenizer:
    """The tokenizer of one model.

    `vocab_size` counts token ids, `end_ids` are the tokens that end a text, `special_ids` the control tokens,
    which have no text of their own. What the vocabulary cannot spell (of SmolLM2: the control characters 4, 6, 13h,
    14h, 16h and 1Dh, and unassigned characters from U+40000 on) is dropped on encoding, as in transformers.
    """

    def __init__(self, metadata: Mapping[str, Any], path: Path) -> None:
        """Read the keys `tokenizer.*` of the file `path`. Raises BadModelFile, naming the key."""
        read = Metadata(metadata, path)
        vocabulary = read_vocabulary(read)
        self._tokens = vocabulary.tokens
        self.vocab_size = len(self._tokens)
        self.special_ids = vocabulary.control_ids
        end_of_text = {index for index in self.special_ids if self._tokens[index] == END_OF_TEXT}
        self.end_ids = frozenset({vocabulary.eos_id, *end_of_text})
        self._bpe = _build(vocabulary)
        special_tokens = {"eos_token": self._tokens[vocabulary.eos_id]}
        if vocabulary.bos_id is not None:
            special_tokens["bos_token"] = self._tokens[vocabulary.bos_id]
        self._template = ChatTemplate(read.text(TEMPLATE), special_tokens, path) if TEMPLATE in read else None

    def encode(self, text: str) -> list[int]:
        """The token ids of `text`; the spelling of a control token, such as <|im_end|>, gives that token."""
        try:
            return self._bpe.encode(text, add_special_tokens=False).ids
        except (TypeError, UnicodeEncodeError):
            raise BadInput(f"text is {shown(text)}; give a string of whole Unicode characters") from None

    def decode(self, token_ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """The text of `token_ids`; bytes that form no whole character become U+FFFD. Raises as token_bytes does."""
        skipped = self.special_ids if skip_special_tokens else frozenset()
        return b"".join(self.token_bytes(token) for token in self._checked(token_ids) if token not in skipped).decode(
            "utf-8", "replace"
        )

    def pieces(self, token_ids: Iterable[int]) -> list[str]:
        """One readable piece of text for each token; a byte that is only part of a character reads \\xe4."""
        return [self.token_bytes(token).decode("utf-8", "backslashreplace") for token in self._checked(token_ids)]

    def token_bytes(self, token_id: int) -> bytes:
        """The UTF-8 bytes that `token_id` stands for. Raises BadInput for what is no id of the vocabulary."""
        [token_id] = self._checked([token_id])
        token = self._tokens[token_id]
        return token.encode() if token_id in self.special_ids else bytes(BYTES[character] for character in token)

    def apply_chat_template(self, messages: Iterable[Message], *, add_generation_prompt: bool = True) -> str:
        """The text of a conversation as the model was trained to read it, up to where its answer begins.

        A message is {"role": "system" | "user" | "assistant", "content": text}. Raises BadInput for anything else,
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


def _build(vocabulary: Vocabulary) -> tokenizers.Tokenizer:
    ids = {token: index for index, token in enumerate(vocabulary.tokens)}
    bpe = tokenizers.Tokenizer(models.BPE(ids, vocabulary.merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    bpe.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    bpe.decoder = decoders.ByteLevel()
    bpe.add_special_tokens([vocabulary.tokens[index] for index in sorted(vocabulary.control_ids)])
    return bpe
