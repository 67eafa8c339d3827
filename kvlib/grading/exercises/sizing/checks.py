"""The checks of the lab *Size it*: what a config.json says of a token, and what fits beside the weights."""

from math import ceil
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Exercise, Exercises
from kvlib.grading.exercises.sizing.plan import planned
from kvlib.grading.exercises.sums import Case, sums
from kvlib.sizing import GiB


def _heads(chance: Chance, number: int) -> Case:
    kv_heads, group = 2 + chance.below(15), 2 + chance.below(7)
    heads = kv_heads * group
    config = {"num_attention_heads": heads, "hidden_size": 64 * heads}
    if number % 3 == 0:
        queries = "Those are the query heads. What is stored are the heads of num_key_value_heads."
        return Case({"config": config | {"num_key_value_heads": kv_heads}}, kv_heads, {queries: heads})
    silent = "Where the field is absent or null nothing is shared: there are as many KV heads as query heads."
    field: dict[str, Any] = {} if number % 3 == 1 else {"num_key_value_heads": None}
    return Case({"config": config | field}, heads, {silent: 1})


def _size(chance: Chance, number: int) -> Case:
    heads, quotient = 8 * (1 + chance.below(8)), 16 * (2 + chance.below(7))
    kv_heads, named = heads // 4, quotient + 16 * (1 + chance.below(4))
    config = {"hidden_size": heads * quotient, "num_attention_heads": heads, "num_key_value_heads": kv_heads}
    if number % 3 == 0:
        overlooked = "The config names a head_dim, and it is not hidden_size divided among the heads."
        return Case({"config": config | {"head_dim": named}}, named, {overlooked: quotient})
    mistakes = {
        "hidden_size is divided among the query heads, not among the KV heads.": heads * quotient // kv_heads,
        "That is hidden_size, of all query heads together.": heads * quotient,
    }
    field: dict[str, Any] = {} if number % 3 == 1 else {"head_dim": None}
    return Case({"config": config | field}, quotient, mistakes)


def _flag(chance: Chance, number: int) -> Case:
    heads = 8 * (2 + chance.below(15))
    grouped = heads // 4
    overruled = "The number is overruled: multi_query is on, and the architecture is the old one."
    default = "A flag that is absent has a default: multi_query is on, new_decoder_architecture is off."
    ignored = "In the new architecture the number counts, and multi_query does not."
    unnamed = "Where no number is named there are as many KV heads as query heads."
    one = "multi_query is off, and the number counts."
    fields, right, mistakes = (
        ({"multi_query": True, "num_kv_heads": heads, "new_decoder_architecture": False}, 1, {overruled: heads}),
        ({"multi_query": True, "num_kv_heads": grouped, "new_decoder_architecture": True}, grouped, {ignored: 1}),
        ({"multi_query": False, "new_decoder_architecture": False}, heads, {unnamed: 1, one: 1}),
        ({"num_kv_heads": grouped}, 1, {default: grouped, overruled: grouped}),
        ({"num_kv_heads": grouped, "new_decoder_architecture": True}, grouped, {ignored: 1}),
        ({"multi_query": False, "num_kv_heads": heads}, heads, {one: 1}),
    )[number]
    return Case({"config": {"num_attention_heads": heads} | fields}, right, mistakes)


def _latent(chance: Chance, number: int) -> Case:
    heads, size = 8 * (1 + chance.below(16)), 16 * (2 + chance.below(7))
    latent, rope = 64 * (2 + chance.below(8)), 16 * (1 + chance.below(5))
    config = {"num_attention_heads": 2 * heads, "num_key_value_heads": heads}
    both = 2 * heads * size
    if number % 2:
        mistakes = {
            "Keys and values are both kept: two lists of numbers for each KV head.": both // 2,
            "That is one head, and there are num_kv_heads.": 2 * size,
        }
        return Case({"config": config, "num_kv_heads": heads, "head_size": size}, both, mistakes)
    fields = {"kv_lora_rank": latent, "qk_rope_head_dim": rope, "qk_nope_head_dim": size, "v_head_dim": size}
    mistakes = {
        "What is stored once is not doubled: keys and values both come out of the latent vector.": 2 * (latent + rope),
        "The latent vector is there once. Keys and values both come out of it.": 2 * latent + rope,
        "The rotary key of qk_rope_head_dim is left out; it is stored beside the latent vector.": latent,
        "The rotary key is one for all heads.": latent + heads * rope,
        "Where kv_lora_rank is named no head has a key or a value of its own.": both,
    }
    return Case({"config": config | fields, "num_kv_heads": heads, "head_size": size}, latent + rope, mistakes)


def _capacity(chance: Chance, number: int) -> Case:
    card, share = 16 + chance.below(160), (0.8, 0.85, 0.9, 0.95)[chance.below(4)]
    weight = (2 + chance.below(3 * card) / 4) / 2 if number else 2.0 * card
    token, block = 1024 * (8 + chance.below(200)), (16, 32, 64, 128)[chance.below(4)]
    context = block * (2 + chance.below(30)) + (1 + chance.below(block - 1)) * (number % 2)

    def fit(slots: int, cache: float = share * card * GiB - 1e9 * weight) -> int:
        return max(0, int(cache // (token * slots)))

    blocks = ceil(context / block)
    left_gib = share * card * GiB - 1e9 * weight
    mistakes = {
        "The card is in GiB, of 2**30 bytes.": fit(blocks * block, 1e9 * (share * card - weight)),
        "The weights are in GB, of 10**9 bytes.": fit(blocks * block, GiB * (share * card - weight)),
        "share is of the whole card; the weights come out of it.": fit(
            blocks * block, share * (card * GiB - 1e9 * weight)
        ),
        "share is left out: the engine may not take the whole card.": fit(blocks * block, card * GiB - 1e9 * weight),
        "The weights are left out.": fit(blocks * block, share * card * GiB),
        "A block that is begun is a whole block: round the tokens of a sequence up to blocks.": fit(context),
        "The last block is left out: round the blocks of a sequence up.": fit(context // block * block),
        "A context that ends with its block needs no further one.": fit((context // block + 1) * block),
        "Less than nothing is left, so no sequence fits: 0.": int(left_gib // (token * block)) // blocks,
    }
    arguments = {"card_gib": card, "share": share, "weight_gb": weight, "token_bytes": token}
    return Case(arguments | {"block_size": block, "context_len": context}, fit(blocks * block), mistakes)


EXERCISES = Exercises(
    {
        "heads": Exercise(
            sums("the heads that are stored are counted, not those that ask", _heads),
            "The heads that are kept, and all of them where none is named.",
        ),
        "size": Exercise(
            sums("the size of a head is its own field where there is one", _size),
            "A field of its own, and a division where there is none.",
        ),
        "flag": Exercise(
            sums("a flag overrules the number of KV heads", _flag),
            "A flag overrules a number, and another flag the first.",
        ),
        "latent": Exercise(
            sums("keys and values of each head, or one latent vector and one rotary key", _latent),
            "Keys and values of each head, or one latent vector and one rotary key.",
        ),
        "capacity": Exercise(
            sums("sequences of whole blocks that fit beside the weights", _capacity),
            "Whole blocks, beside the weights, in the engine's share of the card.",
        ),
        "plan": Exercise(planned, "Each service on a card that holds it, or on none."),
    }
)
check, observe = EXERCISES.check, EXERCISES.observe
