"""The museum of lab 11: each fault is caught by the invariant named, and by no accident."""

import itertools
from collections import Counter
from math import ceil, nan
from pathlib import Path

import pytest
import torch

from kvlib.chance import Chance
from kvlib.errors import BadInput
from kvlib.grading.exercises.museum.checks import check, observe
from kvlib.grading.exercises.museum.claims import CLAIMS
from kvlib.grading.exercises.museum.exhibit import Edit, Exhibit
from kvlib.grading.exercises.museum.exhibits import BLOCKED, EXHIBITS, TAIL
from kvlib.grading.exercises.museum.lockstep import filmed, work
from kvlib.grading.exercises.museum.matrix import IN_MEMORY, NUM_STRUCK, noticed, struck
from kvlib.grading.exercises.museum.queue import arrivals
from kvlib.grading.exercises.museum.tail import FAULTS, attention, problem
from kvlib.grading.lab import read
from kvlib.grading.released import without_marks

LAB = Path(__file__).parents[4] / "labs" / "11-the-bug-museum.md"
MEMORY = [each.name for each in IN_MEMORY]
SEEDS = range(40)

# Of a fault: the invariants that are broken in the step in which it strikes, always or in some memories.
ALWAYS = {
    "stale": {"stale"},
    "early": {"early"},
    "evicted": {"evicted", "shared"},
    "twice": {"twice"},
    "shared": {"shared"},
    "nothing": {"nothing"},
}
SOMETIMES = {"stale": {"early"}}  # a block that is written anew is not full yet


def model_answers():
    """The invariants as the lab's own answers state them, by the name of the exercise."""
    found = {}
    names = {"Snapshot": object, "Queue": object, "Callable": object, "Tensor": object}
    for cell in read(LAB):
        if cell.role == "answer":
            namespace = names | {"ceil": ceil, "nan": nan, "torch": torch}
            known = set(namespace)
            exec(without_marks(cell.source), namespace)
            [found[cell.exercise]] = [namespace[name] for name in set(namespace) - known - {"__builtins__"}]
    return found


def lines(*texts):
    """How often each line is there, wherever it begins."""
    return Counter(line.strip() for text in texts for line in text.splitlines())


INVARIANTS = model_answers()
OF_MEMORY = {name: INVARIANTS[name] for name in MEMORY}

each_exhibit = pytest.mark.parametrize("name", EXHIBITS)
each_in_memory = pytest.mark.parametrize("name", MEMORY)


def test_there_are_eight_exhibits_and_an_exercise_for_each():
    assert len(EXHIBITS) == 8
    assert list(INVARIANTS) == list(EXHIBITS)


@each_in_memory
def test_the_invariant_holds_in_every_state_of_the_corrected_code(name):
    for seed in SEEDS:
        states = [shot.state for shot in filmed(work(EXHIBITS[name], Chance(seed))).sound]
        assert all(INVARIANTS[name](state) for state in states)


@each_in_memory
def test_each_fault_is_caught_by_its_invariant_in_the_step_in_which_it_strikes(name):
    for shot in struck(name, num_struck=15):
        assert not INVARIANTS[name](shot.state)


@pytest.mark.parametrize("name", CLAIMS)
def test_a_strike_shows_in_what_a_learner_is_told_of_the_state(name):
    claim = CLAIMS[name]
    films = (filmed(claim.steps(Chance(seed))) for seed in itertools.count())
    for film in itertools.islice((film for film in films if film.struck), 10):
        sound = film.sound[film.number].state
        assert any(getattr(film.struck.state, field) != getattr(sound, field) for field in claim.fields)


@pytest.mark.parametrize(("name", "words"), [(name, words) for name in CLAIMS for words in CLAIMS[name].mistakes])
def test_each_known_mistake_is_wrong_and_recognised(name, words):
    claim = CLAIMS[name]
    verdict = check(name, lambda **state: claim.mistakes[words](state[claim.of]))
    assert not verdict.is_right
    assert words in verdict.words


def test_no_invariant_but_these_notices_a_fault_of_the_memory():
    for fault, row in noticed(OF_MEMORY).items():
        assert {name for name, times in row.items() if times == NUM_STRUCK} == ALWAYS[fault]
        assert {name for name, times in row.items() if 0 < times < NUM_STRUCK} == SOMETIMES.get(fault, set())


def test_too_large_a_request_is_caught_when_it_arrives_and_not_before():
    law, num_struck = INVARIANTS["blocked"], 0
    for seed in SEEDS:
        film = filmed(arrivals(BLOCKED, Chance(seed)))
        assert all(law(shot.state) for shot in film.sound)
        if film.struck:
            num_struck += 1
            assert film.struck.what.startswith("ask(")
            assert not law(film.struck.state)
    assert num_struck > len(SEEDS) // 2


