"""The keys of all running sequences: by them a block is found again by what it holds."""

from kvlib.memory import PageKeys, Pages, PrefixHasher, PrefixKeys

NO_KEYS: tuple[()] = ()


class Prefixes:
    """Keys as `keys_of`, a PrefixHasher or Pages, makes them, for each sequence by its id; None: nothing is found."""

    def __init__(self, keys_of: PrefixHasher | Pages | None) -> None:
        self._keys_of = keys_of
        self._of: dict[str, PrefixKeys | PageKeys] = {}

    def start(self, seq_id: str, token_ids: list[int], extra: dict[str, str | int]) -> list | tuple[()]:
        """The keys of a new sequence: a list that grows with it. Sequences with other `extra` share nothing."""
        if self._keys_of is None:
            return NO_KEYS
        self._of[seq_id] = keys = self._keys_of.start(**extra)
        keys.extend(token_ids)
        return keys.keys

    def fork(self, parent_id: str, child_id: str) -> list | tuple[()]:
        """The keys of `child_id`, which has the tokens of `parent_id` so far."""
        if self._keys_of is None:
            return NO_KEYS
        self._of[child_id] = keys = self._of[parent_id].copy()
        return keys.keys

    def extend(self, seq_id: str, token_id: int) -> None:
        """One more token of a sequence is known."""
        if self._keys_of is not None:
            self._of[seq_id].extend([token_id])

    def drop(self, seq_id: str) -> None:
        """The sequence has ended."""
        self._of.pop(seq_id, None)
