import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from kvlib.errors import BadInput
from kvlib.events import EventLog
from kvlib.ledger import number
from kvlib.memory import RecordedBlockManager
from kvlib.show.board import Board
from kvlib.show.exploded import exploded
from kvlib.show.exploded_labels import PARTS
from kvlib.show.figures import Picture
from kvlib.sizing import ModelSpec, known_models

CHAPTER = Path(__file__).parents[2] / "book" / "13-taking-it-apart.md"
OPT = known_models()["opt-13b"]
NUM_BLOCKS, BLOCK_SIZE = number("machine-blocks").value, number("machine-block-size").value
LEAST_TYPE = 9 * 360 / 320  # units that are 9 pixels where the drawing is narrowest


def manager(num_blocks: int = NUM_BLOCKS, block_size: int = BLOCK_SIZE) -> RecordedBlockManager:
    return RecordedBlockManager(num_blocks, block_size, log=EventLog())


def drawn(lengths: tuple[int, ...] = (15, 7), spec: ModelSpec = OPT, **memory: int) -> tuple[Picture, Element]:
    """The drawing of sequences that hold so many tokens, and its elements."""
    held = manager(**memory)
    for seq, num_tokens in enumerate(lengths):
        held.admit(f"seq {seq}", num_tokens)
        held.log.say(f"seq {seq}", [" word"] * num_tokens)
    picture = exploded(Board.at(held.log), spec)
    return picture, ElementTree.fromstring(picture.svg)


def drawn_of(held: RecordedBlockManager) -> tuple[Picture, Element]:
    picture = exploded(Board.at(held.log), OPT)
    return picture, ElementTree.fromstring(picture.svg)


def having(root: Element, kind: str) -> list[Element]:
    return [element for element in root.iter() if kind in element.get("class", "").split()]


def texts(root: Element, kind: str) -> list[str]:
    return [element.text or "" for element in having(root, kind)]


def discs(d: str) -> list[tuple[float, float]]:
    """The leftmost points of the circles in a path."""
    return [(float(x), float(y)) for x, y in re.findall(r"M(-?[\d.]+) (-?[\d.]+)a", d)]


def test_the_machine_has_the_boards_and_holes_of_the_ledger_and_the_plates_of_the_model() -> None:
    _, root = drawn()
    holes = [len(discs(hole.get("d", ""))) for hole in having(root, "hole")]
    assert len(having(root, "board")) == NUM_BLOCKS
    assert holes == [BLOCK_SIZE] * NUM_BLOCKS
    assert len(having(root, "plate")) == OPT.num_layers
    [slots, taken] = having(root, "slot")
    assert slots.get("d", "").count("Z") == number("machine-slots").value
    assert taken.get("d", "") in slots.get("d", "")


def test_another_memory_and_model_draw_another_machine() -> None:
    _, root = drawn(lengths=(5,), num_blocks=9, block_size=2, spec=known_models()["llama-3-8b"])
    assert len(having(root, "board")) == 9
    assert len(having(root, "plate")) == known_models()["llama-3-8b"].num_layers


def test_there_is_a_pin_for_each_stored_token_and_one_that_shows_how_it_is_made() -> None:
    _, root = drawn(lengths=(15, 7, 3))
    assert len(having(root, "pin")) == 15 + 7 + 3 + 1
    assert len(having(having(root, "enlarged")[0], "pin")) == 1


def test_sequences_differ_in_the_tops_of_their_keys_and_not_in_colour_alone() -> None:
    _, root = drawn(lengths=(4, 3, 2, 1))
    [large] = having(having(root, "enlarged")[0], "pin")
    shapes = Counter(pin.get("class") for pin in having(root, "pin") if pin is not large)
    assert sorted(shapes.values()) == [1, 2, 3, 4]
    assert texts(root, "letter") == ["A", "B", "C", "D"] * 2  # beside the flaps and beside the type


def test_the_flaps_are_the_block_tables_and_the_followed_one_names_the_followed_board() -> None:
    held = manager()
    for seq, num_tokens in (("a", 6), ("b", 5), ("c", 1)):
        held.admit(seq, num_tokens)
    held.free("b")
    held.append("a", 3)
    _, root = drawn_of(held)
    tables = [table.blocks for table in Board.at(held.log).tables.values()]
    assert texts(root, "flap-number") == [str(block) for blocks in tables for block in blocks]
    [flap] = [element for element in having(root, "followed") if "board" not in element.get("class", "").split()]
    [board] = [element for element in having(root, "followed") if "board" in element.get("class", "").split()]
    painted = having(root, "board")
    assert texts(flap, "flap-number") == [str(NUM_BLOCKS - painted.index(board))] == [str(tables[0][-1])]


