"""What the machine says: each event, the state as a whole, and the slots of contiguous memory."""

from playwright.sync_api import expect

from kvlib.memory.contiguous import Max

from .machines import button_of, data_of, opened_machines
from .runs import contiguous

machine = opened_machines


def test_each_step_is_said_politely_and_playing_is_not(machine):
    page = machine()
    said = page.locator(".kv-said")
    button_of(page, "One step forward").click()
    expect(said).to_have_attribute("aria-live", "polite")
    expect(said).to_contain_text("All of step 1: A stored 6 tokens; A took 2 blocks; B shared 2 blocks.")
    button_of(page, "Play").click()
    expect(said).to_have_attribute("aria-live", "off")


def test_every_event_is_told_in_words(machine):
    page = machine()
    said = []
    for position in range(11):
        page.evaluate(f"model.set('position', {position})")
        said.append(page.locator(".kv-said").inner_text().split(" All of step")[0])
    assert said == [
        "Nothing has happened yet. Play, or point at a block, a table entry or a word.",
        "A takes block 1 for its logical block 0.",
        "A takes block 2 for its logical block 1.",
        "A stores its tokens 0 to 5 in blocks 1 and 2.",
        "B names block 1, as A does, for its logical block 0: its count is 2 now.",
        "B names block 2, as A does, for its logical block 1: its count is 2 now.",
        "B is about to write into block 2, which A also names: the block is copied to 3 first, "
        "which is B's logical block 1 from now on.",
        "B stores “unhappy”, its token 6, in block 3.",
        "A stores “one”, its token 6, in block 2.",
        "B lets go of block 3, which is free.",
        "B lets go of block 1, which A still names.",
    ]


def test_the_account_tells_the_whole_state(machine):
    page = machine(position=8)
    page.get_by_text("The state in words").click()
    expect(page.locator(".kv-account p")).to_have_text(
        [
            "This is a memory of 5 blocks of 4 slots in step 2, after 8 of 10 events. A stores “one”, its token 6, in "
            "block 2. All of step 2: B and A stored 2 tokens; 1 block copied.",
            "Running: A and B. Waiting: nobody. On the host: nobody. Preemptions so far: 0. Of 20 slots, 10 store a "
            "token, 0 are reserved for one, 2 are internal waste, 0 external, and 8 are free.",
            "A has 7 tokens in blocks 1 and 2, the last with 3 of 4 filled. "
            "It reads: All happy families are alike; each one",
            "B has 7 tokens in blocks 1 and 3, the last with 3 of 4 filled. "
            "It reads: All happy families are alike; each unhappy",
            "Shared: block 1 by 2 sequences.",
        ]
    )


def test_contiguous_memory_tells_what_each_slot_is_for(machine):
    log = contiguous(50, Max(20), {"first": (3, 5), "second": (6, 4), "third": (2, 2)})
    page = machine(data_of(log), position=8, row=20)
    page.get_by_role("application").focus()
    said = {}
    for slot in range(50):
        page.keyboard.press("ArrowRight")
        said[slot] = page.locator(".kv-seen").inner_text()
    assert said[0] == "Slot 0 has A's token 0, “the”."
    assert said[3] == "Slot 3 is reserved: A's token 3 will come here."
    assert said[8] == "Slot 8 was given to A, which will never use it: internal waste."
    assert said[45] == "Slot 45 is free, in a gap too small for the first that waits: external waste."
    readings = dict(zip(page.locator("dt").all_inner_texts(), page.locator("dd").all_inner_texts()))
    assert (readings["stored"], readings["external"], readings["waiting"]) == ("9", "10", "1")
