"""What holds of every text that fills the machine in the pages."""

import json
import re
from pathlib import Path

import pytest

from kvlib.texts import Text, openings, quatrains, words

FOLDER = Path(__file__).parents[1] / "data/texts"
EITHER = pytest.mark.parametrize("text", openings() + quatrains(), ids=lambda text: text.title)


@EITHER
def test_a_text_has_twenty_tokens_and_none_is_empty(text: Text) -> None:
    assert len(text.tokens) == 20
    assert all(token.strip() for token in text.tokens)


@EITHER
def test_a_text_has_a_title_an_author_and_a_source(text: Text) -> None:
    assert text.title
    assert text.author
    assert re.fullmatch(r"Project Gutenberg ebook \d+|Quan Tang shi, volume \d+", text.source)


@pytest.mark.parametrize(("name", "texts"), [("openings.json", openings()), ("quatrains.json", quatrains())])
def test_the_tokens_of_each_text_join_to_the_line_in_its_file(name: str, texts: list[Text]) -> None:
    rows = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert [str(text) for text in texts] == [row["text"] for row in rows]


def test_there_are_enough_texts_for_two_dozen_sequences_and_none_comes_twice() -> None:
    for texts in openings(), quatrains():
        assert len(texts) >= 24
        assert len({str(text) for text in texts}) == len(texts)
        assert len({(text.author, text.title) for text in texts}) == len(texts)


def test_openings_come_in_order_of_years_when_copyright_has_ended() -> None:
    years = [text.year for text in openings()]
    assert years == sorted(years)
    assert years[-1] <= 1929


def test_quatrains_are_chinese_characters_only() -> None:
    assert all(re.fullmatch(r"[\u4e00-\u9fff]", token) for text in quatrains() for token in text.tokens)


def test_a_mark_belongs_to_the_word_before_it() -> None:
    assert words("Some years ago—never mind, I") == ["Some ", "years ", "ago—", "never ", "mind, ", "I"]


def test_a_dash_at_the_end_adds_no_empty_token() -> None:
    assert words("so—") == ["so—"]
