"""The measurement files that come with the book, by the names that they have in data/measurements."""

import json
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from kvlib.bench.gpu.schema import check
from kvlib.errors import BadConfig, BadInput

Record = dict[str, Any]
FOLDER = resources.files("kvlib.data") / "measurements"


def read(name: str, folder: Traversable = FOLDER) -> Record:
    """The file with this name, given without ".json". Raises BadConfig, with the names that there are."""
    files = _files(folder)
    if name not in files:
        raise BadConfig(
            f"data/measurements has no file {name!r}; there are: {', '.join(files) or 'none'}. These files lie in a "
            "clone of the repository"
        )
    return json.loads(files[name].read_text(encoding="utf-8"))


def gpu_records(folder: Traversable = FOLDER) -> list[Record]:
    """What `kvlib bench gpu` measured on GPUs, in the order of the files' names; none may be there.

    Files of other measurements are left alone. Raises BadInput, which names the file, for one that is damaged.
    """
    records = []
    for name, file in _files(folder).items():
        try:
            record = json.loads(file.read_text(encoding="utf-8"))
            if "ceilings" in record:
                check(record)
                records.append(record)
        except (ValueError, TypeError, BadInput) as error:
            raise BadInput(f"{name}.json cannot be plotted: {error}; write it anew with `kvlib bench gpu`") from None
    return [record for record in records if record["gpu"] and not record["interpreted"]]


def _files(folder: Traversable) -> Mapping[str, Traversable]:
    if not folder.is_dir():
        return {}
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return {file.name.removesuffix(".json"): file for file in files if file.name.endswith(".json")}
