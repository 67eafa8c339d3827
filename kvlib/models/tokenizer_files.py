"""The encoder that a model folder holds: a tokenizer.json, or the two older files that GPT-2 and OPT come with."""

from pathlib import Path

import tokenizers
from tokenizers import decoders, models, pre_tokenizers, processors

from kvlib.errors import BadModelFile
from kvlib.models.folder import read_object_or_nothing


def open_encoder(folder: Path, bos: str | None) -> tokenizers.Tokenizer:
    """The encoder in `folder`; one in two files puts the token `bos` before every text, unless that is None.

    Raises BadModelFile if there is none, and for files that are damaged.
    """
    path = folder / "tokenizer.json"
    in_two_files = not path.is_file()
    if in_two_files and read_object_or_nothing(folder / "config.json").get("model_type") not in ("gpt2", "opt"):
        raise BadModelFile(
            f"{folder} has no tokenizer.json; save the tokenizer beside the model with transformers: "
            "AutoTokenizer.from_pretrained(...).save_pretrained(folder)"
        )
    try:
        encoder = _from_two_files(folder, bos) if in_two_files else tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises nothing narrower
        raise BadModelFile(f"the tokenizer in {folder} cannot be read ({error}); download it again") from None
    encoder.no_truncation()
    encoder.no_padding()
    return encoder


def _from_two_files(folder: Path, bos: str | None) -> tokenizers.Tokenizer:
    encoder = tokenizers.Tokenizer(models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt")))
    encoder.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    encoder.decoder = decoders.ByteLevel()
    if bos is not None:
        first = [(bos, encoder.token_to_id(bos))]
        encoder.post_processor = processors.TemplateProcessing(single=[bos, "$A"], special_tokens=first)
    return encoder
