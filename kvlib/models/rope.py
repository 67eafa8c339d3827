"""Rotary position embedding (Su et al., arXiv:2104.09864)."""

import math

import torch
from torch import Tensor

from kvlib.models.config import Llama3Scaling


def frequencies(head_size: int, theta: float, scaling: Llama3Scaling | None = None) -> Tensor:
    """How far each pair of a head turns from one position to the next, in radians, float32 [head_size / 2]."""
    half = torch.arange(0, head_size, 2, dtype=torch.float32) / head_size  # [head_size / 2]
    plain = 1.0 / theta**half  # [head_size / 2]
    return plain if scaling is None else _stretch(plain, scaling)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn x [T, heads, head_size], pairs half a head apart, by angles of these cos and sin [T, 1, head_size / 2]."""
    left, right = x.chunk(2, dim=-1)  # [T, heads, head_size / 2] each
    return torch.cat((left * cos - right * sin, right * cos + left * sin), dim=-1)  # [T, heads, head_size]


def _stretch(plain: Tensor, scaling: Llama3Scaling) -> Tensor:
    """Llama 3.1's scaling (apply_scaling in Meta's llama_models): pairs that turned less than `low_freq_factor` times
    within the original context turn `factor` times slower, those beyond `high_freq_factor` as before, and between
    the two the share of each grows evenly."""
    turns = scaling.original_context_length * plain / (2 * math.pi)  # [head_size / 2]
    low, high = scaling.low_freq_factor, scaling.high_freq_factor
    share = ((turns - low) / (high - low)).clamp(0, 1)  # [head_size / 2], of the plain frequency
    return share * plain + (1 - share) * plain / scaling.factor
