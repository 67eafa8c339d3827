"""What the machine says: each event, the state as a whole, and the slots of contiguous memory."""

from playwright.sync_api import expect

from kvlib.events import EventLog
from kvlib.memory import RecordedBlockManager
from kvlib.memory.buddy import BuddyAllocator
from kvlib.memory.contiguous import Max, Oracle

from .machines import CROWDED, FORKED, button_of, crowded, data_of, forked, opened_machines, readings_of
from .runs import contiguous

machine = opened_machines


def test_each_step_is_said_politely_and_playing_is_not(machine):
    page = machine()
    said = page.locator(".kv-said")
    button_of(page, "One step forward").click()
    expect(said).to_have_attribute("aria-live", "polite")
    expect(said).to_contain_text("Step 1 in all: A stored 6 tokens; A took 2 blocks; B shared 2 blocks.")
    button_of(page, "Play").click()
    expect(said).to_have_attribute("aria-live", "off")


def test_every_event_is_told_in_words(machine):
    page = machine()
    said = []
    for position in range(11):
        page.evaluate(f"model.set('position', {position})")
        said.append(page.locator(".kv-said").inner_text().split(" Step ")[0])
    assert said == [
        "Nothing has happened yet. Play, or point at a block, a table entry or a word.",
        "A takes block 1: entry 0 in its table.",
        "A takes block 2: entry 1 in its table.",
        "A stores its tokens 0 to 5 in blocks 1 and 2.",
        "B names block 1, as A does: entry 0 in its table. The block's count is 2 now.",
        "B names block 2, as A does: entry 1 in its table. The block's count is 2 now.",
        "B is about to write into block 2, which A also names: the block is copied to 3 first, "
        "from now on entry 1 in B's table.",
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
            "block 2. Step 2 in all: B and A stored one token each; 1 block copied.",
            "Running: A and B. Waiting: nobody. On the host: nobody. Preemptions so far: 0. Of 20 slots, 10 store a "
            "token, 0 are reserved for one, 2 are internal waste, 0 external, and 8 are free.",
            "A has 7 tokens in blocks 1 and 2, the last with 3 of 4 filled. "
            "It reads: All happy families are alike; each one",
            "B has 7 tokens in blocks 1 and 3, the last with 3 of 4 filled. "
            "It reads: All happy families are alike; each unhappy",
            "Shared: block 1 by 2 texts.",
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
    readings = readings_of(page)
    assert (readings["stored"], readings["external"], readings["waiting"]) == ("9", "10", "1")


def rounded(**options):
    return data_of(contiguous(32, Oracle(20), {"first": (3, 2), "second": (6, 4), "third": (2, 12)}, **options))


def test_the_slots_of_a_chunk_beyond_what_was_asked_for_are_rounding(machine):
    page = machine(rounded(allocator=BuddyAllocator), position=5, row=16)
    page.get_by_role("application").focus()
    said = []
    for _ in range(8):
        page.keyboard.press("ArrowRight")
        said.append(page.locator(".kv-seen").inner_text())
    assert said[2:6] == [
        "Slot 2 has A's token 2, “was”.",
        "Slot 3 is reserved: A's token 3 will come here.",
        "Slot 4 is reserved: A's token 4 will come here.",
        "Slot 5 is in the chunk of A by rounding: external waste.",
    ]
    assert readings_of(page)["external"] == "3"


def account(page):
    page.get_by_text("The state in words").click()
    expect(page.locator(".kv-account p").first).to_be_visible()
    return page.locator(".kv-account p").all_inner_texts()


def test_the_account_reads_of_a_chunk_what_is_stored(machine):
    said = account(machine(rounded(allocator=BuddyAllocator), position=5, row=16))
    assert said[2:] == [
        "A has 3 tokens in the chunk of slots 0 to 7, 5 of them asked for. It reads: the sea was",
    ]
    assert "Running: A. Waiting: B and C. On the host: nobody." in said[1]


def test_the_account_tells_of_who_waits_and_of_who_is_on_the_host(machine):
    waits = account(machine(CROWDED, position=8))
    assert "Running: A. Waiting: B. On the host: nobody. Preemptions so far: 1." in waits[1]
    assert waits[-1] == "B waits for memory; its 2 tokens will be computed again."
    moved = account(machine(data_of(crowded("swap")), position=8))
    assert "Running: A. Waiting: nobody. On the host: B. Preemptions so far: 1." in moved[1]
    assert moved[-1] == "B has 2 tokens in host block 1, all full. It reads: A boat"


def test_of_three_that_name_a_block_one_lets_go(machine):
    log = EventLog()
    manager = RecordedBlockManager(5, 4, log)
    manager.admit("first", 3)
    for child in ("second", "third"):
        manager.fork("first", child)
    manager.free("third")
    last = len(log)
    assert told(machine(data_of(log)), [last])[last].startswith(
        "C lets go of block 1, which A and B still name. Step 0 in all:"
    )


def test_an_id_that_stands_for_itself_is_quoted(machine):
    events = [{"step": 1, "kind": "arrive", "seq": seq} for seq in ("A", "")]
    said = told(machine(FORKED | {"events": events, "texts": {}}), (1, 2))
    assert said[1] == "“A” comes and waits for memory."
    assert said[2].startswith("“” comes and waits for memory.")


def test_what_is_chinese_is_marked_as_that_and_nothing_else_is(machine):
    page = machine(FORKED | {"texts": {"first": ["春", "眠不", " sea"]}}, position=3)
    tokens = page.locator(".kv-token")
    assert tokens.locator("[lang=zh]").all_inner_texts() == ["春", "眠不"]
    assert set(page.eval_on_selector_all(".kv-token", "all => all.map(({ dir }) => dir)")) == {"auto"}
    assert account(page)[2].endswith("It reads: 春眠不 sea")
    assert page.locator(".kv-account [lang=zh]").all_inner_texts() == ["春眠不"]


def told(page, positions):
    said = {}
    for position in positions:
        page.evaluate(f"model.set('position', {position})")
        said[position] = page.locator(".kv-said").inner_text()
    return said


def test_the_end_is_said_only_where_nobody_waits_and_somebody_was_there(machine):
    log = forked()
    for kind, fields in (("free", {"block": 2, "count": 0}), ("free", {"block": 1, "count": 0})):
        log.add(kind, seq="first", **fields)
    ended = data_of(log)
    log.add("arrive", seq="third")
    waiting = data_of(log)
    arrived = waiting | {"events": waiting["events"][-1:]}
    said = [told(machine(data), (len(data["events"]),)).popitem()[1] for data in (ended, waiting, arrived)]
    assert ["All of it is free again" in each for each in said] == [True, False, False]


def test_names_after_z_have_no_digits_and_joined_letters_stay_joined(machine):
    log = EventLog()
    manager = RecordedBlockManager(30, 1, log)
    for number in range(28):
        manager.admit(f"s{number}", 1)
    log.say("s26", ["\u200d"])
    log.say("s27", ["👨\u200d👩 x\u202ey"])
    said = told(machine(data_of(log)), (54, 56))
    assert "“�”" in said[54]
    assert said[54].startswith("AA stores")
    assert said[56].startswith("AB stores “👨\u200d👩 x�y”")


def test_why_a_text_lets_go_is_said_before_it_does(machine):
    assert told(machine(CROWDED), (7, 8, 11, 13, 17)) == {
        7: "Memory is short: B gives up block 2, which is free.",
        8: "So B is preempted: it has lost all its blocks and waits. Its tokens will be computed again.",
        11: "A ends and lets go of block 2, which is free.",
        13: "A has ended; its text goes.",
        17: "B has ended; its text goes. Step 4 in all: B ended. All of it is free again. Go back to see it in use.",
    }
    assert told(machine(data_of(crowded("swap"))), (7, 8)) == {
        7: "Memory is short: what B has in block 2 goes to host block 1.",
        8: "So B is preempted: it waits, and its tokens with it, on the host.",
    }


def test_of_many_texts_a_step_says_how_many(machine):
    events = [{"step": 1, "kind": "arrive", "seq": seq} for seq in "abcd"]
    for block, seq in enumerate("abcd", start=1):
        events.append({"step": 2, "kind": "allocate", "seq": seq, "index": 0, "block": block})
    for seq in "abcd":
        events.append({"step": 2, "kind": "write", "seq": seq, "start": 0, "stop": 1})
    said = told(machine(FORKED | {"events": events}), (4, 12))
    assert said[4] == "D comes and waits for memory. Step 1 in all: 4 texts came."
    assert said[12].endswith("Step 2 in all: 4 texts stored one token each; 4 texts took 4 blocks.")


def test_what_is_left_over_is_too_small_for_who_waits(machine):
    log = contiguous(50, Max(20), {"first": (3, 5), "second": (6, 4), "third": (2, 2)})
    refusal = next(number for number, event in enumerate(log.events, start=1) if event["kind"] == "refuse")
    said = told(machine(data_of(log), row=20), (4, refusal))
    assert said[4].startswith("A asks for 20 slots and gets the chunk of slots 0 to 19.")
    assert said[refusal].startswith("C needs 20 slots in one piece and no gap left over has more than 10: it waits.")
