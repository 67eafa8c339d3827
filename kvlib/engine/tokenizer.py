"""Text to token ids and back, by the byte-level BPE that a GGUF file describes in its metadata."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tokenizers
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import decoders, models, pre_tokenizers

from kvlib.errors import BadInput, BadModelFile

Message = Mapping[str, str]

CONTROL = 3  # token type, as llama.cpp numbers them
END_OF_TEXT = "<|endoftext|>"  # llama.cpp ends a text at this control token too, whatever the metadata name


class Tokenizer:
    """The tokenizer of one model.

    `vocab_size` counts token ids, `end_ids` are the tokens that end a text, `special_ids` the control tokens,
    which have no text of their own. What the vocabulary cannot spell (of SmolLM2: the control characters 4, 6, 13h,
    14h, 16h and 1Dh, and unassigned characters from U+40000 on) is dropped on encoding, as in transformers.
    """

    def __init__(self, metadata: dict[str, Any], path: Path) -> None:
        def value(name: str) -> Any:
            if f"tokenizer.ggml.{name}" not in metadata:
                raise BadModelFile(f"{path} has no metadata tokenizer.ggml.{name}; install or download the file again")
            return metadata[f"tokenizer.ggml.{name}"]

        kind = (value("model"), value("pre"))
        if kind != ("gpt2", "smollm"):
            raise BadModelFile(f"{path} has the tokenizer {kind}; this reads ('gpt2', 'smollm'): give a SmolLM2 file")
        self._tokens: list[str] = value("tokens")
        self.vocab_size = len(self._tokens)
        self.special_ids = frozenset(index for index, type_ in enumerate(value("token_type")) if type_ == CONTROL)
        end_of_text = {index for index in self.special_ids if self._tokens[index] == END_OF_TEXT}
        self.end_ids = frozenset({value("eos_token_id"), *end_of_text})
        self._template = metadata.get("tokenizer.chat_template")
        self._bpe = self._build(value("merges"))

    def encode(self, text: str) -> list[int]:
        """The token ids of `text`; the spelling of a control token, such as <|im_end|>, gives that token."""
        try:
            return self._bpe.encode(text, add_special_tokens=False).ids
        except (TypeError, UnicodeEncodeError):
            raise BadInput(f"text is {text!r:.80}; give a string of whole Unicode characters") from None

    def decode(self, token_ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """The text of `token_ids`; bytes that form no whole character become U+FFFD."""
        skipped = self.special_ids if skip_special_tokens else frozenset()
        return b"".join(self.token_bytes(token) for token in token_ids if token not in skipped).decode(
            "utf-8", "replace"
        )

    def pieces(self, token_ids: Iterable[int]) -> list[str]:
        """One readable piece of text for each token; a byte that is only part of a character reads \\xe4."""
        return [self.token_bytes(token).decode("utf-8", "backslashreplace") for token in token_ids]

    def token_bytes(self, token_id: int) -> bytes:
        """The UTF-8 bytes that `token_id` stands for. Raises BadInput for an id outside the vocabulary."""
        if not 0 <= token_id < self.vocab_size:
            raise BadInput(f"token id {token_id} is not in the vocabulary; ids run from 0 to {self.vocab_size - 1}")
        token = self._tokens[token_id]
        return token.encode() if token_id in self.special_ids else bytes(BYTES[character] for character in token)

    def apply_chat_template(self, messages: Sequence[Message], *, add_generation_prompt: bool = True) -> str:
        """The text of a conversation as the model was trained to read it, up to where its answer begins.

        A message is {"role": "system" | "user" | "assistant", "content": text}.
        """
        if self._template is None:
            raise BadInput("the model has no chat template; use generate with a prompt instead")
        if not messages or not all(_is_message(message) for message in messages):
            raise BadInput(f"messages is {messages!r:.80}; give at least one {{'role': ..., 'content': text}}")
        template = _TEMPLATES.from_string(self._template)
        return template.render(messages=messages, add_generation_prompt=add_generation_prompt)

    def _build(self, merges: list[str]) -> tokenizers.Tokenizer:
        vocab = {token: index for index, token in enumerate(self._tokens)}
        pairs = [(left, right) for left, right in (merge.split(" ") for merge in merges)]
        bpe = tokenizers.Tokenizer(models.BPE(vocab, pairs))
        digits = pre_tokenizers.Digits(individual_digits=True)
        bpe.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
        bpe.decoder = decoders.ByteLevel()
        bpe.add_special_tokens([self._tokens[index] for index in sorted(self.special_ids)])
        return bpe


def _is_message(message: object) -> bool:
    return isinstance(message, Mapping) and all(isinstance(message.get(key), str) for key in ("role", "content"))


def _byte_characters() -> dict[str, int]:
    """GPT-2's alphabet: each byte as one visible character."""
    visible = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in visible]
    return {chr(byte): byte for byte in visible} | {chr(256 + index): byte for index, byte in enumerate(hidden)}


BYTES = _byte_characters()
_TEMPLATES = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
