"""The tokens of a byte-level BPE vocabulary and the rules that join them, read from GGUF metadata and checked."""

from typing import NamedTuple

from kvlib.errors import BadModelFile
from kvlib.models.metadata import Metadata
from kvlib.models.spelling import BYTES

PREFIX = "tokenizer.ggml"
CONTROL = 3  # token type, as llama.cpp numbers them


class Vocabulary(NamedTuple):
    """`tokens` by id, in GPT-2's alphabet but for the control tokens; `merges` in the order in which they apply."""

    tokens: list[str]
    control_ids: frozenset[int]
    merges: list[tuple[str, str]]
    bos_id: int | None
    eos_id: int


def read_vocabulary(metadata: Metadata) -> Vocabulary:
    """Read the keys `tokenizer.ggml.*`. Raises BadModelFile, naming the key, where they do not fit together."""
    kind = (metadata.text(f"{PREFIX}.model"), metadata.text(f"{PREFIX}.pre"))
    if kind != ("gpt2", "smollm"):
        raise BadModelFile(
            f"{metadata.path} has the tokenizer {kind}; this reads ('gpt2', 'smollm'): give a SmolLM2 file"
        )
    tokens = metadata.list_of(str, f"{PREFIX}.tokens")
    types = metadata.list_of(int, f"{PREFIX}.token_type")
    if len(types) != len(tokens):
        raise metadata.bad(f"{PREFIX}.token_type", f"one type for each of {len(tokens)} tokens, not {len(types)},")
    control_ids = frozenset(index for index, type_ in enumerate(types) if type_ == CONTROL)
    known = set(tokens)
    if len(known) != len(tokens):
        raise metadata.bad(f"{PREFIX}.tokens", "a list without repeated tokens")
    for index, token in enumerate(tokens):
        if index not in control_ids and not BYTES.keys() >= set(token):
            raise metadata.bad(f"{PREFIX}.tokens", f"GPT-2's alphabet, which does not spell token {index}, {token!r},")
    bos, eos = f"{PREFIX}.bos_token_id", f"{PREFIX}.eos_token_id"
    return Vocabulary(
        tokens,
        control_ids,
        _read_merges(metadata, known),
        metadata.whole(bos, least=0, below=len(tokens)) if bos in metadata else None,
        metadata.whole(eos, least=0, below=len(tokens)),
    )


def _read_merges(metadata: Metadata, known: set[str]) -> list[tuple[str, str]]:
    merges = []
    for merge in metadata.list_of(str, f"{PREFIX}.merges"):
        left, _, right = merge.partition(" ")
        if not {left, right, left + right} <= known:
            raise metadata.bad(f"{PREFIX}.merges", f"two tokens that join to a third, unlike {merge!r},")
        merges.append((left, right))
    return merges
