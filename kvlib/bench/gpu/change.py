"""What a row changes of the defaults."""

from typing import NamedTuple

from kvlib.attention.triton.tiles import Tiles


class Change(NamedTuple):
    """name: stands in the id of the row, empty for the defaults.

    rows, tokens, num_warps, num_stages, num_splits: of the decode kernel, in place of what it would choose. packed: the
    heads of a KV group share a program. shuffled: blocks lie in random order, else in that of the tokens. odd_stride:
    tokens in the cache are one number further apart, so that no address is known to be a multiple of 16 bytes.
    wide_ids: block tables and lengths are int64, else int32.
    """

    name: str = ""
    rows: int | None = None
    tokens: int | None = None
    num_warps: int | None = None
    num_stages: int | None = None
    num_splits: int | None = None
    packed: bool = True
    shuffled: bool = True
    odd_stride: bool = False
    wide_ids: bool = False

    def applied(self, tiles: Tiles) -> Tiles:
        """`tiles` with what this change says."""
        return Tiles(*(theirs if mine is None else mine for mine, theirs in zip(self[1:5], tiles)))


NOTHING = Change()
