"""Texts to fill a memory with: openings of English books by word, Tang quatrains by character.

Both lists stand in `data/texts/`, each text with its source; all are in the public domain. One word, or one character,
counts as one token. A model's tokenizer would cut them otherwise.
"""

import json
from importlib import resources

DASH = "—"


class Text:
    """A text of 20 tokens.

    `tokens` are its pieces: joined they are the text. `year` is that of the book's first publication, None for a poem.
    """

    def __init__(self, title: str, author: str, year: int | None, source: str, tokens: list[str]) -> None:
        self.title = title
        self.author = author
        self.year = year
        self.source = source
        self.tokens = tokens

    def __str__(self) -> str:
        return "".join(self.tokens)

    def __repr__(self) -> str:
        return f"Text({self.author}, {self.title}: {str(self)!r})"


def openings() -> list[Text]:
    """The first 20 words of well-known English books, in order of first publication."""
    return [
        Text(row["title"], row["author"], row["year"], row["source"], words(row["text"]))
        for row in _rows("openings.json")
    ]


def quatrains() -> list[Text]:
    """Poems of the Tang dynasty, four lines of five characters each, without punctuation, in traditional script."""
    return [
        Text(row["title"], row["author"], None, row["source"], list(row["text"])) for row in _rows("quatrains.json")
    ]


def words(text: str) -> list[str]:
    """Cut `text` after each space and each dash: every piece is a word with what follows it."""
    pieces = [""]
    for character in text:
        pieces[-1] += character
        if character in (" ", DASH):
            pieces.append("")
    return [piece for piece in pieces if piece]


def _rows(name: str) -> list[dict]:
    return json.loads(resources.files("kvlib.data").joinpath("texts/" + name).read_text(encoding="utf-8"))
