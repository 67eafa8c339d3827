"""The numbers that fix a decoder's shapes and its arithmetic."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DecoderConfig:
    """Sizes of a decoder, and all that the engine asks of it.

    `context_length` counts tokens, prompt and answer together. `vocab_size` is the number of logits, of which the
    last may belong to no token.
    """

    num_layers: int
    hidden_size: int
    intermediate_size: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    vocab_size: int
    context_length: int


@dataclass(frozen=True)
class Llama3Scaling:
    """How Llama 3.1 stretches its rotary embedding beyond the `original_context_length` it was first trained on."""

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_context_length: int


@dataclass(frozen=True)
class LlamaConfig(DecoderConfig):
    """The Llama family: rotary positions, RMSNorm, a gated MLP.

    `qkv_bias` is Qwen2's, `qk_norm` (a norm on every head of queries and keys) is Qwen3's. `tied` lets one
    matrix stand for the embedding and the last matrix where the file has only one.
    """

    rms_norm_eps: float
    rope_theta: float
    rope_scaling: Llama3Scaling | None = None
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    qk_norm: bool = False
    tied: bool = True


@dataclass(frozen=True)
class LearnedConfig(DecoderConfig):
    """OPT and GPT-2: a learned vector for each position, LayerNorm, an MLP of two matrices.

    OPT's table of positions begins with `position_offset` rows that no position uses.
    """

    layer_norm_eps: float
    activation: str
    position_offset: int = 0
    bias: bool = True
    tied: bool = True
