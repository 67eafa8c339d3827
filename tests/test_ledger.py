import json

import pytest

from kvlib import ledger
from kvlib.errors import BadConfig, UnknownNumber

ENTRY = {
    "id": "an-id",
    "what": "something",
    "value": 4,
    "unit": "blocks",
    "source": "P",
    "where": "section 3",
    "status": "quoted",
}


@pytest.fixture
def shipped():
    return json.loads(ledger.PAPER.read_text(encoding="utf-8"))


@pytest.fixture
def write(tmp_path):
    def write(data):
        file = tmp_path / "paper.json"
        file.write_text(json.dumps(data), encoding="utf-8")
        return file

    return write


def entry(data, id):
    return next(number for number in data["numbers"] if number["id"] == id)


def test_every_derived_number_follows_from_its_expression():
    assert ledger.check() == []


@pytest.mark.parametrize("id", [number.id for number in ledger.load().values() if number.derive])
def test_a_wrong_value_planted_in_a_copy_is_found(shipped, write, id):
    entry(shipped, id)["value"] += 1
    assert [fault.partition(":")[0] for fault in ledger.check(ledger.load(write(shipped)))] == [id]


def test_a_changed_figure_is_found_in_all_that_stands_on_it(shipped, write):
    entry(shipped, "figure-block-size")["value"] = 8
    entry(shipped, "machine-block-size")["value"] = 5
    faults = ledger.check(ledger.load(write(shipped)))
    assert [fault.partition(":")[0] for fault in faults] == [
        "machine-slots",
        "fig6-prompt-blocks",
        "lab-rows",
        "machine-memory-mib",
    ]
    assert "the ledger says 176" in faults[0]
    assert "gives 220" in faults[0]


def test_the_papers_figures_are_there():
    shown = {id: number.text.replace("\N{NO-BREAK SPACE}", " ") for id, number in ledger.load().items()}
    assert {
        "orca-max-stored": "20.4 %",
        "orca-pow2-stored": "26.8 %",
        "orca-oracle-stored": "38.2 %",
        "vllm-stored": "96.3 %",
        "machine-blocks": "44 blocks",
        "machine-slots": "176 slots",
        "opt-13b-token-bytes": "819,200 bytes",
        "opt-13b-token-kib": "800 KiB",
        "paper-token-kb": "800 KB",
        "opt-longest": "2,048 tokens",
        "paper-longest-gb": "1.6 GB",
        "opt-13b-weights": "26 GB",
        "opt-13b-weights-share": "65 %",
        "kv-share": "30 %",
        "kv-memory": "12 GB",
        "paper-slots-k": "15.7 K slots",
        "opt-13b-slots": "15,728 slots",
        "opt-13b-blocks": "983 blocks",
        "opt-13b-longest-fit": "7 sequences",
        "orca-max-batched": "7.00 requests",
        "llama-2-70b-token-kib": "320 KiB",
        "llama-2-70b-of-opt-13b": "40 %",
        "falcon-7b-token-kib": "8 KiB",
        "qwen3-4b-token-bytes": "147,456 bytes",
        "deepseek-v3-token-bytes": "70,272 bytes",
        "smollm2-token-bytes": "46,080 bytes",
        "vllm-block-size": "16 tokens",
        "figure-block-size": "4 tokens",
    }.items() <= shown.items()


def test_every_source_is_used(shipped):
    assert {number["source"] for number in shipped["numbers"]} == set(shipped["sources"])


@pytest.mark.parametrize(
    ("value", "digits", "figure"),
    [
        (819200, None, "819,200"),
        (7.0, 2, "7.00"),
        (96.3, None, "96.3"),
        (68.625, 1, "68.6"),
        (1234567.5, 0, "1,234,568"),
    ],
)
def test_a_figure_is_shown_with_thousands_apart_and_the_decimals_it_asks_for(value, digits, figure):
    number = ledger.Number(**ENTRY | {"value": value, "digits": digits})
    assert number.figure == figure
    assert number.text == f"{figure}\N{NO-BREAK SPACE}blocks"


def test_a_number_without_a_unit_is_shown_bare():
    assert ledger.Number(**ENTRY | {"unit": ""}).text == "4"


def test_what_is_no_id_is_unknown():
    with pytest.raises(UnknownNumber, match="no number None"):
        ledger.number(None)


