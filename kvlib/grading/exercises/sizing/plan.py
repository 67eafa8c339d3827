"""The check of a plan: a card and a dtype of the cache on which a service fits."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from math import ceil
from typing import Any, NamedTuple

from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, check_callable
from kvlib.shown import shown
from kvlib.sizing import GiB

NUM_SERVICES, SHARE, BLOCK_SIZE = 12, 0.9, 16
SIZES_GIB = (16, 20, 24, 32, 40, 48, 64, 80, 96, 141, 180)


class Service(NamedTuple):
    """What a plan is made for. Fields as in the exercise: GiB of each card, GB of weights, bytes a token by dtype."""

    cards: Mapping[str, int]
    weight_gb: float
    token_bytes: Mapping[str, int]
    num_seqs: int
    context_len: int

    def needed_gib(self, dtype: str) -> float:
        """The least card, as the block tables of all sequences and the weights together ask for it."""
        blocks = self.num_seqs * ceil(self.context_len / BLOCK_SIZE)
        return (blocks * BLOCK_SIZE * self.token_bytes[dtype] + 1e9 * self.weight_gb) / SHARE / GiB

    def best(self) -> int | None:
        """GiB of the smallest card on which it fits with any dtype; None if it fits on none."""
        least = min(map(self.needed_gib, self.token_bytes))
        return min((gib for gib in self.cards.values() if gib >= least), default=None)


def planned(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """Services, of which some fit on no card; a plan is right if it holds, and the smaller the card, the better."""
    check_callable(answer, *Service._fields)
    outcomes, faults, used, best = [], [], 0, 0
    for _ in range(NUM_SERVICES):
        service = _drawn(chance)
        given = answer(**deepcopy(service._asdict()))
        fault = _fault(service, given)
        faults.append(fault)
        outcomes.append(2 if fault else int(given is not None))
        if not fault and given is not None:
            used, best = used + service.cards[given[0]], best + (service.best() or 0)
    yield Seen(
        "what is planned holds all sequences, and nothing is planned where nothing does",
        outcomes,
        next(filter(None, faults), ""),
    )
    yield Score("GiB of cards", used, best)


def _drawn(chance: Chance) -> Service:
    sizes = list(SIZES_GIB)
    while len(sizes) > 4:
        sizes.pop(chance.below(len(sizes)))
    cards = {f"card {'ABCD'[place]}": sizes.pop(chance.below(len(sizes))) for place in range(4)}
    token = 2048 * (8 + chance.below(90))
    weight = 2 + chance.below(80) / 2
    context = 100 + chance.below(8000)
    room = 1e9 * chance.below(300)  # of the cache that is asked for
    return Service(cards, weight, {"bfloat16": token, "fp8": token // 2}, 1 + int(room / (token * context)), context)


def _fault(service: Service, given: Any) -> str:
    asked = ", ".join(f"{name}={value!r}" for name, value in service._asdict().items())
    best = service.best()
    if given is None:
        held = f"plan({asked}) is None, and a card of {best} GiB holds it, with the right dtype."
        return "" if best is None else held
    try:
        card, dtype = given
        has, needs = service.cards[card], service.needed_gib(dtype)
    except (TypeError, ValueError, KeyError):
        return f"plan({asked}) is {shown(given)}; give the names of a card and a dtype, or None."
    if has >= needs:
        return ""
    said = f"plan({asked}) is {card} with {dtype}, of {has} GiB, and {needs:.1f} are needed."
    return f"{said} No card holds it: the plan is None." if best is None else said
