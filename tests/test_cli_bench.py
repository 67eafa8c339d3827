"""`kvlib bench compile` and `kvlib bench faults`: thin, so that what they pass on is all there is to test."""

import json

import pytest

from kvlib import cli
from kvlib.bench.kernels import compiled, faults
from kvlib.errors import BadConfig


@pytest.fixture(autouse=True)
def variables_are_restored(monkeypatch):
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")


@pytest.mark.parametrize(("name", "module"), [("compile", compiled), ("faults", faults)])
def test_it_measures_tells_prints_and_writes(name, module, monkeypatch, tmp_path, capsys):
    def measure(processes, tell):
        tell("1 of 1")
        return {"rows": [processes]}

    monkeypatch.setattr(module, "measure", measure)
    monkeypatch.setattr(module, "as_text", lambda measured: f"text of {measured['rows']}")
    monkeypatch.setattr(module, "as_json", lambda measured: json.dumps(measured))
    file = tmp_path / "numbers.json"
    assert cli.main(["bench", name, "--processes", "3", "--json", str(file)]) == 0
    output = capsys.readouterr()
    assert output.out == "text of [3]\n"
    assert output.err.splitlines()[-1] == "1 of 1"
    assert json.loads(file.read_text()) == {"rows": [3]}


@pytest.mark.parametrize(("name", "module"), [("compile", compiled), ("faults", faults)])
def test_what_it_cannot_do_is_one_line(name, module, monkeypatch):
    def measure(processes, tell):
        raise BadConfig("TRITON_INTERPRET is set")

    monkeypatch.setattr(module, "measure", measure)
    with pytest.raises(SystemExit, match=r"^kvlib: TRITON_INTERPRET is set$"):
        cli.main(["bench", name])


@pytest.mark.parametrize("name", ["compile", "faults"])
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--processes", "0"], "--processes: '0' is not a whole number of at least 1"),
        (["--json", "/nowhere/at/all.json"], "--json: /nowhere/at/all.json is no file, or in no folder"),
    ],
)
def test_a_bad_option_is_refused_by_its_name(name, given, words, capsys):
    with pytest.raises(SystemExit) as ended:
        cli.main(["bench", name, *given])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err
