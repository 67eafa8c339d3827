"""The planted faults of the kernels and the file that says what catches them."""

import json
from pathlib import Path

import pytest

from kvlib.bench.kernels.apart import NOT_RUN, ROOT, run_apart
from kvlib.bench.kernels.checks import CHECKS, FATAL
from kvlib.bench.kernels.fault import KERNELS, Fault
from kvlib.bench.kernels.faults import FAULTS, as_text, catch, checks_for

MEASURED = json.loads((ROOT / "data" / "measurements" / "planted-faults.json").read_text())
FOUND = {row["fault"]: row["found"] for row in MEASURED["rows"]}
BY_NAME = {fault.name: fault for fault in FAULTS}


@pytest.mark.parametrize("fault", FAULTS, ids=BY_NAME)
def test_a_fault_changes_one_place_of_the_kernels_as_they_are_and_leaves_python(fault: Fault):
    source = (ROOT / KERNELS / fault.file).read_text()
    edited = fault.edited(source)
    assert edited != source
    compile(edited, fault.file, "exec")


def test_a_fault_whose_text_is_gone_says_so():
    with pytest.raises(AssertionError, match=r"'no such text' is 0 times in tile.py: the fault has to follow the code"):
        Fault("none", "tile.py", "no such text", "").edited("key = 1")


def test_the_file_has_every_fault_with_what_was_found_or_why_nothing_can_be():
    assert [row["fault"] for row in MEASURED["rows"]] == [fault.name for fault in FAULTS]
    assert len(BY_NAME) == len(FAULTS) > 80
    for fault in FAULTS:
        assert bool(FOUND[fault.name]) != bool(fault.harmless), fault.name
        assert set(FOUND[fault.name]) <= set(checks_for(fault))


def test_every_check_that_all_faults_are_put_to_finds_some():
    assert {name for found in FOUND.values() for name in found} >= set(CHECKS) - set(FATAL)


ANEW = [
    "values of unused slots read (vllm-project/vllm#47305)",
    "first kernel: block number of 32 bits",
    "ties rounded up",
]


@pytest.mark.parametrize("name", ANEW)
def test_a_fault_planted_anew_is_found_as_the_file_has_it(name: str):
    assert catch(BY_NAME[name])["found"] == FOUND[name]


def test_a_process_that_ends_leaves_the_rest_not_run(tmp_path: Path):
    (tmp_path / "kvlib").mkdir()
    (tmp_path / "kvlib" / "__init__.py").write_text("import os; os._exit(3)")
    assert run_apart(["one split", "copy"], tmp_path) == {"one split": "crash: exit code 3", "copy": NOT_RUN}


def test_the_report_names_each_fault_and_what_found_it():
    text = as_text(MEASURED)
    for fault in FAULTS:
        assert fault.name in text
    assert f"{len(FAULTS)} faults caught, " in text
