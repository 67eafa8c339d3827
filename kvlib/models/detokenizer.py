"""Text from tokens as they come, never half a character."""

import codecs

from kvlib.models.tokenizer import Tokenizer


class Detokenizer:
    """Turns the tokens of one answer into text, one at a time.

    The pieces, joined, are `tokenizer.decode` of all tokens: control tokens have no text, and a character whose
    bytes are spread over several tokens comes out with the last of them.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, token_id: int) -> str:
        """The text that is whole now and was not before."""
        if token_id in self._tokenizer.special_ids:
            return ""
        return self._decoder.decode(self._tokenizer.token_bytes(token_id))

    def flush(self) -> str:
        """The end: U+FFFD for bytes of a character that never became whole."""
        return self._decoder.decode(b"", final=True)
