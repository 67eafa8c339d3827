"""What the three appendices promise: each figure with its status, short answers, and a place that shows each."""

import re
from pathlib import Path

import pytest
import yaml

from kvlib import ledger

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
SECTION = re.compile(r"\]\((?:\.\./labs/)?\d\d-[\w-]+\.md#[\w-]+\)")  # a link to a section of a chapter or a lab


def items(page: str) -> dict[str, str]:
    """The text below each heading of the third level."""
    text = re.sub(r"^## .*\n", "", (BOOK / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(re.findall(r"^### (.+)\n((?:(?!### ).*\n?)*)", text, flags=re.MULTILINE))


def tables(page: str) -> list[list[list[str]]]:
    """The rows of each table, as cells, without the line below its head."""

    def cells(row: str) -> list[str]:
        return [cell.strip() for cell in row.strip("|").split("|")]

    text = (BOOK / page).read_text(encoding="utf-8")
    return [
        [cells(row) for row in table.splitlines() if not row.startswith("| ---")]
        for table in re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    ]


SAID = items("misunderstood.md")
ASKED = items("questions.md")

each_sentence = pytest.mark.parametrize("sentence", SAID)
each_question = pytest.mark.parametrize("question", ASKED)


def test_the_appendices_come_before_the_page_for_instructors() -> None:
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    files = [chapter["file"] for chapter in next(p for p in parts if p["caption"] == "Appendices")["chapters"]]
    places = [files.index(f"book/{page}") for page in ("left-out", "misunderstood", "questions", "instructors")]
    assert places == sorted(places)


def test_every_difference_says_what_is_real_and_what_changes_by_it() -> None:
    found = tables("left-out.md")
    assert len(found) >= 5
    for (_, *rest), *rows in found:
        assert rest == ["real", "what changes by it"]
        assert rows
        assert all(len(row) == 3 and all(row) for row in rows)


def test_at_least_twelve_sentences_are_put_right() -> None:
    assert len(SAID) >= 12
    assert all(sentence.startswith("“") and sentence.endswith("”") for sentence in SAID)


@each_sentence
def test_what_is_true_of_a_sentence_is_shown_in_a_section(sentence: str) -> None:
    *truth, shown = SAID[sentence].strip().split("\n\n")
    assert truth
    assert shown.startswith("*Shown in* ")
    assert SECTION.search(shown)


@each_sentence
def test_figures_beside_a_sentence_say_their_status(sentence: str) -> None:
    ids = re.findall(r"\{num(?:-bare)?\}`([^`]*)`", SAID[sentence])
    said = set(re.findall(rf"\(({'|'.join(ledger.STATUSES)})\)", SAID[sentence]))
    assert said == {ledger.number(id).status for id in ids if id != "kib"}  # 1,024 is a definition


def test_there_are_thirty_to_forty_questions() -> None:
    assert 30 <= len(ASKED) <= 40
    assert all(question.endswith("?") for question in ASKED)


@each_question
def test_an_answer_is_two_to_four_sentences_and_leads_to_a_section(question: str) -> None:
    answer = ASKED[question]
    ends = re.findall(r"[.?](?=\s|$)", answer.strip())
    assert 2 <= len(ends) <= 4
    assert SECTION.search(answer)
