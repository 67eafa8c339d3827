"""Public traces as workloads, read as they are consumed: Azure's, Mooncake's, and lists of two lengths.

Each call checks that the file is there and how it begins. Everything else is checked when its line is reached, in
the middle of a simulation if need be: BadInput names the file, the line, its text and what was expected. Time may stand
still and may not run backwards; a prompt or an output of no tokens is refused.
"""

import json
import math
import os
from datetime import UTC, datetime, timedelta

from kvlib.serving.lines import Line, cut, read_lines
from kvlib.serving.workload import Arrival

TYPE_CHECKING = False  # a browser's small Python has no collections.abc, and evaluates no annotation
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Path = str | os.PathLike[str]
    Timed = tuple[Line, float, int, int, tuple[int, ...]]  # the time in microseconds, from any start

AZURE = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
MOONCAKE = ("timestamp", "input_length", "output_length", "hash_ids")
PAIRS = (("input_tokens", "output_tokens"), ("num_prefill_tokens", "num_decode_tokens"))

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
LATEST_MS = 10**15


def azure(path: "Path") -> "Iterator[Arrival]":
    """The Azure LLM inference traces: CSV with the columns TIMESTAMP, ContextTokens, GeneratedTokens.

    A time such as 2023-11-16 18:15:46.6805900, of which microseconds count; without a zone it is UTC. `time_s` is
    from the first row. Source: Azure/AzurePublicDataset (CC-BY 4.0); Patel et al., Splitwise, ISCA 2024.
    """
    rows = _table(path, AZURE)
    return _from_first(
        (line, _microseconds(line, stamp), line.count(AZURE[1], context), line.count(AZURE[2], generated), ())
        for line, (stamp, context, generated) in rows
    )


def mooncake(path: "Path") -> "Iterator[Arrival]":
    """The Mooncake traces: a JSON object a line with timestamp (ms), input_length, output_length, hash_ids.

    `time_s` is from the first row, `block_ids` are the hash_ids: one for each 512 tokens of the prompt, the last
    perhaps in part. Source: kvcache-ai/Mooncake (Apache-2.0); Qin et al., Mooncake, FAST 2025.
    """
    _mooncake_row(next(read_lines(path)))
    return _from_first(_mooncake_row(line) for line in read_lines(path))


def pairs(path: "Path") -> "Iterator[tuple[int, int]]":
    """(num_prompt_tokens, num_output_tokens) of a CSV whose header has input_tokens and output_tokens, or
    num_prefill_tokens and num_decode_tokens; other columns are passed over."""
    rows = _table(path, *PAIRS)
    return ((line.count("the prompt", given), line.count("the output", written)) for line, (given, written) in rows)


def _table(path: "Path", *headers: tuple[str, ...]) -> "Iterator[tuple[Line, list[str]]]":
    first = next(read_lines(path))
    names = first.cells()
    for header in headers:
        if set(header) <= set(names):
            return _rows(path, names, [names.index(name) for name in header])
    expected = " or ".join(", ".join(header) for header in headers)
    raise first.fault(f"a column is missing; expected a header with {expected}")


def _rows(path: "Path", names: list[str], places: list[int]) -> "Iterator[tuple[Line, list[str]]]":
    for line in read_lines(path, skip=1):
        cells = line.cells()
        if len(cells) != len(names):
            raise line.fault(f"{len(cells)} values; expected {len(names)}: {cut(', '.join(names))}")
        yield line, [cells[place] for place in places]


def _mooncake_row(line: Line) -> "Timed":
    try:
        row = json.loads(line.text)
    except (ValueError, RecursionError):
        raise line.fault("not JSON; expected one object a line") from None
    if not isinstance(row, dict) or not set(MOONCAKE) <= set(row):
        raise line.fault(f"expected a JSON object with {', '.join(MOONCAKE)}")
    stamp, given, written, ids = (row[name] for name in MOONCAKE)
    if type(stamp) not in (int, float) or not 0 <= stamp < LATEST_MS:
        raise line.fault(f"timestamp is {cut(repr(stamp))}; expected milliseconds, a number of 0 or more")
    if not isinstance(ids, list) or not all(type(block) is int for block in ids):
        raise line.fault(f"hash_ids is {cut(repr(ids))}; expected a list of whole numbers")
    return line, stamp * 1000, line.count("input_length", given), line.count("output_length", written), tuple(ids)


def _microseconds(line: Line, stamp: str) -> int:
    try:
        time = datetime.fromisoformat(stamp)
    except ValueError:
        raise line.fault(f"TIMESTAMP is {cut(stamp)!r}; expected one such as 2023-11-16 18:15:46.6805900") from None
    return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH) // MICROSECOND


def _from_first(rows: "Iterable[Timed]") -> "Iterator[Arrival]":
    start, last = None, -math.inf
    for line, time, num_prompt_tokens, num_output_tokens, block_ids in rows:
        if start is None:
            start = time
        if time < last:
            raise line.fault(f"time runs backwards, by {(last - time) / 1e6} s; expected rows in order of time")
        last = time
        yield Arrival((time - start) / 1e6, num_prompt_tokens, num_output_tokens, block_ids)
