"""Recorded measurements are read by name, and those of a GPU are found among the others."""

import json
from importlib import resources

import pytest

from kvlib.bench.gpu import schema
from kvlib.bench.measurements import gpu_records, read
from kvlib.errors import BadConfig, BadInput

EMPTY = {int: 0, str: "", float: 0.0, bool: False, dict: {}, list: []}


def valid(**fields):
    blank = {name: EMPTY.get(field.kind) for name, field in schema.FILE.items()}
    ceilings = dict.fromkeys(schema.CEILINGS)
    return {**blank, "schema": schema.VERSION, "ceilings": ceilings, **fields}


def gpu(name):
    return {"name": name, "sm": "9.0", "sms": 132, "l2": 60, "driver": None}


@pytest.fixture
def folder(tmp_path):
    files = {
        "b-h200": valid(gpu=gpu("H200")),
        "a-t4": valid(gpu=gpu("T4")),
        "interpreter": valid(interpreted=True),
        "engine": {"device": "a processor", "rows": {}},  # of another measurement
    }
    for name, record in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(record))
    (tmp_path / "notes.txt").write_text("no measurement")
    return tmp_path


def test_records_of_gpus_come_in_the_order_of_their_files_and_nothing_else_does(folder):
    assert [record["gpu"]["name"] for record in gpu_records(folder)] == ["T4", "H200"]


def test_a_file_is_read_by_name(folder):
    assert read("engine", folder)["device"] == "a processor"


def test_a_name_without_a_file_is_refused_with_the_names_that_there_are(folder):
    with pytest.raises(BadConfig, match="no file 'h100'; there are: a-t4, b-h200, engine, interpreter"):
        read("h100", folder)


def test_a_folder_that_is_not_there_holds_no_records(folder):
    assert gpu_records(folder / "nowhere") == []


@pytest.mark.parametrize("text", ["{", json.dumps({"ceilings": {}, "gpu": gpu("L4")})])
def test_a_damaged_file_is_refused_by_name(folder, text):
    (folder / "c.json").write_text(text)
    with pytest.raises(BadInput, match=r"c\.json cannot be plotted: .*write it anew"):
        gpu_records(folder)


def test_every_gpu_file_of_the_book_keeps_to_the_schema():
    assert all(record["gpu"] for record in gpu_records(resources.files("kvlib.data") / "measurements"))
