"""Laws of lengths by the name of `--lengths`; two of them are only for the comparison with the paper."""

from collections.abc import Callable, Iterator

from kvlib.bench.chat import chat
from kvlib.bench.translation import translation
from kvlib.serving.lengths import alpaca, sharegpt, sharegpt_first_turns

LENGTHS: dict[str, Callable[[int], Iterator[tuple[int, int]]]] = {
    "sharegpt": sharegpt,
    "sharegpt-r": sharegpt_first_turns,
    "alpaca": alpaca,
    "chat": chat,
    "translation": translation,
}
