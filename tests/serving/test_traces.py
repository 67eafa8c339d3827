import gzip
import json
import math
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvlib.errors import BadInput
from kvlib.serving.traces import azure, mooncake, pairs
from kvlib.serving.workload import Arrival

AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens\r
2023-11-16 18:15:46.5000000,350,44\r
2023-11-16 18:15:46.5000000,410,109\r
2023-11-16 18:15:51.2224670,900,55"""
MOONCAKE = """{"timestamp": 27000, "input_length": 1030, "output_length": 52, "hash_ids": [0, 1, 2]}
{"timestamp": 27500, "input_length": 512, "output_length": 1, "hash_ids": [0]}
"""
PAIRS = "input_tokens,output_tokens\n30,2\n9,25\n"
TOTALS = "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n70,900,970,0.0777777777777778\n"

TEXTS = {azure: AZURE, mooncake: MOONCAKE, pairs: PAIRS}
loaders = pytest.mark.parametrize("loader", TEXTS, ids=lambda loader: loader.__name__)


def write(folder, content, name="trace.csv"):
    content = content.encode() if isinstance(content, str) else content
    path = Path(folder) / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


def test_azure_counts_seconds_from_the_first_row(tmp_path):
    assert list(azure(write(tmp_path, AZURE))) == [
        Arrival(0.0, 350, 44),
        Arrival(0.0, 410, 109),
        Arrival(4.722467, 900, 55),
    ]


def test_mooncake_counts_milliseconds_from_the_first_row_and_keeps_the_ids(tmp_path):
    assert list(mooncake(write(tmp_path, MOONCAKE))) == [
        Arrival(0.0, 1030, 52, (0, 1, 2)),
        Arrival(0.5, 512, 1, (0,)),
    ]


def test_pairs_reads_both_forms_of_header(tmp_path):
    assert list(pairs(write(tmp_path, PAIRS))) == [(30, 2), (9, 25)]
    assert list(pairs(write(tmp_path, TOTALS))) == [(70, 900)]


@loaders
def test_a_packed_file_reads_as_a_plain_one_and_a_name_as_a_path(loader, tmp_path):
    plain = list(loader(write(tmp_path, TEXTS[loader])))
    assert list(loader(write(tmp_path, TEXTS[loader], "trace.gz"))) == plain
    assert list(loader(str(tmp_path / "trace.gz"))) == plain


@loaders
def test_a_byte_order_mark_blank_lines_and_other_ends_of_line_change_nothing(loader, tmp_path):
    plain = list(loader(write(tmp_path, TEXTS[loader])))
    for text in (
        "\ufeff" + TEXTS[loader],
        "\n" + TEXTS[loader] + "\n\n",
        TEXTS[loader].replace("\r", ""),
        TEXTS[loader].replace("\r", "").replace("\n", " \r\n"),
    ):
        assert list(loader(write(tmp_path, text))) == plain


def test_columns_may_stand_in_any_order_in_quotes_and_among_others(tmp_path):
    text = '"GeneratedTokens","user","TIMESTAMP","ContextTokens"\n44,"a",2024-05-10 00:00:00.009930+00:00,"350"\n'
    assert list(azure(write(tmp_path, text))) == [Arrival(0.0, 350, 44)]


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(1, 10**6), st.integers(1, 10**6)), min_size=1))
def test_what_was_written_as_a_mooncake_trace_is_read_back(tmp_path_factory, requests):
    requests = sorted(requests)
    lines = [
        json.dumps({"timestamp": ms, "input_length": given, "output_length": written, "hash_ids": [given, ms]})
        for ms, given, written in requests
    ]
    path = write(tmp_path_factory.getbasetemp(), "\n".join(lines), "round-trip.jsonl.gz")
    start = requests[0][0]
    assert list(mooncake(path)) == [Arrival((ms - start) * 1000 / 1e6, i, o, (i, ms)) for ms, i, o in requests]


@loaders
def test_memory_does_not_grow_with_the_file(loader, tmp_path):
    *head, row = TEXTS[loader].strip().splitlines()

    def peak(rows):
        path = write(tmp_path, "\n".join([*head, *[row] * rows]), f"{rows}.gz")
        tracemalloc.start()
        count = sum(1 for _ in loader(path))
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert count >= rows
        return held

    peak(10)  # once, so that what a first call imports is not counted
    assert peak(4000) < 1.2 * peak(400)


def fault(loader, path):
    with pytest.raises(BadInput) as refusal:
        list(loader(path))
    return str(refusal.value)


@loaders
def test_a_file_that_is_not_there_or_holds_nothing_is_refused_at_the_call(loader, tmp_path):
    with pytest.raises(BadInput, match=r"nowhere\.csv cannot be read \(No such file"):
        loader(tmp_path / "nowhere.csv")
    with pytest.raises(BadInput, match=r"cannot be read \(not a file"):
        loader(tmp_path)
    for content in ("", "\n\n"):
        with pytest.raises(BadInput, match=r"trace\.csv has no request in it"):
            loader(write(tmp_path, content))
    for path in (3, None, b"trace.csv"):
        with pytest.raises(BadInput, match="is not a path"):
            loader(path)


@pytest.mark.parametrize("loader", [azure, pairs])
def test_a_header_without_rows_is_no_workload(loader, tmp_path):
    assert "has no request in it" in fault(loader, write(tmp_path, TEXTS[loader].splitlines()[0]))


@loaders
def test_a_file_that_only_is_called_gz_is_refused_at_the_call(loader, tmp_path):
    (tmp_path / "plain.gz").write_text(TEXTS[loader])
    with pytest.raises(BadInput, match=r"plain\.gz is named .gz and is not gzip .* rename it"):
        loader(tmp_path / "plain.gz")


@loaders
@pytest.mark.parametrize("lost", [4, 12, "in the middle"])
def test_a_packed_file_that_is_cut_short_gives_an_error_and_not_fewer_requests(loader, lost, tmp_path):
    row = TEXTS[loader].splitlines()[-1]
    packed = gzip.compress((TEXTS[loader] + f"\n{row}" * 5000).encode())
    path = tmp_path / "short.gz"
    path.write_bytes(packed[: len(packed) // 2 if lost == "in the middle" else -lost])
    message = fault(loader, path)
    assert "short.gz is damaged or cut short after line " in message
    assert "fetch it again" in message


def test_a_packed_file_with_a_changed_byte_is_found_out(tmp_path):
    packed = bytearray(gzip.compress(AZURE.encode()))
    packed[-6] ^= 1  # in the checksum
    (tmp_path / "changed.gz").write_bytes(packed)
    assert "is damaged or cut short after line 3" in fault(azure, tmp_path / "changed.gz")


@pytest.mark.parametrize("content", [AZURE.encode("utf-16"), gzip.compress(AZURE.encode())])
def test_what_is_not_utf_8_is_refused_at_the_call(content, tmp_path):
    with pytest.raises(BadInput, match=r"line 1: not UTF-8 text .*must be named \.gz"):
        azure(write(tmp_path, content))


def test_a_line_that_is_not_utf_8_is_named(tmp_path):
    content = AZURE.encode() + b"\r\n2023-11-16 18:15:52.0,5\xff,5"
    assert "line 5: not UTF-8 text" in fault(azure, write(tmp_path, content))


def test_a_line_without_an_end_is_not_read_into_memory(tmp_path):
    message = fault(mooncake, write(tmp_path, "[" * 3_000_000))
    assert "line 1: longer than 1048576 bytes" in message
    assert len(message) < 500


@pytest.mark.parametrize(
    ("loader", "header", "expected"),
    [
        (azure, "TIMESTAMP,ContextTokens", "TIMESTAMP, ContextTokens, GeneratedTokens"),
        (azure, "TIMESTAMP;ContextTokens;GeneratedTokens", "TIMESTAMP, ContextTokens, GeneratedTokens"),
        (azure, "2023-11-16 18:15:46.5000000,350,44", "TIMESTAMP, ContextTokens, GeneratedTokens"),
        (pairs, "input_tokens,num_decode_tokens", "input_tokens, output_tokens or num_prefill_tokens, num_decode"),
    ],
)
def test_a_missing_column_is_refused_at_the_call(loader, header, expected, tmp_path):
    with pytest.raises(BadInput) as refusal:
        loader(write(tmp_path, f"{header}\n1,2,3\n"))
    assert f"line 1: a column is missing; expected a header with {expected}" in str(refusal.value)
    assert header in str(refusal.value)


TOKENS = "expected a whole number of tokens from 1"


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("2023-11-16 18:15:52.0,0,44", f"ContextTokens is 0; {TOKENS}"),
        ("2023-11-16 18:15:52.0,-350,44", f"ContextTokens is '-350'; {TOKENS}"),
        ("2023-11-16 18:15:52.0,350,nan", f"GeneratedTokens is 'nan'; {TOKENS}"),
        ("2023-11-16 18:15:52.0,350,inf", f"GeneratedTokens is 'inf'; {TOKENS}"),
        ("2023-11-16 18:15:52.0,350,4.4", f"GeneratedTokens is '4.4'; {TOKENS}"),
        ("2023-11-16 18:15:52.0,350,", f"GeneratedTokens is ''; {TOKENS}"),
        ("2023-11-16 18:15:52.0,350,1_0", f"GeneratedTokens is '1_0'; {TOKENS}"),
        ("2023-11-16 18:15:52.0,350,４", f"GeneratedTokens is '４'; {TOKENS}"),
        ("2023-11-16 18:15:52.0,350," + "9" * 5000, "GeneratedTokens is '9999"),
        ("2023-11-16 18:15:52.0,350", "2 values; expected 3: TIMESTAMP, ContextTokens, GeneratedTokens"),
        ("2023-11-16 18:15:52.0,3,350,4", "4 values; expected 3"),
        ("16/11/2023 18:15,350,44", "TIMESTAMP is '16/11/2023 18:15'; expected one such as 2023-11-16"),
        ("nan,350,44", "TIMESTAMP is 'nan'; expected one such as"),
        ("2023-11-16 18:15:50.0,350,44", "time runs backwards, by 1.222467 s; expected rows in order of time"),
    ],
)
def test_a_faulty_row_of_azure_is_named_after_the_rows_before_it(row, problem, tmp_path):
    path = write(tmp_path, f"{AZURE}\n{row}\n2023-11-16 18:15:53.0,1,1")
    arrivals = azure(path)
    assert [next(arrivals).num_prompt_tokens for _ in range(3)] == [350, 410, 900]
    with pytest.raises(BadInput) as refusal:
        next(arrivals)
    message = str(refusal.value)
    assert message.startswith(f"{path}, line 5: {problem}")
    assert f"Correct the line or leave it out: '{row[:100]}" in message
    assert len(message) < len(str(path)) + 500


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"timestamp": 27499}, "time runs backwards, by 0.001 s"),
        ({"timestamp": -1}, "timestamp is -1; expected milliseconds"),
        ({"timestamp": math.nan}, "timestamp is nan; expected milliseconds"),
        ({"timestamp": math.inf}, "timestamp is inf; expected milliseconds"),
        ({"timestamp": "27500"}, "timestamp is '27500'; expected milliseconds"),
        ({"timestamp": True}, "timestamp is True; expected milliseconds"),
        ({"input_length": 0}, f"input_length is 0; {TOKENS}"),
        ({"input_length": -5}, f"input_length is -5; {TOKENS}"),
        ({"output_length": 52.0}, f"output_length is 52.0; {TOKENS}"),
        ({"output_length": None}, f"output_length is None; {TOKENS}"),
        ({"output_length": True}, f"output_length is True; {TOKENS}"),
        ({"output_length": 10**10}, f"output_length is 10000000000; {TOKENS}"),
        ({"hash_ids": None}, "hash_ids is None; expected a list of whole numbers"),
        ({"hash_ids": [0, "1"]}, "hash_ids is [0, '1']; expected a list of whole numbers"),
    ],
)
def test_a_faulty_value_of_mooncake_is_named(changed, problem, tmp_path):
    row = {"timestamp": 27600, "input_length": 512, "output_length": 1, "hash_ids": [0]} | changed
    path = write(tmp_path, MOONCAKE + json.dumps(row))
    assert fault(mooncake, path).startswith(f"{path}, line 3: {problem}")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ('{"timestamp": 27600, "input_length": 512', "not JSON; expected one object a line"),
        ("27600,512,1", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"timestamp": ' + "1" * 5000 + "}", "not JSON"),
        ("[27600, 512, 1, []]", "expected a JSON object with timestamp, input_length, output_length, hash_ids"),
        ('{"timestamp": 27600, "input_length": 512, "hash_ids": [0]}', "expected a JSON object with timestamp"),
    ],
)
def test_a_row_that_is_no_mooncake_request_is_named_and_refused_at_the_call_if_it_is_the_first(row, problem, tmp_path):
    path = write(tmp_path, MOONCAKE + row)
    assert fault(mooncake, path).startswith(f"{path}, line 3: {problem}")
    path = write(tmp_path, row)
    with pytest.raises(BadInput, match=f"line 1: {problem}"):
        mooncake(path)


def test_a_faulty_row_of_pairs_is_named(tmp_path):
    assert f"line 4: the output is 0; {TOKENS}" in fault(pairs, write(tmp_path, f"{PAIRS}7,0\n"))
    assert f"line 4: the prompt is 'x'; {TOKENS}" in fault(pairs, write(tmp_path, f"{PAIRS}x,7\n"))
