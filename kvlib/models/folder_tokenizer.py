"""The tokenizer of a model folder: its encoder, and which tokens begin and end a text."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kvlib.errors import BadModelFile
from kvlib.models.chat import ChatTemplate
from kvlib.models.folder import read_object_or_nothing, read_text
from kvlib.models.spelling import byte_level, metaspace
from kvlib.models.tokenizer import Tokenizer
from kvlib.models.tokenizer_files import open_encoder
from kvlib.shown import shown

NAMED_TOKENS = ("bos_token", "eos_token", "unk_token", "pad_token")
SPACES = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}


def read_folder_tokenizer(folder: Path, vocab_size: int) -> Tokenizer:
    """The tokenizer in `folder` of a model with `vocab_size` logits; an id that no token has stands for no text.

    Raises BadModelFile for a folder without a tokenizer, a damaged one, and one of an unknown kind.
    """
    settings = read_object_or_nothing(folder / "tokenizer_config.json")
    named = {name: _text_of(settings[name]) for name in NAMED_TOKENS if settings.get(name)}
    bpe = open_encoder(folder, named.get("bos_token") if settings.get("add_bos_token") else None)
    spell, begins_with_space = _spelling(bpe.decoder, folder)
    ids = bpe.get_vocab(with_added_tokens=True)
    bpe.add_special_tokens([token for token in named.values() if token in ids])
    spelled = [b""] * max(vocab_size, max(ids.values(), default=0) + 1)
    for token, index in ids.items():
        spelled[index] = spell(token)
    return Tokenizer(
        bpe,
        spelled,
        special_ids=[index for index, token in bpe.get_added_tokens_decoder().items() if token.special],
        end_ids=_end_ids(folder) or {ids[token] for token in [named.get("eos_token")] if token in ids},
        template=_template(folder, settings, named),
        begins_with_space=begins_with_space,
    )


def _spelling(decoder: Any, folder: Path) -> tuple[Callable[[str], bytes], bool]:
    """How a token is spelled, and whether the tokenizer puts a space before every text."""
    described: Any = None if decoder is None else json.loads(decoder.__getstate__())
    match described:
        case {"type": "ByteLevel"}:
            return byte_level, False
        case {"type": "Metaspace", "replacement": "\u2581"}:
            return metaspace, described.get("prepend_scheme") != "never"
        case {"type": "Sequence", "decoders": [*steps]} if SPACES in steps:
            kinds = {step.get("type") for step in steps if isinstance(step, dict)}
            if kinds <= {"Replace", "ByteFallback", "Fuse", "Strip"}:
                return metaspace, "Strip" in kinds
    raise BadModelFile(
        f"the tokenizer in {folder} has the decoder {shown(described)}; this reads byte-level vocabularies and those "
        "of SentencePiece: take another model"
    )


def _end_ids(folder: Path) -> set[int]:
    """Every id that config.json or generation_config.json calls the end of a text."""
    found = set()
    for path in (folder / "config.json", folder / "generation_config.json"):
        given = read_object_or_nothing(path).get("eos_token_id")
        ids = given if isinstance(given, list) else [] if given is None else [given]
        if not all(type(index) is int and index >= 0 for index in ids):
            raise BadModelFile(f"{path} has eos_token_id = {shown(given)}; expected a token id or a list of them")
        found.update(ids)
    return found


def _template(folder: Path, settings: Mapping[str, Any], named: Mapping[str, str]) -> ChatTemplate | None:
    path = folder / "chat_template.jinja"
    if path.is_file():
        return ChatTemplate(read_text(path), named, path)
    path, source = folder / "tokenizer_config.json", settings.get("chat_template")
    if isinstance(source, list):  # several by name
        source = {each.get("name"): each.get("template") for each in source if isinstance(each, dict)}.get("default")
    if source is None:
        return None
    if not isinstance(source, str):
        raise BadModelFile(f"{path} has chat_template = {shown(source)}; expected a text")
    return ChatTemplate(source, named, path)


def _text_of(token: Any) -> str:
    """A special token is written as its text, or as an object that holds it."""
    return str(token.get("content")) if isinstance(token, dict) else str(token)
