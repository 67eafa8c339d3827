"""What a cache costs in quality: how well the model foretells a text whose keys and values passed through it.

Perplexity is exp of the mean negative log-likelihood of a token given all before it: among so many equally likely
tokens, a guess would be as hard. Defined as in Jelinek et al. 1977, "Perplexity, a measure of the difficulty of speech
recognition tasks".
"""

import math
from collections.abc import Sequence
from importlib import resources

import torch
import torch.nn.functional as F

from kvlib.attention import Batch, new_cache
from kvlib.attention.quantised import Scale
from kvlib.checks import whole
from kvlib.engine.prompts import read_prompt
from kvlib.errors import BadInput
from kvlib.models.attending import PagedAttention
from kvlib.models.model import Model

CHUNK = 256  # tokens a pass: the logits of 256 rows take 50 MB for a vocabulary of 50,000


def sample_text() -> str:
    """data/text.txt: an essay of 1,300 words, this project's own, so that no model knows it by heart."""
    return resources.files("kvlib.data").joinpath("text.txt").read_text(encoding="utf-8")


@torch.inference_mode()
def perplexity(
    model: Model,
    text: str | list[int],
    *,
    dtype: torch.dtype | None = None,
    scales: Sequence[tuple[Scale, Scale]] | None = None,
    attention_backend: str = "gather",
    block_size: int = 16,
) -> float:
    """The perplexity of `text`, a text or token ids, through a paged cache of `dtype`, or of the model's own.

    Keys and values are written before they are read, so each token attends to what is stored, its own included.
    `scales` as `kvlib.attention.new_cache` takes them, those of `kv_scales(model, dtype)` for instance. Raises BadInput
    for a text of one token, and what read_prompt, new_cache and attend raise.
    """
    whole("block_size", block_size)
    config, device = model.decoder.config, model.decoder.device
    token_ids = torch.tensor(read_prompt(text, model, "the text").token_ids, device=device)  # [T + 1]
    given, following = token_ids[:-1], token_ids[1:]  # [T] each
    if len(given) == 0:
        raise BadInput("the text is one token, with none before it to foretell it from; give at least two")
    num_blocks = -(-len(given) // block_size)
    shape = (config.num_layers, num_blocks, block_size, config.num_kv_heads, config.head_size)
    caches = new_cache(*shape, dtype or model.decoder.dtype, device, scales=scales)
    block_tables = torch.arange(1, num_blocks + 1)[None]  # [1, num_blocks]: one after another, after the null block
    surprise = 0.0
    for positions in torch.arange(len(given)).split(CHUNK):  # [C]
        context_lens, query_start_loc = positions[-1:] + 1, torch.tensor([0, len(positions)])
        batch = Batch(block_tables, context_lens, query_start_loc, block_size=block_size, device=device)
        attention = PagedAttention(caches, block_size + positions, batch, attention_backend)
        positions = positions.to(device)
        hidden = model.decoder.forward(given[positions], positions, attention)  # [C, hidden]
        logits = model.decoder.logits(hidden)  # [C, vocab]
        surprise += float(F.cross_entropy(logits, following[positions], reduction="sum"))
    return math.exp(surprise / len(following))
