"""A model as a folder in the form that Hugging Face's transformers writes."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kvlib.errors import BadModelFile
from kvlib.models.pickled import PickledTensor, read_pickled
from kvlib.models.safetensors import StoredTensor, read_stored
from kvlib.shown import shown

Stored = StoredTensor | PickledTensor
WEIGHTS: dict[str, Callable[[Path], Mapping[str, Stored]]] = {
    "model.safetensors": read_stored,
    "pytorch_model.bin": read_pickled,  # as OPT is still stored on the hub
}


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in the file `path`. Raises BadModelFile if there is none."""
    if not path.is_file():
        raise BadModelFile(f"there is no file {path}; give the folder of a model, with config.json and safetensors")
    try:
        value = json.loads(read_text(path))
    except ValueError as error:
        raise BadModelFile(f"{path} is not JSON ({error}); download it again") from None
    if not isinstance(value, dict):
        raise BadModelFile(f"{path} holds {shown(value)}, expected a JSON object; download it again")
    return value


def read_text(path: Path) -> str:
    """The text of the file `path`, which is there. Raises BadModelFile if it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadModelFile(f"{path} is not text in UTF-8 ({error.reason}); download it again") from None


def read_object_or_nothing(path: Path) -> dict[str, Any]:
    """As read_object, but empty if there is no such file."""
    return read_object(path) if path.is_file() else {}


def stored_tensors(folder: Path) -> Mapping[str, Stored]:
    """Every tensor of the model in `folder`, in one file or in the several that an index names.

    Raises BadModelFile if there is neither, or if the index and its files do not agree.
    """
    for name, read in WEIGHTS.items():
        if (folder / name).is_file():
            return read(folder / name)
        if (folder / f"{name}.index.json").is_file():
            return _from_several(folder, f"{name}.index.json", read)
    there = ", ".join(sorted(path.name for path in folder.iterdir())[:20]) or "nothing"
    raise BadModelFile(
        f"{folder} has no {' or '.join(WEIGHTS)}, whole or with an index, but {there}; save the model with "
        "transformers: save_pretrained(folder)"
    )


def _from_several(folder: Path, index: str, read: Callable[[Path], Mapping[str, Stored]]) -> dict[str, Stored]:
    places = read_object(folder / index).get("weight_map")
    if not isinstance(places, dict) or not all(isinstance(name, str) for name in places.values()):
        raise BadModelFile(f"{folder / index} has no weight_map from tensors to files; download it again")
    shards = {name: read(folder / name) for name in sorted(set(places.values()))}
    for tensor, shard in places.items():
        if tensor not in shards[shard]:
            raise BadModelFile(
                f"{folder / shard} has no tensor {tensor}, which {index} places there; download it again"
            )
    return {tensor: stored for shard in shards.values() for tensor, stored in shard.items()}
