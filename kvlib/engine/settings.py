"""An engine's settings, checked before anything is read or allocated."""

from dataclasses import dataclass, fields

import torch

from kvlib.attention import BACKENDS
from kvlib.checks import one_of, whole
from kvlib.errors import BadConfig
from kvlib.models.placement import DEVICES, DTYPES
from kvlib.serving.scheduler import PREEMPTIONS
from kvlib.shown import shown

PREFIX_CACHES = ("hash", "radix")
MOST_BITS = 256  # of a size: Python refuses to write ints of thousands of digits into a message
CACHE_DTYPES = {
    "auto": None,
    "float32": torch.float32,
    "fp8": torch.float8_e4m3fn,
    "fp8_e4m3": torch.float8_e4m3fn,
    "int8": torch.int8,
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What an engine is built with; names and meanings are vLLM's where vLLM has them. Raises BadConfig.

    ======================  ==========================================================================================
    block_size              tokens in a block
    num_blocks              blocks of the pool; a null block comes on top (vLLM: num_gpu_blocks_override)
    max_num_seqs            sequences that run at once, at most
    max_num_batched_tokens  tokens computed in a step, at most; without chunked prefill a longer prompt runs alone
    enable_chunked_prefill  whether a prompt is computed in pieces that fit beside the sequences that decode
    enable_prefix_caching   whether blocks stay findable by what they hold until they are handed out again
    prefix_cache            how they are found: "hash", a chain of hashes, or "radix", a tree of token runs
    preemption              what becomes of a request that yields: "recompute" or "swap"
    num_host_blocks         blocks of the second memory that "swap" moves them to
    kv_cache_dtype          "auto", the dtype of the weights; "fp8_e4m3" or "fp8"; "int8"
    attention_backend       one of kvlib.attention.BACKENDS; "auto" takes the fastest that device and cache allow
    linear                  form of the linear layers, one of kvlib.models.linear.FORMS; "auto" takes the fastest exact
    device                  of weights and cache: "cpu"; "cuda", torch's current GPU; "auto", that of a loaded model,
                            else a GPU if there is one
    dtype                   of the weights: on a GPU "float16", "bfloat16" (compute capability 8.0 and up) or "float32",
                            on the CPU "float32"; "auto" is float16 on a GPU
    ======================  ==========================================================================================
    """

    block_size: int = 16
    num_blocks: int = 256
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 2048
    enable_chunked_prefill: bool = False
    enable_prefix_caching: bool = True
    prefix_cache: str = "hash"
    preemption: str = "recompute"
    num_host_blocks: int = 0
    kv_cache_dtype: str = "auto"
    attention_backend: str = "auto"
    linear: str = "auto"
    device: str = "cpu"
    dtype: str = "auto"

    def __new__(cls, **given: object) -> "Settings":
        known = [field.name for field in fields(cls)]
        unknown = [name for name in given if name not in known]
        if unknown:
            raise BadConfig(f"unknown setting {', '.join(unknown)}; the known ones are {', '.join(known)}")
        return super().__new__(cls)

    def __post_init__(self) -> None:
        for name in ("block_size", "num_blocks", "max_num_seqs", "max_num_batched_tokens"):
            self._check_whole(name, 1)
        for name in ("enable_chunked_prefill", "enable_prefix_caching"):
            if not isinstance(getattr(self, name), bool):
                raise BadConfig(f"{name} is {shown(getattr(self, name))}; give True or False")
        one_of("device", self.device, DEVICES)
        one_of("dtype", self.dtype, ("auto", *DTYPES))
        one_of("prefix_cache", self.prefix_cache, PREFIX_CACHES)
        one_of("preemption", self.preemption, PREEMPTIONS)
        one_of("kv_cache_dtype", self.kv_cache_dtype, tuple(CACHE_DTYPES))
        one_of("attention_backend", self.attention_backend, ("auto", *BACKENDS))
        self._check_whole("num_host_blocks", 0)
        if (self.preemption == "swap") != (self.num_host_blocks > 0):
            raise BadConfig(
                f"preemption is {self.preemption!r} and num_host_blocks {self.num_host_blocks}; give blocks to swap "
                "to, 1 or more, with 'swap' and only with it"
            )
        if self.prefix_cache == "radix" and self.preemption == "swap":
            raise BadConfig("prefix_cache is 'radix', whose tree has no place for swapped blocks; take 'recompute'")

    def _check_whole(self, name: str, least: int) -> None:
        if whole(name, getattr(self, name), least).bit_length() > MOST_BITS:
            raise BadConfig(f"{name} is {shown(getattr(self, name))}, beyond any memory; give fewer")
