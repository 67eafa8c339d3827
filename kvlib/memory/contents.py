"""What a block holds, as keys are made from it: tokens, and whatever else decides their keys and values."""

import struct

from kvlib.errors import BadInput

TOKEN_BYTES = 4


def packed(token_ids: list[int]) -> bytes:
    """The tokens as four bytes each, the lowest first. Raises BadInput for one that is no id of 0 to 2**32 - 1."""
    try:
        return struct.pack(f"<{len(token_ids)}I", *token_ids)
    except (TypeError, struct.error, OverflowError) as error:
        shown = f"{token_ids!r:.80}"
        raise BadInput(f"the tokens {shown} cannot have keys ({error}); give a list of ids, 0 to 2**32 - 1") from None


def tagged(extra: dict[str, str | int | bytes]) -> tuple[tuple[str, str, str | int | bytes], ...]:
    """(name, kind, value) of each extra key by name, so that no other `extra` gives the same (vllm#44706)."""
    for name, value in extra.items():
        if type(value) not in (str, int, bytes):
            raise BadInput(f"{name} is {value!r}; a key holds texts, whole numbers and bytes")
    return tuple((name, type(extra[name]).__name__, extra[name]) for name in sorted(extra))
