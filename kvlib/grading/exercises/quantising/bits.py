"""The bits of e4m3: what each kind of byte stands for, as torch reads it."""

from collections.abc import Iterator
from math import isnan
from typing import Any

import torch

from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, Wrong, check_callable
from kvlib.grading.exercises.quantising.numbers import said


def e4m3(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """`e4m3(byte)`: the number that a byte stands for."""
    check_callable(answer, "byte")
    every = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn).float().tolist()
    kinds = {
        "a byte with an exponent": range(0x08, 0x78),
        "the largest numbers": range(0x78, 0x7F),
        "a byte without an exponent": range(0x01, 0x08),
        "no number": (0x7F, 0xFF),
    }
    for law, among in kinds.items():
        drawn = [among[chance.below(len(among))] | chance.below(2) << 7 for _ in range(6)]
        numbers = [_one(answer(byte=byte)) for byte in drawn]
        right = [_one(every[byte]) for byte in drawn]
        yield Seen(f"{law} is read right", [drawn, numbers], _misread(drawn, numbers, right))
    zero = _one(answer(byte=0))
    yield Seen("all bits zero is zero", [zero, chance.below(99)], "" if zero == 0 else f"Byte 0 is read as {zero}.")


def _one(number: Any) -> float | str:
    try:
        return "nan" if isnan(number) else float(number)
    except TypeError:
        raise Wrong(f"It returns {said(number)}; expected a float.") from None


def _misread(drawn: list[int], numbers: list[Any], right: list[Any]) -> str:
    wrong = [each for each in zip(drawn, numbers, right) if each[1] != each[2]]
    if not wrong:
        return ""
    byte, number, good = wrong[0]
    where = f"Byte {byte:08b} is read as {number}"
    if good == "nan":
        return f"{where}. Four ones and three ones after the sign are no number: NaN."
    if isinstance(number, float) and number == -good:
        return f"{where}; its sign bit, the first, is {byte >> 7}."
    if number == "nan" or abs(number) == float("inf"):
        return f"{where}, and is {good:g}. Of the bytes with an exponent of fifteen only the last is lost, to NaN."
    if not byte & 0x78:
        return (
            f"{where}, and is {good:g}. Where the exponent bits are zero there is no leading one: fraction / 8, times "
            "two to the power of -6."
        )
    ratio = number / good
    if ratio in (0.5, 2.0):
        return f"{where}, and is {good:g}: the exponent is its four bits, less 7."
    return f"{where}, and is {good:g}: one and the fraction / 8, times two to the power of the exponent."
