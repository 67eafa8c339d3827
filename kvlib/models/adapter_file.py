"""The files of a LoRA adapter, as Hugging Face's PEFT writes them."""

from dataclasses import dataclass
from math import sqrt
from pathlib import Path

from torch import Tensor

from kvlib.errors import BadModelFile
from kvlib.models.config_file import ConfigFile
from kvlib.models.folder import read_object
from kvlib.models.folder_tensors import StoredTensors
from kvlib.models.placement import Placement
from kvlib.models.safetensors import read_stored

FILES = ("adapter_config.json", "adapter_model.safetensors")
BEGINNING = "base_model.model."  # of every name in the file


@dataclass(frozen=True)
class AdapterFile:
    """`rank` is the number of rows of every A and of columns of every B, and `scale` multiplies B A."""

    rank: int
    scale: float
    tensors: StoredTensors

    def __contains__(self, name: object) -> bool:
        return f"{name}.lora_A.weight" in self.tensors

    def read(self, name: str, outputs: int, inputs: int) -> tuple[Tensor, Tensor]:
        """A [rank, inputs] and B [outputs, rank], B times `scale`, of the matrix `name`. Raises BadModelFile."""
        a = self.tensors.read(f"{name}.lora_A.weight", self.rank, inputs)
        return a, self.scale * self.tensors.read(f"{name}.lora_B.weight", outputs, self.rank)


def read_adapter(folder: Path, placement: Placement) -> AdapterFile:
    """Read adapter_config.json and the header of adapter_model.safetensors, whose tensors go where `placement` says.

    Raises BadModelFile for a file that is missing or damaged, and for another kind of adapter than plain LoRA.
    """
    path, weights = (folder / name for name in FILES)
    read = ConfigFile(read_object(path), path)
    read.only("peft_type", "LORA")
    read.only("use_dora", False)
    read.only("lora_bias", False)
    read.only("bias", "none")
    read.only("modules_to_save", [])
    read.only("rank_pattern", {})
    read.only("alpha_pattern", {})
    # other ways to begin change the weights of the model itself
    read.only("init_lora_weights", True, False, "gaussian", "eva", "orthogonal")
    rank, alpha = read.whole("r"), read.number("lora_alpha")
    scale = alpha / (sqrt(rank) if read.flag("use_rslora", False) else rank)

    stored = read_stored(weights)
    tensors = {name.removeprefix(BEGINNING): each for name, each in stored.items()}
    if not tensors:
        raise BadModelFile(f"{weights} holds no tensors; download the adapter again")
    return AdapterFile(rank, scale, StoredTensors(weights, tensors, placement))