def test_a_request_that_fills_the_memory_arrives_too():
    states = [shot.state for seed in SEEDS for shot in filmed(arrivals(BLOCKED, Chance(seed))).sound]
    assert any(state.num_blocks * state.block_size in state.waiting.values() for state in states)


@pytest.mark.parametrize("fault", FAULTS)
def test_an_attention_that_reads_unused_slots_is_told_from_the_corrected_one(fault):
    law, sound, faulty = INVARIANTS["tail"], attention(), attention(FAULTS[fault])
    for seed in SEEDS:
        given, full = problem(Chance(seed)), problem(Chance(seed), is_full=True)
        assert law(sound, *given)
        assert law(sound, *full)
        assert not law(faulty, *given)
        assert law(faulty, *full)


def test_with_finite_numbers_in_unused_slots_the_fault_of_the_last_exhibit_shows_nothing():
    for seed in SEEDS:
        given = problem(Chance(seed))
        torch.testing.assert_close(attention(TAIL.edits)(*given), attention()(*given))


@each_exhibit
def test_undoing_the_edits_gives_the_source_back(name):
    exhibit = EXHIBITS[name]
    text = exhibit.edited()
    assert text != exhibit.source()
    for old, new in exhibit.edits[::-1]:
        if new:
            assert text.count(new) == 1
            text = text.replace(new, old)
        else:  # what was cut out goes back between the same two lines
            before, after = exhibit.source().split(old)
            assert text == before + after
            text = before + old + after
    assert text == exhibit.source()


@each_in_memory
def test_without_its_edits_an_exhibit_never_differs_from_the_code_it_came_from(name):
    mended = EXHIBITS[name]._replace(edits=())
    assert all(filmed(work(mended, Chance(seed))).struck is None for seed in SEEDS)


def test_without_its_edits_the_queue_refuses_what_it_should():
    mended = BLOCKED._replace(edits=())
    assert all(filmed(arrivals(mended, Chance(seed))).struck is None for seed in SEEDS)


@pytest.mark.parametrize("old", ["no such text", "self"])
def test_an_edit_of_a_text_that_is_not_there_once_is_refused(old):
    exhibit = Exhibit("any", "kvlib.memory.pool", (Edit(old, ""),), ())
    with pytest.raises(BadInput, match=r"times in kvlib\.memory\.pool; the exhibit has to follow the code"):
        exhibit.edited()


@each_exhibit
def test_the_diff_shows_what_was_taken_and_what_was_put_there(name):
    exhibit = EXHIBITS[name]
    taken, put = ([line[2:] for line in exhibit.diff.lines[1:] if line[:1] == sign] for sign in "-+")
    assert taken + put
    assert lines(exhibit.source()) - lines(*taken) + lines(*put) == lines(exhibit.edited())
    assert all(source in repr(exhibit.diff) for source in exhibit.sources)


def raising(**_):
    raise RuntimeError("no")


@each_exhibit
@pytest.mark.parametrize(
    "answer", [None, "True", lambda: True, lambda **_: None, lambda **_: "yes", lambda **_: [True], raising]
)
def test_there_are_words_for_an_answer_that_is_no_invariant(name, answer):
    verdict = check(name, answer)
    assert not verdict.is_right
    assert verdict.words
    assert observe(name, answer, 5).startswith("stopped: ")


@each_exhibit
@pytest.mark.parametrize("constant", [True, False])
def test_an_answer_that_always_says_the_same_is_wrong(name, constant):
    assert not check(name, lambda **_: constant).is_right


@each_exhibit
def test_the_lab_cites_every_source_of_an_exhibit(name):
    text = LAB.read_text(encoding="utf-8")
    assert EXHIBITS[name].sources
    assert all(source in text for source in EXHIBITS[name].sources)


def test_the_work_shares_copies_and_evicts_or_no_fault_could_show():
    shots = [shot for seed in SEEDS for shot in filmed(work(EXHIBITS["stale"], Chance(seed))).sound]
    calls = {shot.what.partition("(")[0] for shot in shots}
    assert calls == {"admit", "compute", "say", "fork", "free"}
    assert any(count > 1 for shot in shots for count in shot.state.counts.values())
    assert any(len(shot.state.key_of) > len(shot.state.holder) for shot in shots)
    pairs = itertools.pairwise(shots)
    assert any(before.state.cached and not after.state.cached for before, after in pairs)
