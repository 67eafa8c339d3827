"""How long the answers to a prompt can become here."""

from kvlib.engine.prompts import Prompt
from kvlib.errors import RequestTooLarge
from kvlib.memory import BlockManager


def room_for(prompt: Prompt, num_sequences: int, manager: BlockManager, max_num_seqs: int, context_length: int) -> int:
    """Tokens that each of `num_sequences` answers can have until the pool or the context, in tokens, is full.

    The answers share the full blocks of the prompt. Raises RequestTooLarge, naming the prompt, if there is no room
    for one token, or so many sequences may not run at once.
    """
    num_tokens = len(prompt.token_ids)
    if num_sequences > max_num_seqs:
        raise RequestTooLarge(
            f"{prompt.name} wants {num_sequences} sequences, which run together, and max_num_seqs is {max_num_seqs}; "
            "ask for fewer or raise it"
        )
    try:
        manager.check_fits(num_tokens, num_sequences, num_tokens)
    except RequestTooLarge as error:
        if num_sequences == 1:
            raise RequestTooLarge(f"{prompt.name} is too long for the pool: {error}") from None
        raise RequestTooLarge(
            f"{prompt.name} does not fit the pool {num_sequences} times, each text with a last block of its own: "
            f"{error}; or ask for fewer answers or beams"
        ) from None
    num_shared = num_tokens // manager.block_size if num_sequences > 1 else 0
    blocks_each = (manager.pool.num_blocks - num_shared) // num_sequences + num_shared
    return min(context_length, blocks_each * manager.block_size + 1) - num_tokens  # the last token needs no slot
