import json

import pytest

from kvlib.errors import BadEvents
from kvlib.events import EventLog
from kvlib.memory import BlockManager, Max, RecordedBlockManager, RecordedContiguousManager


def small_log():
    log = EventLog()
    manager = RecordedBlockManager(4, 4, log)
    manager.admit("A", 5)
    log.say("A", ["The", " cat"])
    log.next_step()
    manager.fork("A", "B")
    manager.append("B")
    log.next_step()
    manager.free("A")
    return log


def kinds(log):
    return [(event["step"], event["kind"]) for event in log.events]


def test_every_change_of_the_memory_is_logged_in_order():
    assert kinds(small_log()) == [
        (0, "allocate"),
        (0, "allocate"),
        (0, "write"),
        (1, "share"),
        (1, "share"),
        (1, "copy"),
        (1, "write"),
        (2, "free"),
        (2, "free"),
    ]


def test_an_eviction_is_logged_before_the_block_is_given_away():
    log = EventLog()
    manager = RecordedBlockManager(1, 4, log)
    manager.admit("A", 4)
    manager.publish("A", ["k"])
    manager.free("A")
    manager.admit("B", 4)
    assert [kind for _, kind in kinds(log)][-3:] == ["evict", "allocate", "write"]


def test_a_log_comes_back_from_json_as_it_was():
    log = small_log()
    again = EventLog.from_json(log.to_json())
    assert (again.num_blocks, again.block_size, again.step) == (4, 4, 2)
    assert again.texts == {"A": ["The", " cat"]}
    assert again.events == log.events
    assert again == log
    log.next_step()
    assert EventLog.from_json(log.to_json()).step == 3
    assert again != log


def test_a_second_memory_is_refused_before_the_first_event_too():
    log = EventLog()
    RecordedBlockManager(4, 4, log)
    with pytest.raises(BadEvents, match="give a new EventLog"):
        RecordedBlockManager(8, 2, log)


def test_a_log_of_contiguous_memory_comes_back_from_json_and_is_of_no_other_memory():
    log = EventLog()
    manager = RecordedContiguousManager(64, Max(20), log)
    manager.admit("A", 3, 5)
    manager.admit("B", 16, 4)
    manager.refuse("C", 16, 4)
    manager.tick()
    manager.free("A")
    assert EventLog.from_json(log.to_json()) == log
    assert log.num_slots == 64
    with pytest.raises(BadEvents, match="of another memory, of 64 slots"):
        RecordedBlockManager(4, 4, log)


@pytest.mark.parametrize("fields", [{}, {"block": 1, "seq": "A"}])
def test_an_event_with_other_fields_than_its_kind_has_is_not_added(fields):
    log = EventLog()
    with pytest.raises(BadEvents, match="'evict' with"):
        log.add("evict", **fields)
    assert len(log) == 0


def test_the_plain_manager_knows_nothing_of_logs():
    assert "log" not in vars(BlockManager(4, 4))
    assert not hasattr(BlockManager(4, 4).pool, "log")


def test_a_log_belongs_to_one_memory():
    log = small_log()
    with pytest.raises(BadEvents, match="of another memory, of 4 blocks"):
        RecordedBlockManager(4, 4, log)


def changed(**fields):
    data = json.loads(small_log().to_json())
    data.update(fields)
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (small_log().to_json()[:-20], "cut short"),
        ("[]", "version None"),
        (None, "not whole JSON"),
        (changed(version=True), "version True"),
        (changed(num_blocks=-1), "num_blocks is -1"),
        (changed(texts={"A": 5}), "texts has A = 5"),
        (changed(events=[{"kind": ["free"], "step": 0}]), "event 0 is"),
        (changed(version=1), "version 1, this kvlib reads version 2"),
        (changed(num_slots=8), "of another memory, of 4 blocks"),
        (changed(num_blocks=0, num_slots=-8), "num_slots is -8"),
        (changed(num_blocks="4"), "num_blocks = '4'"),
        (changed(events=[{"kind": "melt", "step": 0}]), "event 0 is .*melt"),
        (changed(events=[{"kind": "free", "step": 0, "seq": "A", "block": 1}]), "event 0 .free. has count = None"),
        (changed(events=[{"kind": "evict", "step": True, "block": 1}]), "step = True"),
    ],
)
def test_a_damaged_log_is_refused_with_the_place(text, words):
    with pytest.raises(BadEvents, match=words):
        EventLog.from_json(text)
