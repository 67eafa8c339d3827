"""What was expected before any GPU was seen: bounds on shares and ratios, judged by the rows of the same file.

They follow from the roofline, bytes over rate (Williams et al., CACM 52(4), 2009). A share is one of the copy rate that
this run measures, so that each stands for any GPU. The goals are what the kernels are meant to reach.
"""

from kvlib.bench.gpu.change import Change
from kvlib.bench.gpu.loads import Load
from kvlib.bench.gpu.measure import row_id
from kvlib.bench.gpu.prediction import Prediction
from kvlib.bench.gpu.sizes import Sizes


def predictions(sizes: Sizes) -> list[Prediction]:
    """All of them, for the loads of these sizes."""
    return [*_goals(sizes), *_reading(sizes), *_splitting(sizes), *_tiling(sizes), *_laying_out(sizes)]


def _goals(sizes: Sizes) -> list[Prediction]:
    big = sizes.big
    ragged = [load._replace(dtype=dtype) for dtype in ("fp16", "bf16") for load in sizes.ragged]
    ours = tuple(_decode(load) for load in ragged)
    gathered = tuple(row_id("baselines", "gather-sdpa", load) for load in ragged)
    flex = tuple(row_id("baselines", "flex", load._replace(block_size=sizes.flex_block)) for load in ragged)
    return [
        Prediction(
            "goal: copy rate",
            f"decode at {big.name} reads at 75 % of the copy rate or more",
            (0.75, None),
            (_decode(big),),
            field="frac_copy",
        ),
        Prediction(
            "goal: gather", "gather and torch's attention take longer, each ragged batch", (1, None), gathered, ours
        ),
        Prediction("goal: flex", "FlexAttention takes longer, each ragged batch", (1, None), flex, ours),
        Prediction(
            "goal: paging",
            "blocks in random order cost at most 5 % over blocks in order",
            (None, 1.05),
            (_changed(big),),
            (_changed(big, "blocks in order"),),
        ),
        Prediction(
            "goal: e4m3",
            "fp16 takes 1.6 times as long as e4m3, or more",
            (1.6, None),
            (_decode(big),),
            (_decode(big, "e4m3"),),
        ),
    ]


def _reading(sizes: Sizes) -> list[Prediction]:
    big = sizes.big
    paged_read, read = (row_id("env", impl, big) for impl in ("paged-read", "read"))
    return [
        Prediction(
            "share",
            f"decode at {big.name}: 76 to 87 % of the copy rate",
            (0.76, 0.87),
            (_decode(big),),
            (),
            "frac_copy",
        ),
        Prediction(
            "read", "reading alone is as fast as copying, or 5 % slower", (0.95, None), (read,), (), "frac_copy"
        ),
        Prediction(
            "paged read",
            "reading through block tables is at most 5 % slower than reading what lies in a row",
            (0.95, None),
            (paged_read,),
            (),
            "frac_read",
        ),
        Prediction(
            "attention",
            "attention takes at most 10 % more than reading through block tables",
            (None, 1.1),
            (_decode(big),),
            (paged_read,),
        ),
        Prediction(
            "bf16", "bf16 takes the time of fp16, within 3 %", (0.97, 1.03), (_decode(big, "bf16"),), (_decode(big),)
        ),
        Prediction(
            "naive",
            "the first kernel takes three times as long, or more",
            (3, None),
            (row_id("baselines", "naive", big),),
            (_decode(big),),
        ),
        Prediction(
            "contiguous",
            "torch's flash attention on contiguous keys is at most 10 % faster",
            (0.9, None),
            (row_id("baselines", "sdpa-flash", big),),
            (_decode(big),),
        ),
    ]


def _splitting(sizes: Sizes) -> list[Prediction]:
    unsplit, *more = (f"splits={splits}" for splits in sizes.splits[:3])
    return [
        Prediction(
            "splits, many sequences",
            f"at {sizes.big.name} a few splits gain less than 5 %",
            (None, 1.05),
            (_changed(sizes.big, unsplit),) * len(more),
            tuple(_changed(sizes.big, split) for split in more),
        ),
        Prediction(
            "splits, one sequence",
            f"at {sizes.long.name} splits gain a factor of 4 at least",
            (4, None),
            (_changed(sizes.long, unsplit),),
            (_changed(sizes.long),),
        ),
    ]


def _tiling(sizes: Sizes) -> list[Prediction]:
    def against(id: str, claim: str, bounds: tuple[float | None, float | None], change: str, other: str) -> Prediction:
        return Prediction(id, claim, bounds, (_changed(sizes.big, change),), (_changed(sizes.big, other),))

    return [
        against("stages", "5 stages take the time of 2, within 5 %", (0.95, 1.05), "stages=5", "stages=2"),
        against("rows", "4 rows take the time of 16, within 5 %", (0.95, 1.05), "rows=4", ""),
        against("heads", "a program for each head takes 2 to 4.5 times as long", (2, 4.5), "heads unpacked", ""),
    ]


def _laying_out(sizes: Sizes) -> list[Prediction]:
    def costs(id: str, claim: str, bounds: tuple[float | None, float | None], change: str) -> Prediction:
        return Prediction(id, claim, bounds, (_changed(sizes.big, change),), (_changed(sizes.big),))

    return [
        costs("block of one token", "blocks of 1 token cost less than 10 %", (None, 1.1), "block=1"),
        costs("odd stride", "addresses of no known alignment cost a factor of 2 at least", (2, None), "odd stride"),
        costs("wide ids", "int64 tables cost less than 2 %", (None, 1.02), "int64 ids"),
    ]


def _decode(load: Load, dtype: str | None = None) -> str:
    return row_id("decode", "kvlib", load._replace(dtype=dtype or load.dtype))


def _changed(load: Load, change: str = "") -> str:
    return row_id("ablations", "kvlib", load, Change(change))
