"""The tokenizer that a GGUF file describes in its metadata."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import decoders, models, pre_tokenizers

from kvlib.models.chat import ChatTemplate
from kvlib.models.metadata import Metadata
from kvlib.models.spelling import byte_level
from kvlib.models.tokenizer import Tokenizer
from kvlib.models.vocabulary import Vocabulary, read_vocabulary

END_OF_TEXT = "<|endoftext|>"  # llama.cpp ends a text at this control token too, whatever the metadata name
TEMPLATE = "tokenizer.chat_template"


def read_gguf_tokenizer(metadata: Mapping[str, Any], path: Path) -> Tokenizer:
    """Read the keys `tokenizer.*` of the file `path`. Raises BadModelFile, naming the key."""
    read = Metadata(metadata, path)
    vocabulary = read_vocabulary(read)
    tokens, control_ids = vocabulary.tokens, vocabulary.control_ids
    special_tokens = {"eos_token": tokens[vocabulary.eos_id]}
    if vocabulary.bos_id is not None:
        special_tokens["bos_token"] = tokens[vocabulary.bos_id]
    return Tokenizer(
        _build(vocabulary),
        [token.encode() if index in control_ids else byte_level(token) for index, token in enumerate(tokens)],
        special_ids=control_ids,
        end_ids={vocabulary.eos_id, *(index for index in control_ids if tokens[index] == END_OF_TEXT)},
        template=ChatTemplate(read.text(TEMPLATE), special_tokens, path) if TEMPLATE in read else None,
    )


def _build(vocabulary: Vocabulary) -> tokenizers.Tokenizer:
    ids = {token: index for index, token in enumerate(vocabulary.tokens)}
    bpe = tokenizers.Tokenizer(models.BPE(ids, vocabulary.merges))
    digits = pre_tokenizers.Digits(individual_digits=True)
    bpe.pre_tokenizer = pre_tokenizers.Sequence([digits, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    bpe.decoder = decoders.ByteLevel()
    bpe.add_special_tokens([vocabulary.tokens[index] for index in sorted(vocabulary.control_ids)])
    return bpe