def test_a_block_of_two_sequences_has_its_pins_once_and_the_colour_of_neither() -> None:
    held = manager()
    held.admit("a", 8)
    held.fork("a", "b")
    held.append("b")
    picture, root = drawn_of(held)
    colours = Counter(pin.get("style") for pin in having(root, "pin")[:-1])
    assert colours == {"--seq: var(--ink)": 8, "--seq: var(--seq-b)": 1}
    assert sorted(board.get("style", "") for board in having(root, "used")) == [
        *["--seq: var(--ink)"] * 2,
        "--seq: var(--seq-b)",
    ]
    assert "9 pins" in picture.alt


def test_a_token_that_is_not_written_yet_has_no_pin() -> None:
    held = manager()
    held.admit("a", 6)
    board = Board(held.log)
    for place, event in enumerate(held.log.events):
        if event["kind"] == "allocate":
            board.apply(event, place)
    root = ElementTree.fromstring(exploded(board, OPT).svg)
    assert len(having(root, "used")) == 2
    assert having(having(root, "enlarged")[0], "key")
    assert having(root, "pin") == []
    assert having(root, "followed") == []


def test_a_table_with_more_blocks_than_flaps_shows_its_end() -> None:
    _, root = drawn(lengths=(60,))
    flaps = texts(root, "flap-number")
    assert flaps[0] == "…"
    assert flaps[1:] == [str(block) for block in range(15 - len(flaps) + 2, 16)]


def test_an_empty_machine_is_drawn_too() -> None:
    picture, root = drawn(lengths=())
    assert having(root, "used") == having(root, "pin") == having(root, "flap") == []
    assert "0 pins" in picture.alt


def test_every_part_is_a_numbered_link_to_a_section_that_the_chapter_has() -> None:
    _, root = drawn()
    anchors = re.findall(r"^\((part-[\w-]+)\)=$", CHAPTER.read_text(), re.MULTILINE)
    labels = having(root, "label")
    assert [label.get("href") for label in labels] == [f"#part-{part}" for part in PARTS]
    assert [f"part-{part}" for part in PARTS] == anchors
    assert [texts(label, "digit") for label in labels] == [[str(place)] for place in range(1, len(PARTS) + 1)]


def test_a_link_is_named_by_what_stands_on_it() -> None:
    _, root = drawn()
    for label in having(root, "label"):
        [digit], [name] = texts(label, "digit"), texts(label, "name")
        assert label.get("aria-label", "").startswith(f"{digit} {name}: ")


def test_keyboard_and_screen_reader_meet_each_part_once() -> None:
    _, root = drawn()
    hidden = [scene for scene in root if scene.get("aria-hidden") == "true"]
    parts = {part for scene in hidden for part in scene.iter("a")}
    reached = [anchor for anchor in root.iter("a") if anchor not in parts]
    assert {part.get("tabindex") for part in parts} == {"-1"}
    assert {part.get("href") for part in parts} == {anchor.get("href") for anchor in reached}
    assert len(reached) == len(PARTS)
    assert all(anchor.get("tabindex") is None for anchor in reached)


def test_a_finger_meets_a_link_on_the_narrowest_page() -> None:
    _, root = drawn()
    for disc in having(root, "disc"):
        assert 2 * float(disc.get("r", "0")) * 320 / 360 >= 24


def test_names_and_discs_lie_in_the_drawing_and_clear_of_each_other() -> None:
    _, root = drawn(lengths=(4, 3, 2, 1))
    _, _, width, height = map(float, root.get("viewBox", "").split())
    places = [(float(disc.get("cx", "0")), float(disc.get("cy", "0"))) for disc in having(root, "disc")]
    assert all(20 <= x <= width - 20 and 20 <= y <= height - 32 for x, y in places)
    column = sorted(y for x, y in places if x == min(places)[0])
    assert min(lower - upper for upper, lower in pairwise(column)) >= 44


@pytest.mark.parametrize("lengths", [(), (15,), (15, 7, 3, 9)])
def test_nothing_is_drawn_outside(lengths: tuple[int, ...]) -> None:
    _, root = drawn(lengths)
    _, _, width, height = map(float, root.get("viewBox", "").split())
    [scene] = [element for element in root if element.get("aria-hidden")]
    across, down = map(float, re.findall(r"[\d.]+", scene.get("transform", "")))
    corners = [
        (float(x) + across, float(y) + down)
        for part in scene.iter("path")
        for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", part.get("d", ""))
    ]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in corners)


