"""Figures 14 and 15 of the paper: parallel samples and beams."""

from kvlib.bench.claims import Claim, Figure, Job, Points
from kvlib.bench.experiments import beam, parallel


def beams_under_load() -> Figure:
    """Figure 14, which the simulator has no sequence groups for."""
    claim = Claim("beam width 6: vLLM over Orca (Oracle), times", numbers=("beam-gain-alpaca-6",))
    note = "The simulator runs one sequence a request; how many blocks the beams share is in figure 15."
    return Figure("Figure 14: parallel samples and beams under load (Alpaca)", note, (claim,))


def sharing() -> Figure:
    """Figure 15: samples counted exactly, beams by a model."""
    return Figure(
        "Figure 15: blocks saved by sharing, % of those without",
        "Parallel sampling is counted exactly: from 2 to 4 samples it saves 1.5 times as much whatever the lengths, in "
        "the paper 1.40. Our Alpaca prompts have 18.6 tokens on average, the paper's 19.31. The beams are a model with "
        "one fitted number; a saving as small as the paper's on long texts needs beams that stay apart for several "
        "blocks, which no such model gives.",
        (
            *(_parallel("Alpaca", n, 1.7, f"sharing-parallel-alpaca-{n}") for n in (2, 4, 6)),
            _parallel("ShareGPT", 2, 0.5, "sharing-parallel-sharegpt-low"),
            _parallel("ShareGPT", 6, 4, "sharing-parallel-sharegpt-high"),
            *(_beam("Alpaca", k, size, f"sharing-beam-alpaca-{k}") for k, size in ((2, 0.5), (4, 0.5), (6, 3.5))),
            _beam("ShareGPT", 2, 2.6, "sharing-beam-sharegpt-low"),
            _beam("ShareGPT", 6, 3.5, "sharing-beam-sharegpt-high"),
        ),
    )


def _parallel(data: str, num_samples: int, points: float, number: str) -> Claim:
    job = Job(parallel, (data.lower(), num_samples))
    return Claim(f"{data}, {num_samples} samples", Points(points), (number,), jobs=(job,), read=_times_100)


def _beam(data: str, beam_width: int, points: float, number: str) -> Claim:
    job = Job(beam, (data.lower(), beam_width))
    return Claim(f"{data}, beam width {beam_width}", Points(points), (number,), jobs=(job,), read=_times_100)


def _times_100(share: float) -> float:
    return 100 * share
