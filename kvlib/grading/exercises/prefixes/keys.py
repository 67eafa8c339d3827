"""The checks of lab 6 that attack: keys of blocks, and the roots that keep adapters and tenants apart."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from kvlib.chance import Chance
from kvlib.grading.exercise import Score, Seen, Wrong, check_callable
from kvlib.grading.exercises.broken import seen

DIGEST = 32  # bytes
SAME = "equal contents have equal keys, of 32 bytes"
APART = "different contents have different keys"
MULTIPLIERS = (2, 3, 5, 7, 10, 17, 31, 33, 37, 53, 101, 127, 131, 137, 257, 263, 1000, 1313, 65599, 65537, 1_000_003)
SEPARATORS = ("", " ", ",", ";", ":", "=", "|", "/", "&", "-", "_", ".", "\n", "\t", "\0", "#", ", ", ": ", "; ")


def key(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """The probe of key(parent, token_ids)."""
    check_callable(answer, "parent", "token_ids")
    parents = [chance.bits().to_bytes(8, "little") * 4 for _ in range(3)]
    blocks = [[1000 + chance.below(40_000) for _ in range(16)] for _ in range(5)]
    blocks[4][5] = 2**32 - 1  # the largest there is
    contents = [(parents[chance.below(3)], blocks[chance.below(5)]) for _ in range(40)]
    keys = [_made(answer(parent=parent, token_ids=list(block)), "key") for parent, block in contents]
    fault = "" if keys == [answer(parent=parent, token_ids=list(block)) for parent, block in contents] else (
        "The same parent and tokens gave two keys: then nothing is ever found again."
    )  # fmt: skip
    yield seen(SAME, [keys.index(each) for each in keys], fault)
    collision = _attack(answer, parents, blocks)
    yield seen(APART, len(set(keys)), collision)


def _attack(answer: Any, parents: list[bytes], blocks: list[list[int]]) -> str:
    """How two blocks came to one key, or would; "" if no attack succeeds."""
    parent, block = parents[0], blocks[0]

    def key_of(token_ids: list[int], before: bytes = parent) -> bytes:
        return _made(answer(parent=before, token_ids=list(token_ids)), "key")

    if key_of(block) == key_of(block, parents[1]) or key_of(block) == key_of(block, parent[:-1] + b"x"):
        return (
            "Two blocks of the same tokens after different beginnings have one key; from the second layer on they hold "
            "different keys and values. All of the parent belongs into the key."
        )
    for place in (0, 7, 15):
        for step, what in ((1, "1"), (256, "256"), (65536, "65,536"), (1 << 24, "16,777,216")):
            larger = [*block[:place], block[place] + step, *block[place + 1 :]]
            if key_of(block) == key_of(larger):
                return (
                    f"Token {place} may be {what} larger, and the key is the same: each token counts, in all its bytes."
                )
    if key_of(block) == key_of(block[::-1]):
        return "The same tokens in another order have the same key."
    for first, second in (([1, 23], [12, 3]), ([11, 1], [1, 11]), ([7, 70], [77, 0])):
        if key_of(first) == key_of(second):
            return (
                f"The blocks {first} and {second} have one key: written one after the other, their digits are the "
                "same. Give each token the same number of bytes."
            )
    for factor, place in product(MULTIPLIERS, (6, 7)):
        forged = list(block)
        forged[place] += factor
        forged[13 - place] -= 1
        if key_of(block) == key_of(forged):
            return (
                f"One token is {factor} larger and its neighbour 1 smaller, and the key is the same: in a sum of "
                "products such changes cancel out, and anybody can work them out. Take a hash made against that."
            )
    return _shallow([key_of([*block[:15], token]) for token in range(1000, 1064)]) or _linear(key_of, block)


def _shallow(keys: list[bytes]) -> str:
    varying = sum(len(set(column)) > 8 for column in zip(*keys))
    if varying < DIGEST:
        return (
            f"Of the {DIGEST} bytes of a key only {varying} ever change: it is as easy to collide with as one of "
            f"{varying} bytes."
        )
    return ""


def _linear(key_of: Any, block: list[int]) -> str:
    """Whether a key is a sum, or an exclusive or, of what each token adds: then collisions are a matter of algebra."""
    changed = [list(block) for _ in range(4)]
    for number, tokens in enumerate(changed):
        tokens[3] ^= number & 1
        tokens[9] ^= number >> 1
    for order in ("little", "big"):
        plain, one, other, both = (int.from_bytes(key_of(tokens), order) for tokens in changed)
        if plain ^ one ^ other ^ both == 0 or (plain + both - one - other) % 2**64 == 0:
            return "What a token adds to the key does not depend on the others, so one can be chosen to undo another."
    return ""


def root(answer: Any, chance: Chance) -> Iterator[Seen | Score]:
    """The probe of root(extra)."""
    check_callable(answer, "extra")
    words = ["sql", "alice", "7", f"t{chance.below(10**6)}"]
    drawn: list[dict[str, str | int]] = [{}]
    for _ in range(30):
        names = [name for name in ("adapter", "salt", "image") if chance.below(2)]
        drawn.append({name: 7 if chance.below(5) == 0 else words[chance.below(4)] for name in names})
    made = [_made(answer(extra=dict(extra)), "root") for extra in drawn]
    turned = [_made(answer(extra=dict(reversed(extra.items()))), "root") for extra in drawn]
    fault = "" if made == turned else "The same names and values, put in in another order, gave another root."
    yield seen(SAME, [made.index(each) for each in made], fault)
    collision = _confused(answer)
    yield seen(APART, len(set(made)), collision)


def _confused(answer: Any) -> str:
    """How two different extras came to one root, or ""."""
    pairs: list[tuple[dict, dict, str]] = [
        ({"adapter": "x"}, {"salt": "x"}, "The names belong into it: a salt must not pass for an adapter."),
        ({}, {"salt": ""}, "Nothing, and a text of no letters, are two things."),
        ({"adapter": "x", "salt": "y"}, {"adapter": "y", "salt": "x"}, "Each value belongs to its name."),
        ({"salt": "alice"}, {"salt": "alice2"}, "All of a value belongs into it."),
        ({"salt": "Alice"}, {"salt": "alice"}, "Capitals count."),
        ({"salt": "Zoë"}, {"salt": "Zo"}, "Letters outside of ASCII count, too."),
    ]
    joined = "Put one after the other, they read the same: what a caller writes may look like your separators."
    kinds = [f"{before}{kind}{after}" for kind in ("", "str") for before, after in product(SEPARATORS, SEPARATORS)]
    for outer, inner in product(SEPARATORS, kinds):
        pairs.append(({"adapter": f"x{outer}salt{inner}y"}, {"adapter": "x", "salt": "y"}, joined))
    for outer in SEPARATORS:
        pairs.append(({"adapter": f"x{outer}y", "salt": "z"}, {"adapter": "x", "salt": f"y{outer}z"}, joined))
    pairs.append(
        ({"adapter": 7}, {"adapter": "7"}, "A number and a text are two things: say of each value what it is.")
    )
    for one, other, why in pairs:
        if _made(answer(extra=dict(one)), "root") == _made(answer(extra=dict(other)), "root"):
            return f"{one} and {other} have one root. {why}"
    return ""


def _made(given: Any, what: str) -> bytes:
    if not isinstance(given, bytes):
        raise Wrong(f"{what} returns {type(given).__name__}, {given!r:.60}; expected bytes.")
    if len(given) != DIGEST:
        raise Wrong(
            f"{what} returns {len(given)} bytes; expected {DIGEST}. With few bits two of many blocks have one key by "
            "chance, and who wants a collision finds it by trying."
        )
    return given
