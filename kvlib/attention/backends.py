"""One call, `attend`, and the table of backends that answer it; all keep the same contract."""

from collections.abc import Callable

from torch import Tensor

from kvlib.attention.batch import Batch
from kvlib.attention.cache import check_caches, check_dtype, check_tensors
from kvlib.attention.gather import gather
from kvlib.attention.native import native
from kvlib.attention.paged import paged
from kvlib.attention.quantised import Scale, read_scale, shaped_scale
from kvlib.attention.reference import dense
from kvlib.attention.scoring import Scoring, check_scoring
from kvlib.errors import BadInput

Backend = Callable[[Tensor, Tensor, Tensor, Batch, Scoring], Tensor]


def folded(backend: Backend) -> Backend:
    """`backend`, which sees only codes, for quantised caches: the scales are folded into query and output.

    A scale is one factor on all of a head's scores, or on all of its output: no stored number is multiplied.
    """

    def attention(query: Tensor, key_cache: Tensor, value_cache: Tensor, batch: Batch, scoring: Scoring) -> Tensor:
        if scoring.k_scale is None or scoring.v_scale is None:
            return backend(query, key_cache, value_cache, batch, scoring)
        scaled = _per_head(query, scoring.k_scale)
        output = backend(scaled, key_cache, value_cache, batch, scoring._replace(k_scale=None, v_scale=None))
        return _per_head(output, scoring.v_scale).to(query.dtype)

    return attention


def triton(query: Tensor, key_cache: Tensor, value_cache: Tensor, batch: Batch, scoring: Scoring) -> Tensor:
    """Attention by Triton kernels; see `kvlib.attention.triton`, which is imported here and not before."""
    from kvlib.attention.triton.step import attend_step

    return attend_step(query, key_cache, value_cache, batch, scoring)


BACKENDS: dict[str, Backend] = {
    "dense": folded(dense),
    "gather": folded(gather),
    "paged": folded(paged),
    "native": folded(native),
    "triton": triton,
}


def attend(
    query: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    *,
    block_tables: Tensor,
    context_lens: Tensor,
    query_start_loc: Tensor,
    scale: float,
    window: int | None = None,
    softcap: float | None = None,
    backend: str = "gather",
    k_scale: Scale = None,
    v_scale: Scale = None,
) -> Tensor:
    """Causal attention of new tokens over the paged context of their own sequences.

    query [num_tokens, num_heads, head_size], any strides: the new tokens of all sequences, one sequence
        after another. Their keys and values are in the cache already.
    key_cache, value_cache [num_blocks, block_size, num_kv_heads, head_size], any strides, both of one dtype; block 0
        is the null block. Query head h reads KV head h // (num_heads // num_kv_heads). float16, bfloat16, float32 or
        float64, and then query has the same; or quantised, float8_e4m3fn or int8, beside a query of any of the four.
    block_tables [num_seqs, max_blocks] int32 or int64: entry b of row s is the physical block that holds tokens
        b * block_size and following of sequence s; entries past the context may hold anything.
    context_lens [num_seqs]: tokens of each sequence in the cache, the new ones included; 0 gives zero rows.
    query_start_loc [num_seqs + 1]: sequence s owns rows query_start_loc[s] to query_start_loc[s + 1] of query, and
        its row i stands at position context_len - query_len + i.
    scale: the factor on query times key, above 0 and finite, head_size ** -0.5 in most models.
    window, softcap: see `kvlib.attention.scoring.Scoring`; None for neither, which is all that "native" knows, and
        "gather" has no soft cap.
    backend: "dense", "gather", "paged"; "native" for float32 on a CPU with a C compiler; "triton" for float16, bfloat16
        and float32 on an NVIDIA GPU or in Triton's interpreter.
    k_scale, v_scale: float32 [num_kv_heads], or one number for all heads, above 0; for quantised caches, and only for
        them. The keys are key_cache times the k_scale of their KV head, the values value_cache times its v_scale.

    Returns [num_tokens, num_heads, head_size] in the dtype of query. One call serves prompts, chunks of
    prompts, decode rows and any mix of them. No input is changed, and what lies in slots outside the contexts,
    NaN included, never reaches the output. Raises BadInput when an argument does not fit the above.

    A model calls this once a layer with the same tables: build a `Batch` once a step and call `attend_batch`.
    """
    check_caches(key_cache, value_cache)
    k_scale, v_scale = read_scale("k_scale", k_scale, key_cache), read_scale("v_scale", v_scale, value_cache)
    batch = Batch(block_tables, context_lens, query_start_loc, block_size=key_cache.shape[1])
    return attend_batch(
        query,
        key_cache,
        value_cache,
        batch,
        scale=scale,
        window=window,
        softcap=softcap,
        backend=backend,
        k_scale=k_scale,
        v_scale=v_scale,
    )


def attend_batch(
    query: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    batch: Batch,
    *,
    scale: float,
    window: int | None = None,
    softcap: float | None = None,
    backend: str = "gather",
    k_scale: Scale = None,
    v_scale: Scale = None,
) -> Tensor:
    """`attend` for one layer of a step whose tables are checked already; what is left to check is cheap.

    The numbers in k_scale and v_scale are not looked at, for which a GPU would be waited for.
    """
    if backend not in list(BACKENDS):
        raise BadInput(f"backend is {backend!r}; known backends: {', '.join(BACKENDS)}")
    if not isinstance(batch, Batch):
        raise BadInput(f"batch is of type {type(batch).__name__}; give a Batch")
    check_scoring(Scoring(scale, window, softcap))
    check_tensors(query=query)
    check_caches(key_cache, value_cache)
    num_blocks, block_size, num_kv_heads, head_size = key_cache.shape
    if query.dim() != 3 or query.shape[0] != batch.num_tokens or query.shape[2] != head_size:
        raise BadInput(
            f"query has shape {list(query.shape)}; expected [{batch.num_tokens}, num_heads, {head_size}]: the rows "
            "that query_start_loc ends with, and the head size of key_cache"
        )
    if query.shape[1] == 0 or query.shape[1] % num_kv_heads:
        raise BadInput(
            f"query has {query.shape[1]} heads and key_cache has {num_kv_heads}; expected a multiple of "
            f"{num_kv_heads}, as each KV head serves the same number of query heads"
        )
    check_dtype("query", query, key_cache)
    key_scale = shaped_scale("k_scale", k_scale, key_cache)
    value_scale = shaped_scale("v_scale", v_scale, value_cache)
    if batch.block_size != block_size:
        raise BadInput(
            f"key_cache has blocks of {block_size} tokens, but the batch was built for blocks of "
            f"{batch.block_size}; build it with block_size={block_size}"
        )
    batch.check_blocks(num_blocks)
    scoring = Scoring(float(scale), window, softcap, key_scale, value_scale)
    return BACKENDS[backend](query, key_cache, value_cache, batch, scoring)


def _per_head(x: Tensor, scale: Tensor) -> Tensor:
    """x [T, num_heads, head_size] times the scale of the KV head that each query head reads; scale [num_kv_heads].

    The result is float32, or float64 where x is.
    """
    return (x.unflatten(1, (len(scale), -1)) * scale[:, None, None]).flatten(1, 2)
