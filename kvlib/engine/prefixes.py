"""The keys of all running sequences: by them a block is found again by what it holds."""

from collections.abc import Container

from kvlib.memory import PageKeys, Pages, PrefixHasher, PrefixKeys

Keys = PrefixKeys | PageKeys


class Prefixes:
    """Keys as `keys_of`, a PrefixHasher or Pages, makes them, for each sequence by its id; None: nothing is found."""

    def __init__(self, keys_of: PrefixHasher | Pages | None) -> None:
        self._keys_of = keys_of
        self._of: dict[str, Keys] = {}

    def of_prompt(self, token_ids: list[int], extra: dict[str, str | int]) -> Keys | None:
        """The keys of a prompt, for a sequence that is still to be added. Those with other `extra` share nothing."""
        if self._keys_of is None:
            return None
        keys = self._keys_of.start(**extra)
        keys.extend(token_ids)
        return keys

    def of_fork(self, parent_id: str) -> Keys | None:
        """Keys for a sequence, still to be added, that has the tokens of `parent_id` so far."""
        return self._of[parent_id].copy() if parent_id in self._of else None

    def add(self, seq_id: str, keys: Keys | None) -> None:
        """The sequence has begun; its `keys` grow with it."""
        if keys is not None:
            self._of[seq_id] = keys

    def extend(self, seq_id: str, token_id: int) -> None:
        """One more token of a sequence is known."""
        if seq_id in self._of:
            self._of[seq_id].extend([token_id])

    def keep(self, alive: Container[str]) -> None:
        """Drop all sequences but those `alive`."""
        self._of = {seq_id: keys for seq_id, keys in self._of.items() if seq_id in alive}

    def drop(self, seq_id: str) -> None:
        """The sequence has ended."""
        self._of.pop(seq_id, None)


def known(keys: Keys | None) -> list | tuple[()]:
    """The keys as a scheduler takes them: a list that grows, or none at all."""
    return () if keys is None else keys.keys
