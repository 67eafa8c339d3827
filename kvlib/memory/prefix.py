"""Keys of full blocks: a key stands for a block's tokens and for everything before them.

Each key is a hash of the key before it and of the block's own tokens, so two requests have equal keys exactly as
far as they begin alike (vLLM docs, Automatic Prefix Caching).
"""

import hashlib
import os

from kvlib.checks import whole
from kvlib.errors import BadConfig, MissingPackage
from kvlib.memory.contents import TOKEN_BYTES, packed, tagged

HASHES = ("sha256", "xxh3")


class PrefixHasher:
    """How the blocks of one memory get their keys: `block_size` tokens a block, `hash` one of HASHES.

    "sha256" cannot be made to collide, and gives the same keys in every process. "xxh3" (128 bits, package xxhash)
    is faster and not made to withstand an attacker, so each hasher starts from a random root of its own: keys are
    not shared between hashers, and a collision cannot be worked out in advance (vllm#12621).
    """

    def __init__(self, block_size: int, hash: str = "sha256") -> None:
        self.block_size = whole("block_size", block_size)
        if hash not in HASHES:
            raise BadConfig(f"hash is {hash!r}; choose one of {', '.join(HASHES)}")
        self._hash = hashlib.sha256 if hash == "sha256" else _xxh3()
        self._root = b"" if hash == "sha256" else os.urandom(16)

    def start(self, **extra: str | int | bytes) -> "PrefixKeys":
        """The keys of one sequence, none yet. Sequences share blocks only if all of `extra` is equal: whatever else
        decides what a block holds, such as an adapter and its version, or a salt that keeps tenants apart."""
        return PrefixKeys(self._hash, self._hash(self._root + _framed(extra)).digest(), self.block_size)


class PrefixKeys:
    """The keys of the full blocks of one sequence, extended as its tokens become known.

    `keys` has one key a full block, in order, as BlockManager's `admit` and `publish` take them; `num_tokens` tokens
    were given so far. Only growing: a token that was given stays.
    """

    def __init__(self, hash, root: bytes, block_size: int) -> None:  # type: ignore[no-untyped-def]
        self.keys: list[bytes] = []
        self._hash = hash
        self._parent = root
        self._block_bytes = block_size * TOKEN_BYTES
        self.num_tokens = 0
        self._rest = b""  # the tokens of a block that is not full yet

    def copy(self) -> "PrefixKeys":
        """Keys of a sequence that has the same tokens so far and goes on by itself."""
        copied = PrefixKeys(self._hash, self._parent, self._block_bytes // TOKEN_BYTES)
        copied.keys, copied.num_tokens, copied._rest = list(self.keys), self.num_tokens, self._rest
        return copied

    def extend(self, token_ids: list[int]) -> None:
        """Add the next tokens of the sequence, ids of 0 to 2**32 - 1. Raises BadInput, and adds none, for another."""
        tokens = self._rest + packed(token_ids)
        size, hash, parent, keys = self._block_bytes, self._hash, self._parent, self.keys
        num_full = len(tokens) // size * size
        for start in range(0, num_full, size):
            parent = hash(parent + tokens[start : start + size]).digest()
            keys.append(parent)
        self._parent = parent
        self._rest = tokens[num_full:]
        self.num_tokens += len(token_ids)


def _framed(extra: dict[str, str | int | bytes]) -> bytes:
    """`extra` as bytes that no other `extra` gives: every name, kind and value with its length."""
    framed = b""
    for name, kind, value in tagged(extra):
        raw = value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")
        for part in (name.encode(), kind.encode(), raw):
            framed += len(part).to_bytes(8, "little") + part
    return framed


def _xxh3():  # type: ignore[no-untyped-def]
    try:
        from xxhash import xxh3_128
    except ImportError as error:
        raise MissingPackage(
            "hash='xxh3' needs the package xxhash; run: pip install xxhash, or take 'sha256'"
        ) from error
    return xxh3_128
