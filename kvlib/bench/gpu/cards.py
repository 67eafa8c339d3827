"""What the data sheets of five GPUs promise, and what follows from it for a decode step. Nothing here is measured."""

from typing import NamedTuple

from kvlib.attention.triton.device import A100, B200, H100, L4, T4, Device


class Card(NamedTuple):
    """A GPU by its maker's data sheet.

    gigabytes: of its memory, of 10⁹ bytes. gbps: bandwidth of that memory, GB/s. tflops: fp16 arithmetic of its tensor
    cores without sparsity, 10¹² operations a second. sheet: where they are read.
    """

    device: Device
    gigabytes: int
    gbps: int
    tflops: float
    sheet: str

    @property
    def name(self) -> str:
        return self.device.name

    @property
    def balance(self) -> float:
        """Operations that it can do while it reads one byte. A kernel with fewer waits for the memory."""
        return 1000 * self.tflops / self.gbps

    def holds(self, num_bytes: float) -> bool:
        """Whether its memory is large enough, if there is nothing else in it."""
        return num_bytes <= 1e9 * self.gigabytes

    def floor_us(self, num_bytes: float) -> float:
        """Microseconds in which it cannot read less than `num_bytes`: the roofline of a kernel that only reads."""
        return floor_us(num_bytes, self.gbps)


def floor_us(num_bytes: float, gbps: float) -> float:
    """Microseconds of `num_bytes` at a rate of `gbps` GB/s. Williams, Waterman and Patterson, CACM 52(4), 2009."""
    return num_bytes / (1000 * gbps)


CARDS = (
    Card(T4, 16, 320, 65, "NVIDIA T4 data sheet; GB/s: NVIDIA T4 product brief, table 2"),
    Card(L4, 24, 300, 121, "NVIDIA L4 data sheet"),
    Card(A100, 40, 1555, 312, "NVIDIA A100 data sheet, A100 40GB"),
    Card(H100, 80, 3350, 989.5, "NVIDIA H100 data sheet, H100 SXM"),
    Card(B200, 180, 7700, 2250, "NVIDIA Blackwell data sheet, HGX B200"),
)
