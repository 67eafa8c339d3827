"""A model that is small enough to be drawn anew for each seed."""

import torch

from kvlib.chance import Chance
from kvlib.models import Llama
from kvlib.models.config import LlamaConfig
from kvlib.models.linear import TorchLinear
from kvlib.models.weights import LayerWeights, Weights


def tiny_llama(chance: Chance) -> Llama:
    """Two layers with weights drawn by `chance`; 4 query heads on 2 KV heads."""
    config = LlamaConfig(
        num_layers=2,
        hidden_size=32,
        intermediate_size=48,
        num_heads=4,
        num_kv_heads=2,
        head_size=8,
        vocab_size=97,
        context_length=128,
        rms_norm_eps=1e-5,
        rope_theta=10_000.0,
    )
    generator = torch.Generator().manual_seed(chance.bits() >> 1)

    def matrix(outputs: int, inputs: int) -> TorchLinear:
        return TorchLinear(torch.randn(outputs, inputs, generator=generator) / inputs**0.5)

    def layer() -> LayerWeights:
        hidden, inner, q_size, kv_size = 32, 48, 4 * 8, 2 * 8
        return LayerWeights(
            attention_norm=torch.ones(hidden),
            query=matrix(q_size, hidden),
            key=matrix(kv_size, hidden),
            value=matrix(kv_size, hidden),
            output=matrix(hidden, q_size),
            mlp_norm=torch.ones(hidden),
            gate=matrix(inner, hidden),
            up=matrix(inner, hidden),
            down=matrix(hidden, inner),
            head_norms=None,
        )

    embedding = torch.randn(config.vocab_size, config.hidden_size, generator=generator)
    return Llama(config, Weights(embedding, [layer(), layer()], torch.ones(32), TorchLinear(embedding)))
