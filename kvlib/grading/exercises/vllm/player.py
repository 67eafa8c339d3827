"""A run on vLLM beside what was predicted of it: as a table, and step by step as a picture."""

from collections.abc import Mapping
from typing import Any

from kvlib.grading.exercises.vllm.recording import NOT_MEASURED
from kvlib.grading.exercises.vllm.workload import HITS, METRICS, PREEMPTIONS, QUERIES, RUNNING, USAGE, WAITING, Course
from kvlib.show.figures import DECODE, INK, MUTED, Picture, figure, show
from kvlib.show.table import Table

WIDTH = 360
TITLES = {RUNNING: "requests running", WAITING: "requests waiting", USAGE: "share of the blocks in use"}


def summary(course: Mapping[str, list[float]]) -> dict[str, float]:
    """What is compared of a run: steps, most running and waiting, peak and mean of the usage, and the last counts."""
    last = {name: values[-1] for name, values in course.items()}
    return {
        "steps": len(course[RUNNING]),
        f"{RUNNING}, most": max(course[RUNNING]),
        f"{WAITING}, most": max(course[WAITING]),
        f"{USAGE}, most": round(max(course[USAGE]), 4),
        f"{USAGE}, mean": round(sum(course[USAGE]) / len(course[USAGE]), 4),
        PREEMPTIONS: last[PREEMPTIONS],
        QUERIES: last[QUERIES],
        HITS: last[HITS],
        "hits of queries": round(last[HITS] / last[QUERIES], 4) if last[QUERIES] else 0.0,
    }


def compared(prediction: Course, recording: Mapping[str, Any] | None) -> Table:
    """Each number predicted, and measured on vLLM; "not measured" where there is no recording."""
    ours = summary(prediction)
    if recording is None:
        return Table(["", "predicted", "vLLM"], [[name, f"{value:g}", "not measured"] for name, value in ours.items()])
    theirs = summary(recording["steps"])
    head = f"vLLM {recording['versions']['vllm']}"
    return Table(
        ["", "predicted", head, "apart"],
        [[name, f"{ours[name]:g}", f"{theirs[name]:g}", _apart(ours[name], theirs[name])] for name in ours],
    )


def first_difference(prediction: Course, recording: Mapping[str, Any] | None) -> str:
    """The first step and metric in which a run differs from its prediction, in a sentence."""
    if recording is None:
        return NOT_MEASURED
    steps = recording["steps"]
    for step in range(min(len(prediction[RUNNING]), len(steps[RUNNING]))):
        for name in METRICS:
            ours, theirs = prediction[name][step], steps[name][step]
            if abs(ours - theirs) > 1e-6:
                return f"Step {step + 1}: {name} was predicted to be {ours:g}, and is {theirs:g} on vLLM."
    num_predicted, num_taken = len(prediction[RUNNING]), len(steps[RUNNING])
    if num_predicted != num_taken:
        return f"The steps in common agree, but {num_predicted} were predicted and vLLM took {num_taken}."
    return f"All {len(METRICS)} metrics agree in each of {num_taken} steps."


def played(prediction: Course, recording: Mapping[str, Any] | None) -> Picture:
    """Running, waiting and the usage by step: predicted as a line, and recorded, where it is, as dots."""
    with figure(WIDTH, 420) as fig:
        for ax, (name, title) in zip(fig.subplots(len(TITLES)), TITLES.items()):
            steps = range(1, len(prediction[name]) + 1)
            ax.plot(steps, prediction[name], color=MUTED, lw=1.5)
            if recording is not None:
                values = recording["steps"][name]
                ax.plot(range(1, len(values) + 1), values, "o", color=DECODE, ms=2.5)
            ax.set_ylim(0, 1.15 * max(1e-9, *prediction[name]))
            ax.set_title(title, color=INK)
        ax.set_xlabel("step")
    said = "; ".join(f"{title} at most {max(prediction[name]):g}" for name, title in TITLES.items())
    if recording is None:
        return show(fig, alt=f"Predicted by step, a line each: {said}. {NOT_MEASURED}")
    return show(fig, alt=f"Predicted by step, a line each: {said}. Dots are measured on {recording['gpu']}.")


def _apart(ours: float, theirs: float) -> str:
    if ours == theirs:
        return "equal"
    return f"{100 * (ours / theirs - 1):+.1f} %" if theirs else f"{ours - theirs:+g}"
