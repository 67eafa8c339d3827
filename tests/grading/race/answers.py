"""Answers to *Race the kernel*: those of the lab, and wrong ones, each with the words that its check must say."""

from math import ceil, floor
from pathlib import Path

import numpy

from kvlib.grading.lab import read
from kvlib.grading.race.changes import CHANGES

CELLS = read(Path(__file__).parents[3] / "labs" / "09-race-the-kernel.md")
NAMES = {"floor": "floor_us", "predict": "predicted", "fill": "num_splits", "launch": "least_context"}
RIGHT = {name: change.times for name, change in CHANGES.items()}


def answer(exercise, solved=True):
    """The answer of the lab, or its cell with nothing between the marks."""
    [source] = [cell.source for cell in CELLS if cell.role == "answer" and cell.exercise == exercise]
    if not solved:
        head, _, rest = source.partition("### BEGIN SOLUTION")
        source = head + "### " + rest.partition("### END SOLUTION")[2] + "\n    pass" * ("def " in source)
    names = {"ceil": ceil}
    exec(source, names)
    return names[NAMES[exercise]]


def most_at_work(num_programs, num_places, context_len):
    def idle(splits):
        return -splits * num_programs % num_places / (splits * num_programs)

    return min(range(1, max(1, context_len // 256) + 1), key=idle)


def counted_up(num_seqs, token_bytes, gbps, host_us):
    tokens = 1
    while tokens * num_seqs * token_bytes < host_us * gbps * 1000:
        tokens += 1
    return tokens


def without(place):
    def wrong(*sizes):
        return answer("floor")(*sizes[:place], 1, *sizes[place + 1 :])

    return wrong


def times(factor):
    return lambda *sizes: factor * answer("floor")(*sizes)


def then(cut):
    return lambda *sizes: cut(answer("floor")(*sizes))


def tokens(factor, cut=ceil):
    return lambda n, b, g, h: cut(factor(n, b, g, h) * 1000 * g * h / (n * b))


def up_to(cut):
    """The model answer where a context of `context_len` tokens may have cut(context_len / 256) splits."""

    def wrong(num_programs, num_places, context_len):
        return answer("fill")(num_programs, num_places, 256 * max(1, cut(context_len / 256)))

    return wrong


def silent(*step):
    raise NotImplementedError


FLOOR = "floor_us(num_seqs=1, context_len=1024, num_kv_heads=8, head_size=128, number_bytes=2, gbps=320)"
FILL = "num_splits(num_programs=8, num_places=80, context_len=4096)"
LAUNCH = "least_context(num_seqs=1, token_bytes=4096, gbps=320, host_us=9.0)"
UNIT = "a GB/s is 1,000 bytes a microsecond."

WRONG = {
    "floor": {
        "only keys": (times(0.5), "gives 6.554, which is with the keys or the values alone."),
        "milliseconds": (times(1e-3), f"gives 0.01311, which is in milliseconds: {UNIT}"),
        "seconds": (times(1e-6), f"which is in seconds: {UNIT}"),
        "nanoseconds": (times(1e3), f"which is in nanoseconds: {UNIT}"),
        "bits": (times(8), "gives 104.9, which is in bits: a byte has 8."),
        "binary GB": (times(1e9 / 2**30), "which is with a GB of 2**30 bytes: a data sheet's has 10**9."),
        "one request": (without(0), "gives 10.79, which is without num_seqs."),
        "one token": (without(1), "which is without context_len."),
        "one head": (without(2), "which is without num_kv_heads."),
        "one number": (without(3), "which is without head_size."),
        "numbers, not bytes": (without(4), "which is without number_bytes."),
        "only keys, in milliseconds": (
            times(0.5e-3),
            f"with the keys or the values alone and in milliseconds: {UNIT}",
        ),
        "one head, in seconds": (
            lambda *sizes: without(2)(*sizes) / 1e6,
            f"which is without num_kv_heads and in seconds: {UNIT}",
        ),
        "rounded to two digits": (then(lambda us: round(us, 2)), "is 13.1072 µs, and yours gives 13.11: do not round."),
        "rounded to whole ones": (then(round), "is 13.11 µs, and yours gives 13: do not round."),
        "cut": (then(floor), "and yours gives 13, which is cut to a whole number: divide with /."),
        "nearly": (times(1.00001), "is 13.1072 µs, and yours gives 13.107331."),
        "anything else": (lambda *sizes: 1.0, f"{FLOOR} is 13.11 µs, and yours gives 1."),
        "no number": (lambda *sizes: "13", f"{FLOOR} is '13'; give a number."),
        "nothing": (lambda *sizes: None, f"{FLOOR} is None; give a number."),
        "an error": (lambda *sizes: 1 / 0, f"It raises ZeroDivisionError: division by zero, for {FLOOR}."),
        "more than a float": (lambda *sizes: 10**400, "and yours gives inf."),
    },
    "predict": {
        "nothing yet": ({}, "Nothing is predicted for '128 requests'."),
        "the dots": (dict.fromkeys(RIGHT, ...), "Nothing is predicted for '128 requests'."),
        "a key with another comma": (
            {name.replace(",", ""): value for name, value in RIGHT.items()},
            "Nothing is predicted for 'contexts of 1,024'; 'contexts of 1024' is not in the table.",
        ),
        "in words": ({**RIGHT, "blocks of 64": "same"}, "'blocks of 64' is 'same'; predict a number"),
        "blocks": ({**RIGHT, "blocks of 64": 0.25}, "5 of 6 are right. blocks of 64: not 0.25 times, but 1: the same"),
        "query heads": ({**RIGHT, "64 query heads": 2}, "64 query heads: not 2 times, but 1: eight heads share"),
        "KV heads": ({**RIGHT, "32 KV heads": 1}, "32 KV heads: not 1 times, but 4: four times as many"),
        "e4m3": ({**RIGHT, "an e4m3 cache": 1}, "an e4m3 cache: not 1 times, but 0.5: a number has one byte"),
        "all of them": (dict.fromkeys(RIGHT, 7.5) | {"32 KV heads": 3}, "None of 6 is right. 128 requests: not 7.5"),
        "one right": (dict.fromkeys(RIGHT, 7.5) | {"32 KV heads": 4}, "1 of 6 is right. 128 requests: not 7.5"),
        "upside down": ({name: 1 / value for name, value in RIGHT.items()}, "All are upside down: 2 stands for twice"),
        "microseconds": (
            {name: round(690.5 * value) for name, value in RIGHT.items()},
            "All are 690.5 times too large: predict a factor, 1 for the same time, and not a time.",
        ),
        "a list": ([2, 0.25], "predicted is [2, 0.25]; it is a dict"),
    },
    "fill": {
        "no splits": (
            lambda *step: 1,
            f"{FILL} is 1: 10 % of the places are at work; 100 % can be, and nine tenths of that are 90 %.",
        ),
        "as many as may be": (lambda p, q, n: max(1, n // 256), "is 16: 80 % of the places are at work"),
        "too short": (lambda p, q, n: n, f"{FILL} is 4096, splits of 1 tokens; they have 256 at least, or there is"),
        "limit rounded up": (up_to(ceil), "context_len=2000) is 8, splits of 250 tokens; they have 256 at least"),
        "limit rounded": (up_to(round), "context_len=2000) is 8, splits of 250 tokens; they have 256 at least"),
        "a float": (lambda p, q, n: q / p, f"{FILL} is 10.0, which is whole, and no int: wrap it in int()."),
        "no whole number": (lambda p, q, n: 1.5, f"{FILL} is 1.5; give a whole number, 1 at least."),
        "none": (lambda *step: 0, f"{FILL} is 0; give a whole number, 1 at least."),
        "a short context": (
            lambda p, q, n: answer("fill")(p, q, n) if n >= 256 else max([]),
            "It raises ValueError: max() arg is an empty sequence, for "
            "num_splits(num_programs=1024, num_places=660, context_len=200).",
        ),
        "an error": (lambda p, q: 1, "It raises TypeError"),
        "an error without words": (silent, f"It raises NotImplementedError, for {FILL}."),
    },
    "launch": {
        "rounded down": (tokens(lambda *case: 1, int), f"{LAUNCH} is 703, read in 8.998 µs: too few."),
        "one more than rounded down": (
            lambda n, b, g, h: int(1000 * g * h / (n * b)) + 1,
            "is 2001, and 2000 take 8 µs: enough already.",
        ),
        "not rounded": (tokens(lambda *case: 1, float), f"{LAUNCH} is 703.125; tokens are whole: round up, to an int."),
        "NumPy's": (tokens(lambda *case: 1, numpy.ceil), "(704.0), which is whole, and no int: wrap it in int()."),
        "one too many": (lambda *case: counted_up(*case) + 1, "is 705, and 704 take 9.011 µs: enough already."),
        "of all requests": (tokens(lambda n, b, g, h: n), "enough already, which is without num_seqs."),
        "no bytes": (tokens(lambda n, b, g, h: b), "enough already, which is without token_bytes."),
        "no time": (tokens(lambda n, b, g, h: 1 / h), "too few, which is without host_us."),
        "a thousandth": (tokens(lambda *case: 1e-3), f"too few, which is a thousand times too few: {UNIT}"),
        "a millionth": (tokens(lambda *case: 1e-6), f"too few. None of yours is above 1: {UNIT}"),
        "thousandfold": (tokens(lambda *case: 1e3), f"enough already, which is a thousand times too many: {UNIT}"),
        "a millionfold": (tokens(lambda *case: 1e6), f"enough already, which is a million times too many: {UNIT}"),
        "binary GB": (
            tokens(lambda *case: 2**30 / 1e9),
            "which is with a GB of 2**30 bytes: a data sheet's has 10**9.",
        ),
        "bits": (tokens(lambda *case: 1 / 8), "which is with bits for bytes: a byte has 8."),
        "keys twice": (tokens(lambda *case: 1 / 2), "too few, which is half: token_bytes has both keys and values."),
        "of all requests, in bits": (
            tokens(lambda n, b, g, h: n / 8),
            "which is without num_seqs and with bits for bytes: a byte has 8.",
        ),
        "an error": (lambda *case: [][0], f"It raises IndexError: list index out of range, for {LAUNCH}."),
        "nothing": (lambda *case: None, f"{LAUNCH} is None; give a number."),
        "more than a float": (lambda *case: 10**400, "; no device holds so many."),
        "infinite": (lambda *case: float("inf"), f"{LAUNCH} is inf; tokens are whole"),
    },
}