def test_type_can_be_read_where_the_drawing_is_narrowest() -> None:
    picture, _ = drawn()
    sizes = [float(size) for size in re.findall(r"(?:font-size: |font: 500 )([\d.]+)px", picture.svg)]
    assert len(sizes) >= 4
    assert min(sizes) >= LEAST_TYPE
    assert "min-width: 320px" in picture.svg


def test_every_colour_is_the_pages_with_the_light_one_to_fall_back_to() -> None:
    picture, root = drawn()
    style = root.findtext("style") or ""
    variables = dict(re.findall(r"--([\w-]+): (var\(--kv-[\w-]+, .*?#[0-9a-f]{6}\)+);", style))
    painted = re.findall(r"(?:fill|stroke): ([^;}]+)", style)
    for value in painted:
        assert value == "none" or set(re.findall(r"--([\w-]+)", value)) <= variables.keys() | {"seq"}, value
        assert not re.search(r"#|rgb|hsl", value)
    assert not re.search(r"(?<!, )#[0-9a-f]{6}\b", picture.svg)
    assert all("fill" not in element.attrib and "stroke" not in element.attrib for element in root.iter())


def test_the_style_is_for_the_drawing_alone() -> None:
    _, root = drawn()
    rules = re.sub(r"@media[^{]*\{(.*)\}", r"\1", root.findtext("style") or "")
    for selectors in re.findall(r"([^{}]+)\{[^}]*\}", rules):
        for selector in re.split(r",(?![^(]*\))", selectors):
            assert selector.strip().startswith(".kv-exploded"), selector


def test_what_is_pointed_at_or_focused_stands_out() -> None:
    _, root = drawn()
    style = root.findtext("style") or ""
    for part in PARTS:
        assert f":has(.{part}:is(:hover, :focus-visible)) .part:not(.{part})" in style
    assert ".label:focus-visible .ring" in style
    assert re.search(r"prefers-reduced-motion: no-preference\) \{[^}]*transition", style)


def test_under_a_finger_only_the_numbers_are_links() -> None:
    _, root = drawn()
    assert "@media (hover: none) { .kv-exploded .part { pointer-events: none; } }" in (root.findtext("style") or "")


def test_the_text_says_what_the_drawing_shows() -> None:
    picture, root = drawn(lengths=(6, 3))
    assert root.get("aria-label") == picture.alt
    assert root.get("role") == "group"  # links in an image are not there for a screen reader
    for said in ("176 slots", "9 pins", "44 boards of 4 holes", "40 plates", "A 1 2; B 3"):
        assert said in picture.alt


def test_words_of_a_text_are_drawn_as_text() -> None:
    held = manager()
    held.admit("a", 3)
    held.log.say("a", ["<b>", " &", "\n"])
    _, root = drawn_of(held)
    assert texts(root, "piece") == ["<b>", "&", "⏎"]


def test_a_piece_that_is_chosen_and_not_stored_has_no_colour_and_what_comes_later_is_not_drawn() -> None:
    held = manager()
    held.admit("a", 2)
    held.log.say("a", ["one", " two", " three", " four"])
    held.admit("b", 1)
    held.log.say("b", ["all"])
    _, root = drawn_of(held)
    assert texts(root, "piece") == ["one", "two", "three", "all"]
    [unstored] = having(root, "unstored")
    assert texts(unstored, "piece") == ["three"]


def test_the_base_says_how_many_bytes_the_memory_takes() -> None:
    _, root = drawn()
    assert texts(root, "engraved") == [f"{number('machine-memory-mib').value:g} MiB"]


def test_the_same_board_gives_the_same_text() -> None:
    assert drawn()[0].svg == drawn()[0].svg


@pytest.mark.parametrize(
    ("lengths", "memory", "reason"),
    [
        ((1, 1, 1, 1, 1), {}, "5 sequences hold memory.*tells 4 apart"),
        ((1,), {"num_blocks": 1000, "block_size": 16}, "1000 blocks of 16 slots"),
    ],
)
def test_what_could_not_be_seen_is_refused(lengths: tuple[int, ...], memory: dict[str, int], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        drawn(lengths, **memory)


def test_a_log_without_blocks_is_refused() -> None:
    with pytest.raises(BadInput, match="0 blocks of 0 slots"):
        exploded(Board(EventLog()), OPT)
