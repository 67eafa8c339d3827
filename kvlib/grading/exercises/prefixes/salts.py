"""The check of salts in lab 6: what one tenant pays must tell nothing of what another has asked."""

from collections.abc import Callable, Iterator
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, Wrong, check_callable
from kvlib.grading.exercises.broken import seen
from kvlib.grading.exercises.prefixes.server import Server

SILENT = "what a tenant's prompt costs does not depend on what other tenants have asked"
OWN = "a tenant finds its own prompts again"
TENANTS = ("acme", "acorn", "a", "ACME", "acme2")


def salts(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """The probe of salts(num_public_tokens, tenant, num_blocks, block_size)."""
    check_callable(answer, "num_public_tokens", "tenant", "num_blocks", "block_size")
    size = 3 + chance.below(4)
    public = [chance.below(1000) for _ in range(size * (2 + chance.below(3)) + 1 + chance.below(size - 1))]
    prompts = [public + [chance.below(1000) for _ in range(3 * size + chance.below(size))] for _ in range(8)]
    asked = [(TENANTS[chance.below(5)], prompts[chance.below(8)]) for _ in range(30)]
    fault = _leak(answer, asked, public, size)
    yield seen(SILENT, sum(len(tokens) for _, tokens in asked), fault)
    alone = [_costs(answer, [(tenant, tokens)] * 2, public, size)[1] for tenant, tokens in asked]
    lost = [cost for cost, (_, tokens) in zip(alone, asked) if cost > (len(tokens) - 1) % size + 1]
    what = "A tenant that asks the same again computes {} tokens again; a block would have held them."
    yield seen(OWN, alone, what.format(lost[0]) if lost else "")
    yield Score("tokens recomputed", sum(_costs(answer, asked, public, size)), sum(_fewest(asked, public, size)))


def _costs(answer: Callable, asked: list[tuple[str, list[int]]], public: list[int], size: int) -> list[int]:
    """The tokens computed for each (tenant, prompt), in order, after the operator has asked the public part alone."""
    server = Server(lambda parent, token_ids: (parent, tuple(token_ids)), size)
    server.ask([*public, 0])
    costs = []
    for tenant, tokens in asked:
        num_blocks = len(tokens) // size
        given = answer(num_public_tokens=len(public), tenant=tenant, num_blocks=num_blocks, block_size=size)
        if not isinstance(given, list) or [type(salt) for salt in given] != [str] * num_blocks:
            raise Wrong(f"salts returns {given!r:.80}; expected a list of {num_blocks} texts, one for each block.")
        costs.append(server.ask(tokens, salts=given).num_computed)
    return costs


def _leak(answer: Callable, asked: list[tuple[str, list[int]]], public: list[int], size: int) -> str:
    for place, (victim, tokens) in enumerate(asked[:12]):
        attacker = next(tenant for tenant in TENANTS[place % 5 :] + TENANTS if tenant != victim)
        for stop in range(len(public) + 1, len(tokens) + 1):
            guess = [*tokens[:stop], 1001]
            alone = _costs(answer, [(attacker, guess)], public, size)[0]
            after = _costs(answer, [(victim, tokens), (attacker, guess)], public, size)[1]
            if after < alone:
                return (
                    f"{attacker!r} asks the first {stop} tokens of a prompt, {len(public)} of them public, in blocks "
                    f"of {size}: {alone} tokens are computed, but {after} once {victim!r} has asked that prompt. "
                    f"{_why(answer, (victim, attacker), len(public), size)}"
                )
    return ""


def _why(answer: Callable, tenants: tuple[str, str], num_public: int, size: int) -> str:
    index = num_public // size  # of the first block with a private token
    theirs, ours = (
        answer(num_public_tokens=num_public, tenant=tenant, num_blocks=index + 1, block_size=size)[index]
        for tenant in tenants
    )
    if theirs != ours:
        return "Every block with a private token needs the tenant in its key, or in one before it."
    if theirs:
        return f"Both have the salt {theirs!r}."
    return f"Block {index} has no salt, and private tokens in it: who finds it has guessed them."


def _fewest(asked: list[tuple[str, list[int]]], public: list[int], size: int) -> list[int]:
    """The costs where a private run is found by its tenant alone, and the public one by all."""
    shared, known, costs = len(public) // size, set(), []
    for tenant, tokens in asked:
        run = shared
        while (tenant, *tokens[: (run + 1) * size]) in known and (run + 1) * size < len(tokens):
            run += 1
        known |= {(tenant, *tokens[: stop * size]) for stop in range(shared + 1, len(tokens) // size + 1)}
        costs.append(len(tokens) - run * size)
    return costs