@pytest.mark.parametrize(
    "text", ["", "{", "\x80", "[]", "4", "{}", '{"sources": {}}', '{"sources": [], "numbers": []}', '{"numbers": {}}']
)
def test_a_file_that_is_no_ledger_is_refused_by_name(tmp_path, text):
    (tmp_path / "mine.json").write_text(text, encoding="latin-1")
    with pytest.raises(BadConfig, match=r"mine\.json (cannot be read as JSON|is no ledger)"):
        ledger.load(tmp_path / "mine.json")


def test_a_file_that_is_not_there_is_refused_by_name(tmp_path):
    with pytest.raises(BadConfig, match=r"none\.json cannot be read"):
        ledger.load(tmp_path / "none.json")


@pytest.mark.parametrize("entry", [4, None, [], "text", {}])
def test_an_entry_that_is_no_object_with_a_source_is_refused(write, entry):
    with pytest.raises(BadConfig, match="an entry of"):
        ledger.load(write({"sources": {}, "numbers": [entry]}))


def test_a_path_may_be_text(write):
    assert list(ledger.load(str(write({"sources": {"P": {"source": "a paper"}}, "numbers": [ENTRY]})))) == ["an-id"]


BROKEN = {
    "a division by zero": ("1 / 0", "ZeroDivisionError"),
    "a name with a typo": ("kib", "'kib' is not defined"),
    "an id with a typo": ("number('a-n-id')", "UnknownNumber"),
    "no expression": ("1 +", "SyntaxError"),
    "no number": ("'4'", "is not a finite number"),
    "itself": ("number('broken')", "would follow from itself"),
    "what follows from it": ("number('above')", "would follow from itself"),
}


@pytest.mark.parametrize(("expression", "said"), BROKEN.values(), ids=BROKEN)
def test_a_broken_expression_is_named_and_the_check_goes_on(expression, said):
    derived = {"status": "derived", "derive": expression}
    entries = [
        ENTRY | {"id": "broken"} | derived,
        ENTRY | {"id": "above"} | derived | {"derive": "number('broken')"},
        ENTRY | {"id": "wrong"} | derived | {"derive": "5"},
    ]
    numbers = {each["id"]: ledger.Number(**each) for each in entries}
    for id, way in (("broken", "broken"), ("above", "above -> broken")):
        with pytest.raises(BadConfig, match=r"^number '(broken|above)' cannot be computed") as refusal:
            ledger.derive(numbers[id], numbers)
        assert said in str(refusal.value)
        assert way in str(refusal.value)
    faults = ledger.check(numbers)
    assert [fault.partition(":")[0] for fault in faults] == ["broken", "above", "wrong"]
    assert said in faults[0]


def test_an_unknown_id_names_the_near_ones():
    with pytest.raises(UnknownNumber) as refusal:
        ledger.number("opt-13b-token-byte")
    assert "'opt-13b-token-byte'" in str(refusal.value)
    assert "opt-13b-token-bytes" in str(refusal.value)


def test_only_a_derived_number_can_be_derived():
    with pytest.raises(BadConfig, match="'vllm-stored' is quoted"):
        ledger.derive(ledger.number("vllm-stored"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": "An Id"}, "id is not"),
        ({"value": True}, "value is not"),
        ({"value": "4"}, "value is not"),
        ({"value": float("nan")}, "value is not"),
        ({"value": 10**400}, "value is not"),
        ({"digits": -1}, "digits is not"),
        ({"digits": 1.5}, "digits is not"),
        ({"digits": True}, "digits is not"),
        ({"id": 4}, "other than text"),
        ({"what": None}, "other than text"),
        ({"where": ""}, "is empty"),
        ({"what": ""}, "is empty"),
        ({"status": "guessed"}, "quoted, derived, simulated, measured"),
        ({"status": "derived"}, "'derive'"),
        ({"derive": "2 + 2"}, "'derive'"),
        ({"source": "nobody"}, "nobody"),
        ({"page": 3}, "page"),
    ],
)
def test_an_entry_that_does_not_fit_is_refused(write, change, said):
    with pytest.raises(BadConfig) as refusal:
        ledger.load(write({"sources": {"P": {"source": "a paper"}}, "numbers": [ENTRY | change]}))
    assert said in str(refusal.value)


def test_an_entry_without_a_status_or_with_the_id_of_another_is_refused(write):
    sources = {"P": {"source": "a paper"}}
    without = {field: value for field, value in ENTRY.items() if field != "status"}
    with pytest.raises(BadConfig, match="status"):
        ledger.load(write({"sources": sources, "numbers": [without]}))
    with pytest.raises(BadConfig, match="two numbers 'an-id'"):
        ledger.load(write({"sources": sources, "numbers": [ENTRY, ENTRY]}))
