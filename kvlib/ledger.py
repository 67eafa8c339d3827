"""The numbers ledger: every figure the book states, with its source, and how each derived one follows.

The data is data/paper.json. The prose shows a number by its id, so a figure stands in one place only.
"""

import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from pathlib import Path

from kvlib import sizing
from kvlib.errors import BadConfig, UnknownNumber

PAPER = resources.files("kvlib.data") / "paper.json"
STATUSES = ("quoted", "derived", "simulated", "measured")
MOST_DIGITS = 15  # what a float holds


@dataclass(frozen=True)
class Number:
    """One figure. `value` is in `unit`; `digits` fixes the decimals shown; `source` is the document, `url` where
    it is read, `where` the table, figure or section in it. `derive` is the expression a derived value follows from.
    """

    id: str
    what: str
    value: float
    unit: str
    source: str
    where: str
    status: str
    url: str = ""
    note: str = ""
    derive: str = ""
    digits: int | None = None

    def __post_init__(self) -> None:
        texts = (value for name, value in vars(self).items() if name not in ("value", "digits"))
        if not all(isinstance(text, str) for text in texts):
            raise BadConfig(f"number {self.id!r}: only value and digits may be other than text; given {vars(self)}")
        faults = {
            "id is not of lower-case words joined by '-'": not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", self.id),
            "value is not a finite number": not _is_finite(self.value),
            f"digits is not a whole number from 0 to {MOST_DIGITS}": not (
                self.digits is None or (type(self.digits) is int and 0 <= self.digits <= MOST_DIGITS)
            ),
            "what, source or where is empty": not (self.what and self.source and self.where),
            f"status is none of {', '.join(STATUSES)}": self.status not in STATUSES,
            "'derive' is for derived numbers, and all of them need it": (self.status == "derived") != bool(self.derive),
        }
        for fault in (fault for fault, found in faults.items() if found):
            raise BadConfig(f"number {self.id!r}: {fault}; given {self}. Correct the entry in data/paper.json.")

    @property
    def figure(self) -> str:
        """The value as shown, without its unit: thousands separated, decimals as `digits` says."""
        return f"{self.value:,}" if self.digits is None else f"{self.value:,.{self.digits}f}"

    @property
    def text(self) -> str:
        """The value with its unit, joined by a space that does not break."""
        return f"{self.figure}\N{NO-BREAK SPACE}{self.unit}" if self.unit else self.figure


def _is_finite(value: object) -> bool:
    return type(value) in (int, float) and abs(value) <= sys.float_info.max  # type: ignore[arg-type]


def load(path: Path | str | None = None) -> dict[str, Number]:
    """All numbers by id, in the order of the file; `path` is for another file of the same form.

    Raises BadConfig naming the file that cannot be read, or the entry that repeats an id, lacks a field or has
    one that does not fit.
    """
    file = PAPER if path is None else Path(path)
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadConfig(
            f"{file} cannot be read as JSON ({error}); give a whole file of the form of paper.json"
        ) from None
    form = {"sources": dict, "numbers": list}
    if not isinstance(data, dict) or not all(isinstance(data.get(key), kind) for key, kind in form.items()):
        raise BadConfig(f"{file} is no ledger; give one object with 'sources', an object, and 'numbers', a list")
    numbers: dict[str, Number] = {}
    for entry in data["numbers"]:
        try:
            number = Number(**entry | data["sources"][entry["source"]])
        except (KeyError, TypeError) as error:
            raise BadConfig(
                f"an entry of data/paper.json lacks a field or has one too many ({error}): {entry}"
            ) from None
        if number.id in numbers:
            raise BadConfig(f"data/paper.json has two numbers {number.id!r}; give one of them another id")
        numbers[number.id] = number
    return numbers


def number(id: str, numbers: Mapping[str, Number] | None = None) -> Number:
    """The number with this id, of `numbers` or of the shipped ledger; UnknownNumber names the nearest ids."""
    numbers = load() if numbers is None else numbers
    if not isinstance(id, str) or id not in numbers:
        near = get_close_matches(str(id), numbers, n=3, cutoff=0.4)
        hint = f"near it: {', '.join(near)}" if near else f"there are {len(numbers)} others"
        raise UnknownNumber(f"the ledger holds no number {id!r}; {hint}. Add it to data/paper.json or correct the id.")
    return numbers[id]


def derive(derived: Number, numbers: Mapping[str, Number] | None = None) -> float:
    """Compute a derived number anew. Its expression sees `models` and `configs` by id, KiB, MiB, GiB, ceil, and
    `number(id)`, which is the value of another number, itself computed anew if it is derived.

    Raises BadConfig, naming the entry, where an expression gives no finite number.
    """
    if not derived.derive:
        raise BadConfig(f"{derived.id!r} is {derived.status}, not derived; only derived numbers have an expression")
    known = load() if numbers is None else numbers
    chain: list[str] = []  # the derived numbers that are being computed, each for the one before it

    def value_of(each: Number) -> float:
        if not each.derive:
            return each.value
        if each.id in chain:
            raise ValueError(f"{each.id!r} would follow from itself")
        chain.append(each.id)
        value = eval(each.derive, {"__builtins__": {}}, names)  # the expressions are our own, shipped with the code
        if not _is_finite(value):
            raise ValueError(f"{value!r} is not a finite number")
        chain.pop()
        return value

    names = {
        "models": sizing.known_models(),
        "configs": {id: record["config"] for id, record in sizing.model_records().items()},
        "KiB": sizing.KiB,
        "MiB": sizing.MiB,
        "GiB": sizing.GiB,
        "ceil": math.ceil,
        "number": lambda id: value_of(number(id, known)),
    }
    try:
        return value_of(derived)
    except Exception as error:
        raise BadConfig(
            f"number {chain[-1]!r} cannot be computed ({type(error).__name__}: {error}), on the way "
            f"{' -> '.join(chain)}; correct its 'derive' in data/paper.json"
        ) from error


def check(numbers: Mapping[str, Number] | None = None) -> list[str]:
    """One line for each derived number whose value does not follow from its expression; empty if all do."""
    known = load() if numbers is None else numbers
    faults = ((each.id, _fault(each, known)) for each in known.values() if each.derive)
    return [f"{id}: {fault}" for id, fault in faults if fault]


def _fault(each: Number, known: Mapping[str, Number]) -> str:
    try:
        value = derive(each, known)
    except BadConfig as error:
        return str(error)
    if math.isclose(each.value, value, rel_tol=1e-12):
        return ""
    return f"the ledger says {each.value:,}, {each.derive} gives {value:,}"
