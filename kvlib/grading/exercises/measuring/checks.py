"""The checks of the lab *Set up and measure your machine*."""

from math import ceil, prod

from kvlib.chance import Chance
from kvlib.grading.exercise import Exercise, Exercises
from kvlib.grading.exercises.measuring.clock import TICK_S, timed
from kvlib.grading.exercises.sums import Case, sums


def _parameters(chance: Chance, number: int) -> Case:
    kv_heads, group, head_size = 1 + chance.below(4), 2 + chance.below(4), 32 * (1 + chance.below(4))
    hidden, kv_width = kv_heads * group * head_size, kv_heads * head_size
    inner, vocab, layers = hidden + 64 * (1 + chance.below(20)), 1000 + chance.below(9000), 2 + chance.below(30)
    square, narrow, wide = (hidden, hidden), (kv_width, hidden), (inner, hidden)
    layer = [square, narrow, narrow, square, wide, wide, wide, (hidden,), (hidden,)]
    table = vocab * hidden
    right = layers * sum(map(prod, layer)) + table + hidden
    config = {
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": kv_heads * group,
        "num_key_value_heads": kv_heads,
        "intermediate_size": inner,
        "vocab_size": vocab,
    }
    mistakes = {
        "The embeddings are counted twice. The same table makes a vector of a token and scores of the last vector.": (
            right + table
        ),
        "Keys and values are as wide as queries there, and have fewer heads: each of the two matrices has as many rows "
        "as all KV heads together have numbers.": right + 2 * layers * (hidden - kv_width) * hidden,
        "The MLP of a layer has three matrices: gate, up and down.": right - layers * inner * hidden,
        "Attention has four matrices: one for queries, keys and values each, and one for its output.": (
            right - layers * hidden * hidden
        ),
        "The norms are left out: two in each layer, and one behind the last.": right - (2 * layers + 1) * hidden,
        "The last norm is left out, which stands behind all layers.": right - hidden,
        "The embeddings are left out: a row for each token of the vocabulary.": right - table,
        "The embeddings are counted in each layer; the model has one table.": right + (layers - 1) * table,
    }
    return Case({"config": config}, right, mistakes)


def _step(chance: Chance, number: int) -> Case:
    weights, token = 10**6 * (50 + chance.below(900)), 512 * (1 + chance.below(200))
    contexts = [1 + chance.below(4000) for _ in range(2 + chance.below(9))]
    right = weights + token * sum(contexts)
    mistakes = {
        "The weights are counted once for each sequence. One pass reads them once, for all.": (
            right + (len(contexts) - 1) * weights
        ),
        "Every sequence is counted with the longest context. Each reads its own tokens only.": (
            weights + token * len(contexts) * max(contexts)
        ),
        "The cache of one sequence is counted, and each has its own.": weights + token * contexts[0],
        "That is the cache of the longest sequence, and each has its own.": weights + token * max(contexts),
        "The weights are left out.": right - weights,
        "The cache is left out.": weights,
        "token_bytes has both keys and values already.": right + token * sum(contexts),
    }
    return Case({"weight_bytes": weights, "token_bytes": token, "context_lens": contexts}, right, mistakes)


def _bandwidth(chance: Chance, number: int) -> Case:
    size = 2**20 * (64 + chance.below(500))
    seconds = [TICK_S * (2 + chance.below(30)) for _ in range(5)]
    seconds.insert(chance.below(4), TICK_S * (200 + chance.below(900)))
    least, ordered = min(seconds), sorted(seconds)
    rates = [size / each / 1e9 for each in seconds]
    mistakes = {
        "That is with the mean of the seconds: one run that was disturbed moves it.": size / (sum(seconds) / 6) / 1e9,
        "That is the mean of the rates, and most runs were disturbed.": sum(rates) / 6,
        "That is with the median: it is how fast a run usually is, not how fast the memory can be.": (
            size / ((ordered[2] + ordered[3]) / 2) / 1e9
        ),
        "That is the slowest run.": min(rates),
        "That is all runs together; num_bytes are those of one.": size / sum(seconds) / 1e9,
        "A GB of 2**30 bytes is a GiB. Rates are in GB, of 10**9.": size / least / 2**30,
        "That is bytes a second. A GB is 10**9 of them.": size / least,
        "That is upside down: seconds for a GB.": least / size * 1e9,
    }
    return Case({"num_bytes": size, "seconds": seconds}, float(max(rates)), mistakes)


def _ceiling(chance: Chance, number: int) -> Case:
    gbps, seqs, context = 10.0 + chance.below(3000), 2 + chance.below(63), 64 * (1 + chance.below(60))
    weights, token = 10**8 * (1 + chance.below(300)), 1024 * (8 + chance.below(800))
    cache = seqs * context * token
    rate = 1e9 * gbps
    mistakes = {
        "That is steps a second. Each step gives every sequence a token.": rate / (weights + cache),
        "The weights are counted once for each sequence: they are read once a step.": seqs
        * rate
        / (seqs * weights + cache),
        "The cache is counted once, and each sequence has its own.": seqs * rate / (weights + context * token),
        "The cache is left out.": seqs * rate / weights,
        "The weights are left out.": seqs * rate / cache,
        "A GB/s is 10**9 bytes a second, not 2**30.": seqs * gbps * 2**30 / (weights + cache),
        "A GB/s is 10**9 bytes a second.": seqs * gbps / (weights + cache),
        "That is upside down: seconds for a token.": (weights + cache) / rate / seqs,
    }
    arguments = {"gbps": gbps, "weight_bytes": weights, "token_bytes": token, "num_seqs": seqs, "context_len": context}
    return Case(arguments, seqs * rate / (weights + cache), mistakes)


def _even(chance: Chance, number: int) -> Case:
    token, context, whole = 1024 * (1 + chance.below(200)), 100 * (1 + chance.below(40)), 1 + chance.below(300)
    weights = whole * token * context - number % 2 * (1 + chance.below(token * context - 1))
    sequences = weights / (token * context)
    mistakes = {
        "Sequences are whole, and with one fewer than needed the weights are still more: round up.": int(sequences),
        "Where both are equal already, none is missing.": int(sequences) + 1,
        "That is the number of tokens. Each sequence has context_len of them.": ceil(weights / token),
    }
    return Case({"weight_bytes": weights, "token_bytes": token, "context_len": context}, whole, mistakes)


EXERCISES = Exercises(
    {
        "parameters": Exercise(
            sums("the parameters of every matrix and norm are counted once", _parameters),
            "Four matrices of attention, three of the MLP, norms, and one table of embeddings.",
        ),
        "step": Exercise(
            sums("a step reads the weights once, and of each sequence its own tokens", _step),
            "The weights once, and of each sequence its own tokens.",
        ),
        "timed": Exercise(timed, "One run that warms up, then each run by itself."),
        "bandwidth": Exercise(
            sums("the bandwidth is that of the fastest run", _bandwidth),
            "The fastest run, whatever disturbs the others.",
        ),
        "ceiling": Exercise(
            sums("a step takes no less time than its bytes, and gives each sequence a token", _ceiling),
            "A token for each sequence, in the time of the weights and all caches.",
        ),
        "even": Exercise(
            sums("the smallest batch whose caches are as many bytes as the weights", _even),
            "The smallest batch whose caches take as long as the weights.",
        ),
    }
)
check, observe = EXERCISES.check, EXERCISES.observe
