"""The Python side of the machine. What it shows in a browser is tested in tests/pages."""

import json
import re

import pytest

from kvlib.errors import BadInput
from kvlib.events import EventLog
from kvlib.memory import Max, RecordedBlockManager, RecordedContiguousManager
from kvlib.show.machine import Machine


def small_log():
    log = EventLog()
    manager = RecordedBlockManager(4, 4, log)
    manager.admit("A", 5)
    log.say("A", ["</script>", " cat"])
    log.next_step()
    manager.fork("A", "B")
    manager.append("B")
    return log


def data_in(html):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)[1])


def test_a_page_gets_the_whole_log_and_the_place_in_it():
    log = small_log()
    html = Machine(log, position=3, label="Two & more")._repr_mimebundle_()[0]["text/html"]
    traits = data_in(html)
    assert EventLog.from_json(json.dumps(traits["data"])) == log
    assert (traits["position"], traits["playing"], traits["row"], traits["label"]) == (3, False, 0, "Two & more")
    assert "Two &amp; more. A memory of 4 blocks of 4 slots, after 3 of 7 events" in html


def test_a_notebook_gets_the_widget_the_page_and_words_that_are_the_same_in_every_run():
    machine = Machine(small_log(), position=None)
    data = machine._repr_mimebundle_()[0]
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == machine.model_id
    assert data["text/plain"] == repr(Machine(small_log(), position=None)) == repr(machine)
    assert repr(machine) == (
        "Machine: The machine. A memory of 4 blocks of 4 slots, after 7 of 7 events: "
        "A has 5 tokens in blocks 1, 2; B has 6 tokens in blocks 1, 3."
    )


def test_what_is_added_to_the_log_reaches_the_front_end_once_and_later_views():
    log = small_log()
    machine, sent = Machine(log), []
    machine.observe(lambda change: sent.append(change.new), "data")
    log.next_step()
    log.add("free", seq="A", block=2, count=0)
    log.say("B", ["The"])
    machine.update()
    machine.update()
    assert sent == [json.loads(log.to_json())]
    assert machine.data == sent[0]


def test_contiguous_memory_is_told_by_its_chunks():
    log = EventLog()
    RecordedContiguousManager(64, Max(20), log).admit("A", 3, 5)
    assert "A memory of 64 slots, after 2 of 2 events: A has slots 0 to 31, 20 of them asked for, 3" in repr(
        Machine(log, position=None)
    )


def test_a_log_that_breaks_a_law_is_told_up_to_there():
    log = small_log()
    log.events.append({"step": 1, "kind": "free", "seq": "A", "block": 4, "count": 0})
    assert "B has 6 tokens in blocks 1, 3. It stops there: event 7 of the log" in repr(Machine(log, position=None))


@pytest.mark.parametrize(
    ("log", "position", "row", "words"),
    [
        ("{}", 0, 0, "give the EventLog"),
        (small_log(), 8, 0, "position is 8; the log has 7 events"),
        (small_log(), -1, 0, "position is -1"),
        (small_log(), 1.5, 0, "position is 1.5"),
        (small_log(), 0, -1, "row is -1"),
    ],
)
def test_what_cannot_be_shown_is_refused(log, position, row, words):
    with pytest.raises(BadInput, match=words):
        Machine(log, position=position, row=row)


def test_a_saved_machine_is_one_file_that_asks_for_no_other(tmp_path):
    file = tmp_path / "x.html"
    Machine(small_log(), label="For slides").save(file)
    page = file.read_text(encoding="utf-8")
    assert EventLog.from_json(json.dumps(data_in(page)["data"])) == small_log()
    assert "<title>For slides</title>" in page
    assert page.count("</script>") == 2
    assert re.findall(r'\b(?:src|href)="(?!data:)[^"]*"|url\(|@import', page) == []


def test_the_title_of_a_saved_machine_is_its_whole_label_or_says_what_it_is(tmp_path):
    file = tmp_path / "x.html"
    for label, title in (("Llama 3.1 at 0.5", "Llama 3.1 at 0.5"), ("", "Machine")):
        Machine(small_log(), label=label).save(file)
        assert f"<title>{title}</title>" in file.read_text(encoding="utf-8")


def test_half_a_surrogate_pair_does_not_keep_a_machine_from_being_saved(tmp_path):
    log, file = small_log(), tmp_path / "x.html"
    log.say("B", ["\ud83d"])
    Machine(log).save(file)
    assert data_in(file.read_text(encoding="utf-8"))["data"]["texts"]["B"] == ["?"]


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadInput, match="in a folder that is there"):
        Machine(small_log()).save(tmp_path / "lost" / "x.html")


def test_a_file_of_another_kind_is_not_overwritten(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(BadInput, match=r"ends in \.html"):
        Machine(small_log()).save(file)
    assert file.read_text() == "mine"
