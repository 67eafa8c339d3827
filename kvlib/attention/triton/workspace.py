"""Room for what the splits of a context hand to the combining kernel."""

import torch
from torch import Tensor

from kvlib.checks import whole
from kvlib.errors import BadInput


class Workspace:
    """float32 room for up to num_seqs sequences of num_heads heads in num_splits splits, allocated once.

    It keeps its address: a captured CUDA graph that was given it stays valid. One launch at a time may use it.
    """

    def __init__(
        self, num_seqs: int, num_heads: int, num_splits: int, head_size: int, device: torch.device | str
    ) -> None:
        sizes = {"num_seqs": num_seqs, "num_heads": num_heads, "num_splits": num_splits, "head_size": head_size}
        for name, size in sizes.items():
            whole(name, size, error=BadInput)
        self.numbers = torch.empty(num_seqs * num_heads * num_splits * (head_size + 1), device=device)

    def take(
        self, num_seqs: int, num_heads: int, num_splits: int, head_size: int, device: torch.device
    ) -> tuple[Tensor, Tensor]:
        """parts [num_seqs, num_heads, num_splits, head_size] and log_sums [num_seqs, num_heads, num_splits].

        Raises BadInput if they do not fit, or the room is on another device.
        """
        num_logs = num_seqs * num_heads * num_splits
        needed = num_logs * (head_size + 1)
        if needed > len(self.numbers) or device != self.numbers.device:
            raise BadInput(
                f"workspace holds {len(self.numbers)} numbers on {self.numbers.device}; {num_seqs} sequences of "
                f"{num_heads} heads of size {head_size} in {num_splits} splits take {needed} on {device}: make it for "
                "the most that may come"
            )
        parts = self.numbers[: num_logs * head_size].view(num_seqs, num_heads, num_splits, head_size)
        return parts, self.numbers[num_logs * head_size : needed].view(num_seqs, num_heads, num_splits)
