"""Sphinx extension: the book's search finds a number as it is printed, 20.4 or 15,728, and not its digits apart.

Sphinx splits a text at every point and comma, and its search page passes over what is digits alone.
"""

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

NUMBER = r"\d+(?:[.,]\d+)+"


class EnglishWithNumbers(SearchEnglish):
    """English words, and numbers with a point or commas in them, in the index and, by the same rule, in a question."""

    _word_re = re.compile(rf"{NUMBER}|\w+")
    js_splitter_code = rf"function splitQuery(query) {{ return query.match(/{NUMBER}|[\p{{L}}\p{{N}}_]+/gu) ?? []; }}"


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_search_language(EnglishWithNumbers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
