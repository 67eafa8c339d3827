"""What the attacks of lab 6 are tried on: a prefix cache that says what it computed, and the engine with any keys."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from kvlib.engine import LLM
from kvlib.engine.prefixes import Prefixes
from kvlib.memory import BlockManager
from kvlib.models.model import Model

KeyOf = Callable[[Any, list[int]], Any]
"""From the key before and a block's tokens to the block's key."""


class Served(NamedTuple):
    """Of a prompt's tokens, those that were computed, and those whose keys and values came from another prompt."""

    num_computed: int
    num_foreign: int


class Server:
    """A prefix cache of blocks of `block_size` tokens, as kvlib's manager keeps it, whose keys `key_of` makes."""

    def __init__(self, key_of: KeyOf, block_size: int = 4, num_blocks: int = 4000) -> None:
        self._key_of = key_of
        self._block_size = block_size
        self._manager = BlockManager(num_blocks, block_size)
        self._holds: dict[int, tuple] = {}  # block -> what was computed into it, with all that came before
        self._num_asked = 0

    def ask(self, token_ids: Sequence[int], root: Any = b"", salts: Sequence[str] = ()) -> Served:
        """Serve a prompt. `root` is the key before the first block, `salts[i]` a text that key i depends on, too."""
        keys, contents, parent = [], [], root
        for index in range(len(token_ids) // self._block_size):
            salt, stop = salts[index] if salts else "", (index + 1) * self._block_size
            parent = self._key_of(_salted(parent, salt), list(token_ids[stop - self._block_size : stop]))
            keys.append(parent)
            contents.append((root, tuple(token_ids[:stop]), tuple(salts[: index + 1])))
        self._num_asked += 1
        seq = self._num_asked
        num_cached = self._manager.admit(seq, len(token_ids), keys)
        table = self._manager.table(seq).blocks
        num_hits = num_cached // self._block_size
        foreign = [block for block, content in zip(table[:num_hits], contents) if self._holds[block][1] != content[1]]
        self._holds |= dict(zip(table[num_hits:], contents[num_hits:]))
        self._manager.publish(seq, keys)
        self._manager.free(seq)
        return Served(len(token_ids) - num_cached, len(foreign) * self._block_size)


def _salted(parent: Any, salt: str) -> Any:
    return sha256(repr((parent, salt)).encode()).digest() if salt else parent


def engine_with(key_of: KeyOf, model: Model | None = None, block_size: int = 16) -> LLM:
    """An engine of 64 blocks that finds them by the keys of `key_of`. Its own settings offer no forgeable ones."""
    llm = LLM(model, num_blocks=64, block_size=block_size)
    llm._loop._prefixes = Prefixes(_Hasher(key_of, block_size))  # type: ignore[arg-type]  # used as PrefixHasher is
    return llm


class _Hasher:
    """Used as kvlib.memory.PrefixHasher is."""

    def __init__(self, key_of: KeyOf, block_size: int) -> None:
        self._key_of, self._block_size = key_of, block_size

    def start(self, **extra: str | int) -> "_Keys":
        return _Keys(self._key_of, self._block_size, _salted(b"", repr(sorted(extra.items())) if extra else ""))


class _Keys:
    """Used as kvlib.memory.PrefixKeys is."""

    def __init__(self, key_of: KeyOf, block_size: int, parent: Any) -> None:
        self.keys: list = []
        self._key_of, self._block_size, self._parent = key_of, block_size, parent
        self._rest: list[int] = []

    def copy(self) -> "_Keys":
        copied = _Keys(self._key_of, self._block_size, self._parent)
        copied.keys, copied._rest = list(self.keys), list(self._rest)
        return copied

    def extend(self, token_ids: list[int]) -> None:
        self._rest += token_ids
        while len(self._rest) >= self._block_size:
            self._parent = self._key_of(self._parent, self._rest[: self._block_size])
            self.keys.append(self._parent)
            self._rest = self._rest[self._block_size :]
