"""A prediction is judged by rows, and by right ones only; every row that one speaks of is measured."""

import pytest

from kvlib.bench.gpu.plan import plan
from kvlib.bench.gpu.prediction import Prediction
from kvlib.bench.gpu.predictions import predictions
from kvlib.bench.gpu.sizes import INTERPRETED, ON_A_GPU
from kvlib.bench.gpu.suites import SHARES


def rows(**us):
    return {name: {"status": "ok", "us_p50": value, "frac_copy": value / 100} for name, value in us.items()}


@pytest.mark.parametrize(
    ("bounds", "measured", "values", "verdict"),
    [
        ((None, 1.05), rows(a=100.0, b=100.0), [1.0], "confirmed"),
        ((None, 1.05), rows(a=105.0, b=100.0), [1.05], "confirmed"),
        ((None, 1.05), rows(a=106.0, b=100.0), [1.06], "refuted"),
        ((2, None), rows(a=199.0, b=100.0), [1.99], "refuted"),
        ((2, None), rows(a=200.0, b=100.0), [2.0], "confirmed"),
        ((0.95, 1.05), rows(a=90.0, b=100.0), [0.9], "refuted"),
        ((0.95, 1.05), rows(a=100.0), [None], "not measured"),
        ((0.95, 1.05), rows(b=100.0), [None], "not measured"),
        ((0.95, 1.05), rows(a=90.0) | {"b": {"status": "wrong", "us_p50": 100.0}}, [None], "not measured"),
        ((0.95, 1.05), {name: {"status": "ok", "us_p50": None} for name in "ab"}, [None], "not measured"),
        ((0.95, 1.05), {}, [None], "not measured"),
    ],
)
def test_a_ratio_is_judged_by_its_bounds(bounds, measured, values, verdict):
    judged = Prediction("id", "claim", bounds, ("a",), ("b",)).judged(measured)
    assert judged["values"] == pytest.approx(values)
    assert (judged["verdict"], judged["unit"]) == (verdict, "times")


@pytest.mark.parametrize(("share", "verdict"), [(80.0, "confirmed"), (70.0, "refuted"), (95.0, "refuted")])
def test_a_share_is_that_of_the_row(share, verdict):
    judged = Prediction("id", "claim", (0.75, 0.9), ("a",), field="frac_copy").judged(rows(a=share))
    assert (judged["values"], judged["verdict"], judged["unit"]) == ([share / 100], verdict, "share")


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [(2.0, 2.0, "confirmed"), (2.0, 0.5, "refuted"), (0.5, None, "refuted"), (2.0, None, "not measured")],
)
def test_of_several_rows_each_has_to_be_measured_and_inside_and_one_outside_refutes(a, b, verdict):
    measured = rows(**{name: value for name, value in (("a", a), ("b", b)) if value}, c=1.0, d=1.0)
    assert Prediction("id", "claim", (1, None), ("a", "b"), ("c", "d")).judged(measured)["verdict"] == verdict


@pytest.mark.parametrize("sizes", [INTERPRETED, ON_A_GPU])
def test_every_row_that_is_spoken_of_is_in_the_plan(sizes):
    planned = {entry.fields["id"] for entry in plan(sizes, list(SHARES))}
    named = {name for each in predictions(sizes) for name in (*each.rows, *each.over)}
    assert named <= planned


def test_the_goals_are_those_of_the_book():
    bounds = {each.id: each.bounds for each in predictions(ON_A_GPU) if each.id.startswith("goal")}
    assert bounds == {
        "goal: copy rate": (0.75, None),
        "goal: gather": (1, None),
        "goal: flex": (1, None),
        "goal: paging": (None, 1.05),
        "goal: e4m3": (1.6, None),
    }


def test_goals_speak_of_the_load_that_fills_a_gpu_and_of_every_ragged_one():
    named = {each.id: each.rows for each in predictions(ON_A_GPU)}
    assert named["goal: copy rate"] == ("decode/kvlib/64x4096/fp16",)
    ragged = [entry for entry in plan(ON_A_GPU, ["baselines"]) if entry.fields["impl"] == "flex"]
    ragged = {entry.fields["id"] for entry in ragged if entry.fields["ctx_kind"] == "ragged"}
    assert set(named["goal: flex"]) == ragged
    assert len(ragged) == 4
