"""The tensors of a folder's files."""

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from kvlib.models.folder import Stored, stored_tensors
from kvlib.models.placement import Placement
from kvlib.models.tensors import Tensors

NOT_WEIGHTS = (".rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias")  # frequencies and masks that old files hold


class StoredTensors(Tensors):
    """Tensors by the names that transformers gives them. `path` is the file or folder in which others are missing."""

    def __init__(self, path: Path, stored: Mapping[str, Stored], placement: Placement) -> None:
        super().__init__({name: each.shape for name, each in stored.items()}, placement)
        self._path = path
        self._tensors = stored

    def _place(self, name: str) -> tuple[Path, str]:
        stored = self._tensors.get(name)
        return (self._path, name) if stored is None else (stored.path, stored.name)

    def _load(self, name: str) -> Tensor:
        return self._tensors[name].read()


def folder_tensors(folder: Path, base: str, placement: Placement) -> StoredTensors:
    """The tensors of the model in `folder`. Raises BadModelFile where its files cannot be read.

    Some files leave out the `base` that all names but the last matrix's begin with, "transformer." in GPT-2.
    """
    stored = stored_tensors(folder)
    whole = {name if name.startswith((base, "lm_head.")) else base + name: each for name, each in stored.items()}
    weights = {name: each for name, each in whole.items() if not name.endswith(NOT_WEIGHTS)}
    return StoredTensors(folder, weights, placement)
