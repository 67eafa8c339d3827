"""A claim about rows that are not measured yet, and the judgement when they are."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Rows = Mapping[str, Mapping[str, Any]]


class Prediction(NamedTuple):
    """Each of `rows` has a `field` between the bounds, ends included; with `over`, its `us_p50` as many times that of
    the row that stands at the same place there. bounds: None for none."""

    id: str
    claim: str
    bounds: tuple[float | None, float | None]
    rows: tuple[str, ...]
    over: tuple[str, ...] = ()
    field: str = "us_p50"

    def judged(self, rows: Rows) -> dict[str, Any]:
        """As a measurement file has it, by what `rows` hold so far: refuted by one value outside the bounds, confirmed
        when all are measured and inside. A row that is not "ok" is not measured."""
        values = [_value(rows, name, self.field) for name in self.rows]
        if self.over:
            others = [_value(rows, name, self.field) for name in self.over]
            values = [mine / other if mine and other else None for mine, other in zip(values, others, strict=True)]
        low, high = self.bounds
        return {
            "id": self.id,
            "claim": self.claim,
            "unit": "times" if self.over else "share",
            "low": low,
            "high": high,
            "rows": list(self.rows),
            "over": list(self.over),
            "values": values,
            "verdict": _verdict(values, -math.inf if low is None else low, math.inf if high is None else high),
        }


def _value(rows: Rows, name: str, field: str) -> float | None:
    row = rows.get(name)
    return row[field] if row is not None and row["status"] == "ok" else None


def _verdict(values: Sequence[float | None], low: float, high: float) -> str:
    if any(value is not None and not low <= value <= high for value in values):
        return "refuted"
    return "not measured" if None in values else "confirmed"
