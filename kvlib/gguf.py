"""The header of a GGUF model file: its metadata and where each tensor lies. Standard library only.

Source: the GGUF specification, docs/gguf.md in ggml-org/ggml; versions 2 and 3, little-endian.
"""

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from kvlib.errors import BadModelFile

GGML_TYPES = {  # id: (name, numbers in a block, bytes of a block)
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    30: ("BF16", 1, 2),
}
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9
DEFAULT_ALIGNMENT = 32
AGAIN = "The file is damaged or was cut short: download it, or install its package, again."


class TensorInfo(NamedTuple):
    """One tensor: `shape` as torch and numpy order it (rows first), `ggml_type` by name such as "Q4_1",
    `offset` in bytes from the start of the file, `num_bytes` as stored."""

    name: str
    shape: tuple[int, ...]
    ggml_type: str
    offset: int
    num_bytes: int


class Header(NamedTuple):
    """`metadata` maps keys such as "llama.block_count" to numbers, strings or lists; `tensors` maps names."""

    metadata: dict[str, Any]
    tensors: dict[str, TensorInfo]


class _Cursor:
    """Reads one value after another and never past the end."""

    def __init__(self, data: bytes | mmap.mmap, path: Path) -> None:
        self.data, self.path, self.at = data, path, 0

    def damaged(self, message: str) -> BadModelFile:
        return BadModelFile(f"{self.path}: {message}. {AGAIN}")

    def take(self, num_bytes: int) -> bytes:
        end = self.at + num_bytes
        if end > len(self.data):
            raise self.damaged(
                f"the header ends early: {num_bytes:,} bytes expected at byte {self.at:,}, "
                f"{len(self.data) - self.at:,} found"
            )
        start, self.at = self.at, end
        return self.data[start:end]

    def numbers(self, code: str, count: int = 1) -> list[Any]:
        return list(struct.unpack(f"<{count}{code}", self.take(count * struct.calcsize(code))))

    def number(self, code: str) -> Any:
        return self.numbers(code)[0]

    def string(self) -> str:
        start = self.at
        try:
            return self.take(self.number("Q")).decode()
        except UnicodeDecodeError as error:
            raise self.damaged(f"the text at byte {start:,} of the header is not UTF-8") from error

    def value(self, kind: int) -> Any:
        if kind in SCALARS:
            return self.number(SCALARS[kind])
        if kind == STRING:
            return self.string()
        if kind != ARRAY:
            raise self.damaged(f"value type {kind} at byte {self.at:,} is none of GGUF's, 0 to 12")
        item, count = self.number("I"), self.number("Q")
        if item in SCALARS:
            return self.numbers(SCALARS[item], count)
        return [self.value(item) for _ in range(count)]


def read_header(path: str | Path) -> Header:
    """Read metadata and tensor places of the GGUF file `path`; the tensors themselves are not read.

    BadModelFile if it is not GGUF, has a version other than 2 and 3, or is shorter than its header or its
    last tensor says; FileNotFoundError if there is no such file.
    """
    with _opened(path) as cursor:
        num_tensors, metadata = _metadata(cursor)
        return Header(metadata, _tensors(cursor, num_tensors, metadata))


def read_metadata(path: str | Path) -> dict[str, Any]:
    """Only the metadata, whatever the tensors after it are stored as. Errors as `read_header`'s for that part."""
    with _opened(path) as cursor:
        return _metadata(cursor)[1]


@contextmanager
def _opened(path: str | Path) -> Iterator[_Cursor]:
    path = Path(path)
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise BadModelFile(f"{path}: not a GGUF file, its first four bytes are not 'GGUF'. Give a .gguf file.")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield _Cursor(data, path)


def _metadata(cursor: _Cursor) -> tuple[int, dict[str, Any]]:
    cursor.take(4)
    version = cursor.number("I")
    if version not in (2, 3):
        raise BadModelFile(
            f"{cursor.path}: GGUF version {version}; this reader knows 2 and 3, little-endian. "
            "Convert the file again with a current llama.cpp."
        )
    num_tensors, num_keys = cursor.numbers("Q", 2)
    return num_tensors, {cursor.string(): cursor.value(cursor.number("I")) for _ in range(num_keys)}


def _tensors(cursor: _Cursor, num_tensors: int, metadata: dict[str, Any]) -> dict[str, TensorInfo]:
    stored = [_tensor(cursor) for _ in range(num_tensors)]
    alignment = metadata.get("general.alignment", DEFAULT_ALIGNMENT)
    if type(alignment) is not int or alignment < 1:
        raise cursor.damaged(f"general.alignment is {alignment!r}; a positive number of bytes is expected")
    start = -(-cursor.at // alignment) * alignment
    tensors = {tensor.name: tensor._replace(offset=start + tensor.offset) for tensor in stored}
    for tensor in sorted(tensors.values(), key=lambda tensor: tensor.offset):
        found = max(0, min(tensor.num_bytes, len(cursor.data) - tensor.offset))
        if found < tensor.num_bytes:
            raise cursor.damaged(f"tensor {tensor.name!r}: {tensor.num_bytes:,} bytes expected, {found:,} found")
    return tensors


def _tensor(cursor: _Cursor) -> TensorInfo:
    name = cursor.string()
    shape = tuple(reversed(cursor.numbers("Q", cursor.number("I"))))
    type_id, offset = cursor.number("I"), cursor.number("Q")
    if type_id not in GGML_TYPES:
        known = ", ".join(type_name for type_name, _, _ in GGML_TYPES.values())
        raise BadModelFile(
            f"{cursor.path}: tensor {name!r} has ggml type {type_id}; this reader knows {known}. "
            "Take a file in one of these types."
        )
    type_name, block, block_bytes = GGML_TYPES[type_id]
    if shape and shape[-1] % block:
        raise cursor.damaged(f"tensor {name!r}: rows of {shape[-1]:,} do not fill {type_name} blocks of {block}")
    return TensorInfo(name, shape, type_name, offset, prod(shape) // block * block_bytes)
